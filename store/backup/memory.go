package backup

import (
	"bytes"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/stats"
	"memoryd/store"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Memory is a tool memory in transit: a tool, its stored calls, oldest first, and its records.
type Memory struct {
	// Line is the line of the memory in its file, from 1; 0 if it did not come from a file.
	Line    int
	Tool    memoryd.Tool
	Calls   []memoryd.Call
	Records []store.Record
}

// at puts the line that an error is about before it.
func (m *Memory) at(err error) error {
	if err == nil || m.Line == 0 {
		return err
	}
	return within(err, "line %d", m.Line)
}

// relocate puts the memory into a workspace.
func (m *Memory) relocate(workspace string) {
	relocate(m.Calls, workspace)
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
func decodeMemory(b []byte, reme reMe) (Memory, error) {
	var probe struct {
		Metadata struct {
			Memoryd jsontext.Value `json:"memoryd"`
		} `json:"metadata"`
	}
	if json.Unmarshal(b, &probe, lenient) != nil || probe.Metadata.Memoryd == nil {
		return reme.memory(b)
	}
	ours := probe.Metadata
	var version struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(ours.Memoryd, &version) == nil && version.Version > formatVersion {
		return Memory{}, invalid("the line has version %d, this program reads up to %d: use a newer memoryd", version.Version, formatVersion)
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
		len(x.Calls) != len(w.ToolCallResults) || x.Tool.Kept != len(x.Calls) {
		return Memory{}, invalid("the line contradicts its metadata.memoryd")
	}
	m := Memory{Tool: *x.Tool, Records: x.Records}
	if g := &m.Tool.Guideline; g.Revision > 0 && g.Content == "" {
		g.Content = w.Content
	}
	keys := map[memoryd.CallKey]bool{}
	for i, c := range x.Calls {
		if c == nil || keys[c.Key] {
			return m, invalid("call %d is empty or there twice", i)
		}
		keys[c.Key] = true
		if c.Output == "" {
			c.Output = w.ToolCallResults[i].Output
		}
		if c.Input == nil {
			c.Input = []byte(w.ToolCallResults[i].Input)
		}
		c.ToolRef = m.Tool.ToolRef
		tidy(c)
		m.Calls = append(m.Calls, *c)
	}
	return m, m.check()
}

// memoryLine is a line of a dump: a tool memory as the HTTP answers show it, so
// that other programs can read it, and in metadata.memoryd what they do not show.
type memoryLine struct {
	WorkspaceID     string             `json:"workspace_id"`
	MemoryID        string             `json:"memory_id"`
	MemoryType      string             `json:"memory_type"`
	WhenToUse       string             `json:"when_to_use"`
	Content         string             `json:"content"`
	Score           float64            `json:"score"`
	TimeCreated     string             `json:"time_created"`
	TimeModified    string             `json:"time_modified"`
	Author          string             `json:"author"`
	ToolCallResults []memoryd.CallJSON `json:"tool_call_results"`
	Metadata        struct {
		Statistics        jsontext.Value `json:"statistics,omitzero"`
		GuidelineRevision int64          `json:"guideline_revision"`
		Memoryd           jsontext.Value `json:"memoryd"`
	} `json:"metadata"`
}

// exact is the memory as an export has it. What the line says anyway (the
// guideline's text, and the input and output of a call where they survive JSON)
// is left out and taken from there.
type exact struct {
	Version int             `json:"version"`
	Tool    *memoryd.Tool   `json:"tool"`
	Calls   []*memoryd.Call `json:"calls"`
	Records []store.Record  `json:"records,omitempty"`
}

// encodeMemory makes the line of a tool, with its end.
func encodeMemory(of *Memory, recent int) ([]byte, error) {
	t, calls := of.Tool, of.Calls
	samples := make([]memoryd.Sample, len(calls))
	x := &exact{Version: formatVersion, Tool: &of.Tool, Records: of.Records}
	g := &t.Guideline
	if utf8.ValidString(g.Content) {
		x.Tool.Guideline.Content = ""
	}
	m := memoryLine{
		WorkspaceID: t.Workspace, MemoryID: t.MemoryID(), MemoryType: "tool", WhenToUse: t.Tool, Content: g.Content,
		TimeCreated: memoryd.TimeText(t.Created), TimeModified: memoryd.TimeText(t.Modified), Author: g.Author,
	}
	m.Metadata.GuidelineRevision = g.Revision
	for i := range calls {
		samples[i] = calls[i].Sample()
		m.ToolCallResults = append(m.ToolCallResults, shownCall(&calls[i], g.ThroughSeq))
		x.Calls = append(x.Calls, &calls[i])
	}
	figures := stats.Of(samples, recent, t.Counters)
	if b, err := json.Marshal(figures); err == nil { // infinite figures are not shown
		m.Score, m.Metadata.Statistics = figures.AvgScore, b
	}
	var err error
	if m.Metadata.Memoryd, err = json.Marshal(x, exactly); err != nil {
		return nil, err
	}
	b, err := json.Marshal(m, lenient, jsontext.PreserveRawStrings(true), json.Deterministic(true))
	return append(b, '\n'), err
}

// shownCall shows a call and drops from it what it shows completely.
func shownCall(c *memoryd.Call, summarisedThrough int64) memoryd.CallJSON {
	shown := memoryd.JSONOf(c, summarisedThrough)
	if utf8.ValidString(c.Output) {
		c.Output = ""
	}
	input := jsontext.Value(bytes.Clone(c.Input))
	switch {
	case len(c.Input) == 0:
		c.Input = []byte{} // beside nil, which stands for what is shown
	case input.Compact() != nil || !input.IsValid():
		shown.Input, _ = jsontext.AppendQuote(nil, c.Input) // no JSON that a line could carry; U+FFFD for what is no UTF-8
	default:
		shown.Input = input
		if bytes.Equal(input, c.Input) {
			c.Input = nil
		}
	}
	return shown
}
