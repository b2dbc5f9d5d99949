package backup

import (
	"time"

	"memoryd"
	"memoryd/store"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tool reads a tool memory.
func (o ReMe) tool(m members) (Memory, error) {
	if kind, _ := textOf(m["memory_type"]); kind != "tool" {
		return Memory{}, invalid("a memory of type %.40q, not of a tool", kind)
	}
	var out Memory
	t := &out.Tool
	t.Workspace, _ = textOf(m["workspace_id"])
	switch {
	case o.Workspace != "":
		t.Workspace = o.Workspace
	case t.Workspace == "":
		t.Workspace = memoryd.DefaultWorkspace
	}
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
	delete(m, "tool_call_results")
	rest, err := json.Marshal(m, json.Deterministic(true), lenient)
	if err != nil {
		return out, err
	}
	id, _ := textOf(m["memory_id"])
	if id == "" {
		id = t.MemoryID()
	}
	out.Records = []store.Record{{RecordKey: store.RecordKey{ToolRef: t.ToolRef, Kind: RecordKind, ID: id}, Data: rest}}
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
func (o ReMe) complete(t *memoryd.Tool, calls []memoryd.Call, m members) {
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
func (o ReMe) guideline(t *memoryd.Tool, through int64, m members) {
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
func (o ReMe) timeOf(v jsontext.Value, otherwise time.Time) time.Time {
	s, _ := textOf(v)
	if t, err := o.parseTime(s); err == nil {
		return t
	}
	return otherwise
}

func (o ReMe) parseTime(s string) (time.Time, error) {
	zone := o.Location
	if zone == nil {
		zone = time.Local
	}
	return memoryd.ParseTime(s, zone)
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
