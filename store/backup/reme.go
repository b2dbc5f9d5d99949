package backup

import (
	"cmp"
	"time"

	"memoryd"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marks of imported calls.
const (
	// reMeJudge is the judge of imported calls. ReMe does not say which model it used.
	reMeJudge = "llm:reme"
	// reMeJudgeVersion marks verdicts that were imported.
	reMeJudgeVersion = "import:reme"
)

// lenient is how lines of other programs are read.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// reMe reads the tool memories of a ReMe server: lines of its dump, or nodes of its local store.
//
// A call keeps its summary, evaluation and score. It counts as judged, by reMeJudge, if it
// has a summary or an evaluation; otherwise it waits for a judge. A score other than 0, 0.5
// and 1 becomes the nearest of them. What of a call has no place here (an unusual score,
// another tool's name, unknown members) is kept in its metadata under "reme". The guideline
// keeps its author.
//
// Calls get the keys that they would have got if they had been sent, so that a call that was
// imported or sent before is recognised.
type reMe struct {
	zone *time.Location   // of times without one
	now  func() time.Time // the time of calls without one
}

// members are the members of a JSON object; what has been read is taken out.
type members map[string]jsontext.Value

// memory reads a line in either of the two shapes.
func (o reMe) memory(b []byte) (Memory, error) {
	m := members{}
	if err := json.Unmarshal(b, &m, lenient); err != nil {
		return Memory{}, notALine(err)
	}
	if _, named := m["memory_type"]; !named && m["metadata"].Kind() == '{' {
		return o.node(m)
	}
	return o.tool(m)
}

// node reads a vector node: its content is the memory's when_to_use, and all else
// is in its metadata.
func (o reMe) node(m members) (Memory, error) {
	inner := members{}
	if err := json.Unmarshal(m["metadata"], &inner, lenient); err != nil {
		return Memory{}, invalid("metadata: not an object")
	}
	for from, to := range map[string]string{"content": "when_to_use", "workspace_id": "workspace_id"} {
		if v, there := m[from]; there {
			inner[to] = v
		}
	}
	return o.tool(inner)
}

// tool reads a tool memory.
func (o reMe) tool(m members) (Memory, error) {
	if kind, _ := textOf(m["memory_type"]); kind != "tool" {
		return Memory{}, invalid("a memory of type %.40q, not of a tool", kind)
	}
	var out Memory
	t := &out.Tool
	workspace, _ := textOf(m["workspace_id"])
	t.Workspace = cmp.Or(workspace, memoryd.DefaultWorkspace)
	name, ok := textOf(m["when_to_use"])
	if !ok || name == "" {
		return out, invalid("when_to_use: the tool's name is missing")
	}
	t.Tool = name
	list, err := callList(m["tool_call_results"])
	if err != nil {
		return out, err
	}
	calls, through, err := o.calls(t.ToolRef, list)
	if err != nil {
		return out, err
	}
	out.Calls = calls
	o.complete(t, calls, m)
	o.guideline(t, through, m)
	return out, out.check()
}

// callList is the calls, which may be a JSON array within a string.
func callList(v jsontext.Value) ([]jsontext.Value, error) {
	if v.Kind() == '"' {
		s, _ := textOf(v)
		v = jsontext.Value(s)
	}
	var list []jsontext.Value
	if len(v) > 0 {
		if err := json.Unmarshal(v, &list, lenient); err != nil {
			return nil, invalid("tool_call_results: not an array")
		}
	}
	if len(list) == 0 {
		return nil, invalid("tool_call_results: there are none, so there is no tool to record")
	}
	return list, nil
}

// complete fills in what follows from the calls.
func (o reMe) complete(t *memoryd.Tool, calls []memoryd.Call, m members) {
	n := int64(len(calls))
	t.Lifetime, t.Kept, t.Revision = n, len(calls), n
	seen := map[string]bool{}
	for i := range calls {
		if calls[i].Evaluation.State == memoryd.Judged {
			t.Revision++
		} else {
			t.Pending++
		}
		content := memoryd.HashOf(calls[i].Input, calls[i].Output)
		if seen[content] {
			t.Duplicates++
		}
		seen[content] = true
	}
	t.Created = o.timeOf(m["time_created"], calls[0].Time)
	t.Modified = o.timeOf(m["time_modified"], calls[n-1].Time)
}

// guideline takes the text over. One that was written from all calls is up to
// date; another one is not.
func (o reMe) guideline(t *memoryd.Tool, through int64, m members) {
	content, _ := textOf(m["content"])
	if content == "" {
		return
	}
	author, _ := textOf(m["author"])
	t.Guideline = memoryd.Guideline{
		Revision: 1, Content: content, Author: author, BasedOn: through, ThroughSeq: through, Written: t.Modified,
	}
	if through == t.Lifetime {
		t.Guideline.BasedOn = t.Revision
	}
}

// timeOf reads a time that may be missing.
func (o reMe) timeOf(v jsontext.Value, otherwise time.Time) time.Time {
	s, _ := textOf(v)
	if t, err := o.parseTime(s); err == nil {
		return t
	}
	return otherwise
}

func (o reMe) parseTime(s string) (time.Time, error) {
	return memoryd.ParseTime(s, o.zone)
}

// textOf reads a string.
func textOf(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(v, &s, lenient)
	return s, err == nil
}
