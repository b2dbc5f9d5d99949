package backup

import (
	"memoryd"
	"memoryd/store"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Memory is a tool memory on its way: a tool, its kept calls, oldest first, and
// its records.
type Memory struct {
	// Line is where the memory was read, from 1; 0 where there are no lines.
	Line    int
	Tool    memoryd.Tool
	Calls   []memoryd.Call
	Records []store.Record
}

// move puts the memory into a workspace.
func (m *Memory) move(workspace string) {
	move(m.Calls, workspace)
	m.Tool.Workspace = workspace
	for i := range m.Records {
		m.Records[i].Workspace = workspace
	}
}

// check refuses a memory that a store could not take.
func (m *Memory) check() error {
	if err := checkTool(&m.Tool, m.Calls); err != nil {
		return err
	}
	for i := range m.Records {
		if r := &m.Records[i]; r.ToolRef != m.Tool.ToolRef {
			return invalid("a record of another tool than %q", m.Tool.Tool)
		}
	}
	return store.CheckRecords(m.Records)
}

// maxCount bounds the counters of what is read, so that a store can go on counting.
const maxCount = 1 << 53

// checkTool refuses a tool that a store could not take or that no store has.
func checkTool(t *memoryd.Tool, calls []memoryd.Call) error {
	if err := store.CheckRestore(t, calls); err != nil {
		return within(err, "tool %.200q", t.Tool)
	}
	if t.Lifetime > maxCount || t.Revision > maxCount || t.Guideline.Revision > maxCount || calls[len(calls)-1].Seq > t.Lifetime {
		return invalid("tool %.200q: its counters or the numbers of its calls are too high", t.Tool)
	}
	return nil
}

// decodeMemory reads a line of a dump: one that encodeMemory wrote, or else one of
// ReMe's.
func decodeMemory(b []byte, reme ReMe) (Memory, error) {
	var probe struct {
		Metadata jsontext.Value `json:"metadata"`
	}
	if err := json.Unmarshal(b, &probe, lenient); err != nil {
		return Memory{}, notALine(err)
	}
	var ours struct {
		Memoryd jsontext.Value `json:"memoryd"`
	}
	if probe.Metadata.Kind() != '{' || json.Unmarshal(probe.Metadata, &ours, lenient) != nil || ours.Memoryd == nil {
		return reme.memory(b)
	}
	var version struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(ours.Memoryd, &version) == nil && version.Version > Version {
		return Memory{}, invalid("the line has version %d, this program reads up to %d: use a newer memoryd", version.Version, Version)
	}
	var x exact
	if err := json.Unmarshal(ours.Memoryd, &x, strict); err != nil {
		return Memory{}, notALine(err)
	}
	var w memoryLine
	if err := json.Unmarshal(b, &w, lenient); err != nil {
		return Memory{}, notALine(err)
	}
	return x.memory(&w)
}

// memory puts together what stands in both halves of the line.
func (x *exact) memory(w *memoryLine) (Memory, error) {
	if x.Version < 1 || x.Tool == nil || x.Tool.Workspace != w.WorkspaceID || x.Tool.Tool != w.WhenToUse ||
		len(x.Calls) != len(w.ToolCallResults) || x.Tool.Calls != len(x.Calls) {
		return Memory{}, invalid("the line contradicts its metadata.memoryd")
	}
	if g := x.Tool.Guideline; g != nil && g.Content == nil {
		g.Content = new(text(w.Content))
	}
	m := Memory{Tool: x.Tool.tool()}
	keys := map[key]bool{}
	for i, l := range x.Calls {
		if l == nil || keys[l.Key] {
			return m, invalid("call %d is empty or there twice", i)
		}
		keys[l.Key] = true
		if l.Output == nil {
			l.Output = new(text(w.ToolCallResults[i].Output))
		}
		if l.Input == nil {
			l.Input = new(text(w.ToolCallResults[i].Input))
		}
		m.Calls = append(m.Calls, l.call(m.Tool.ToolRef))
	}
	for i := range x.Records {
		m.Records = append(m.Records, x.Records[i].record())
	}
	return m, m.check()
}
