package backup

import (
	"cmp"
	"math"
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
// A call is read as one that is sent, and keeps its summary, evaluation and score. It counts as
// judged, by reMeJudge, if it has a summary or an evaluation; otherwise it waits for a judge. A score
// other than 0, 0.5 and 1 becomes the nearest of them. The guideline keeps its author.
//
// Calls get the keys that they would have got if they had been sent, so that a call that was
// imported or sent before is recognised.
type reMe struct {
	zone *time.Location   // of times without one
	now  func() time.Time // the time of calls without one
}

// reMeMemory is a memory in either of its shapes.
type reMeMemory struct {
	Workspace string         `json:"workspace_id"`
	Kind      string         `json:"memory_type"`
	WhenToUse string         `json:"when_to_use"`
	Content   string         `json:"content"`
	Author    string         `json:"author"`
	Created   string         `json:"time_created"`
	Modified  string         `json:"time_modified"`
	Calls     jsontext.Value `json:"tool_call_results"`
	Metadata  jsontext.Value `json:"metadata"`
}

// memory reads a line. One without a memory_type is a vector node: its content is the memory's
// when_to_use, and all else is in its metadata.
func (o reMe) memory(b []byte) (Memory, error) {
	var m reMeMemory
	if err := json.Unmarshal(b, &m, lenient); err != nil {
		return Memory{}, notALine(err)
	}
	if m.Kind == "" && m.Metadata.Kind() == '{' {
		node := m
		if err := json.Unmarshal(node.Metadata, &m, lenient); err != nil {
			return Memory{}, notALine(err)
		}
		m.WhenToUse, m.Workspace = node.Content, cmp.Or(node.Workspace, m.Workspace)
	}
	return o.tool(&m)
}

// tool reads a tool memory.
func (o reMe) tool(m *reMeMemory) (Memory, error) {
	if m.Kind != "tool" {
		return Memory{}, invalid("a memory of type %.40q, not of a tool", m.Kind)
	}
	if m.WhenToUse == "" {
		return Memory{}, invalid("when_to_use: the tool's name is missing")
	}
	ref := memoryd.ToolRef{Workspace: cmp.Or(m.Workspace, memoryd.DefaultWorkspace), Tool: m.WhenToUse}
	list, err := callList(m.Calls)
	if err != nil {
		return Memory{}, err
	}
	calls, through, err := o.calls(ref, list)
	if err != nil {
		return Memory{}, err
	}
	out := Memory{Tool: memoryd.Tool{ToolRef: ref}, Calls: calls}
	o.complete(&out.Tool, calls, m)
	o.guideline(&out.Tool, through, m)
	return out, out.check()
}

// callList is the calls, which may be a JSON array within a string.
func callList(v jsontext.Value) ([]jsontext.Value, error) {
	if v.Kind() == '"' {
		v = jsontext.Value(memoryd.Unquote(v))
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

// calls reads the calls of a memory and reports up to which of them, by number,
// the guideline was written. A call that is there twice, with the same time and
// id, is one.
func (o reMe) calls(ref memoryd.ToolRef, list []jsontext.Value) (calls []memoryd.Call, through int64, err error) {
	known := map[memoryd.CallKey]bool{}
	alike := map[string]int{} // calls of equal content without time and id
	for i, v := range list {
		line, err := memoryd.ParseCall(v)
		if err != nil {
			return nil, 0, invalid("tool_call_results: item %d: %s", i, err)
		}
		c := o.call(ref, &line, alike)
		if known[c.Key] {
			continue
		}
		known[c.Key] = true
		c.Seq = int64(len(calls)) + 1
		if line.IsSummarized {
			through = c.Seq
		}
		calls = append(calls, c)
	}
	return calls, through, nil
}

// call makes the call of a line.
func (o reMe) call(ref memoryd.ToolRef, line *memoryd.CallLine, alike map[string]int) memoryd.Call {
	c := line.Call()
	c.ToolRef = ref
	if line.Summary != "" || line.Evaluation != "" {
		c.Evaluation = memoryd.Evaluation{
			State: memoryd.Judged, Score: min(1, max(0, math.Round(2*line.Score)/2)), Summary: line.Summary, Evaluation: line.Evaluation,
			JudgedBy: reMeJudge, JudgeVersion: reMeJudgeVersion,
		}
	}
	id := c.Identity()
	content := memoryd.HashOf(c.Input, c.Output)
	if id.CreateTime == "" && id.ToolCallID == "" {
		alike[content]++
		id.RequestKey, id.Index = reMeJudgeVersion, alike[content]
	}
	c.Key, c.Hash = id.Key(), cmp.Or(c.Hash, content)
	c.Time = o.timeOf(c.CreateTime, o.now())
	c.CreateTime = cmp.Or(c.CreateTime, c.Time.Format(memoryd.TimeLayout))
	return c
}

// complete fills in what follows from the calls.
func (o reMe) complete(t *memoryd.Tool, calls []memoryd.Call, m *reMeMemory) {
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
	t.Created = o.timeOf(m.Created, calls[0].Time)
	t.Modified = o.timeOf(m.Modified, calls[n-1].Time)
}

// guideline takes the text over. One that was written from all calls is up to
// date; another one is not.
func (o reMe) guideline(t *memoryd.Tool, through int64, m *reMeMemory) {
	if m.Content == "" {
		return
	}
	t.Guideline = memoryd.Guideline{
		Revision: 1, Content: m.Content, Author: m.Author, BasedOn: through, ThroughSeq: through, Written: t.Modified,
	}
	if through == t.Lifetime {
		t.Guideline.BasedOn = t.Revision
	}
}

// timeOf reads a time that may be missing.
func (o reMe) timeOf(s string, otherwise time.Time) time.Time {
	if t, err := memoryd.ParseTime(s, o.zone); err == nil {
		return t
	}
	return otherwise
}
