package transcripts

import (
	"cmp"
	"encoding/json"
	"strings"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// deepest is how deep runs may hold runs.
const deepest = 100

// export reads what LangSmith, Langfuse and Phoenix export: a span, and those in it.
func (f *file) export(e loosejson.Members, depth int) {
	for _, path := range []string{"child_runs", "observations", "spans", "data", "runs"} {
		for _, inner := range loosejson.Objects(e.At(path)) {
			if depth < deepest {
				f.export(inner, depth+1)
			}
		}
	}
	s := Span{
		Name: e.Text("name"), Trace: e.Text("traceId|trace_id|context.trace_id"), ID: e.Text("context.span_id|id"),
		Begun: loosejson.Time(e.At("startTime|start_time")), Done: loosejson.Time(e.At("endTime|end_time")),
		Message: e.Text("statusMessage|status_message"), Attributes: map[string]jsontext.Value{},
		Failed: strings.EqualFold(e.Text("level|status_code|status"), "error"),
	}
	for _, path := range []string{"attributes", "metadata.attributes"} { // Phoenix has them flat or nested, Langfuse in the metadata
		flatten(s.Attributes, "", e.At(path), 0)
	}
	switch {
	case strings.EqualFold(e.Text("run_type"), "tool"): // LangSmith
		f.run(e, &s)
		return
	case e.Text("span_kind") == "TOOL": // Phoenix
		s.Attributes["openinference.span.kind"] = jsontext.Value(`"TOOL"`)
	case e.Text("type") == "TOOL": // Langfuse
		s.Attributes["langfuse.observation.type"] = jsontext.Value(`"tool"`)
	}
	c, skipped := spanCall(&s)
	if skipped != "" {
		return
	}
	if in := spanInput(e.At("input")); len(in) > 0 {
		c.Input = in
	}
	if r := spanOutput(e.At("output")); r.output != "" {
		end(&c, r)
	}
	c.Source, c.Conversation = f.format, cmp.Or(e.Text("sessionId|session_id"), c.Conversation)
	f.add(c)
}

// run takes a run of LangSmith.
func (f *file) run(e loosejson.Members, s *Span) {
	v, problem := e.At("outputs"), contentText(e.At("error"))
	if s.Done.IsZero() && !loosejson.There(v) && !loosejson.There(e.At("error")) {
		return // it is still under way
	}
	c := accounts.Call{
		Source: f.format, Trace: s.Trace, Span: s.ID, Begun: s.Begun, Done: s.Done, Tool: s.Name,
		Conversation: e.Text("extra.metadata.thread_id|extra.metadata.session_id"), Input: runInput(e.At("inputs")),
	}
	if inner := loosejson.MembersOf(v)["output"]; len(inner) > 0 {
		v = inner
	}
	r := spanOutput(v)
	if m := loosejson.MembersOf(v); m.Text("tool_call_id") != "" {
		r = toolResult(m)
		c.ID = r.id
	}
	if problem != "" || s.Failed {
		r.outcome = accounts.Failed
		if r.output == "" || r.output == "null" {
			r.output = problem
		}
	}
	r.outcome = max(r.outcome, accounts.Claimed)
	end(&c, r)
	identify(&c, nil)
	f.add(c)
}

// runInput takes the arguments out of {"input": "{'a': 1}"}, as older versions of
// LangChain wrote them, where they are JSON.
func runInput(v jsontext.Value) json.RawMessage {
	if members := loosejson.MembersOf(v); len(members) == 1 && loosejson.There(members["input"]) {
		if in := input(members["input"]); jsontext.Value(in).Kind() == '{' {
			return in
		}
	}
	return input(v)
}

// flatten gives the attributes of an export flat, as they were sent.
func flatten(out map[string]jsontext.Value, prefix string, v jsontext.Value, depth int) {
	if depth > 4 {
		return
	}
	for name, m := range loosejson.MembersOf(v) {
		out[prefix+name] = m
		if m.Kind() == '{' {
			flatten(out, prefix+name+".", m, depth+1)
		}
	}
}
