package ingest

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// deepest is how deep runs may hold runs.
const deepest = 100

// export reads what LangSmith, Langfuse and Phoenix export: a span, and those in it.
func (f *file) export(e object, depth int) {
	for _, path := range []string{"child_runs", "observations", "spans", "data", "runs"} {
		for _, inner := range objects(e.at(path)) {
			if depth < deepest {
				f.export(inner, depth+1)
			}
		}
	}
	s := Span{
		Name: e.text("name"), Trace: e.text("traceId|trace_id|context.trace_id"), ID: e.text("context.span_id|id"),
		Begun: when(e.at("startTime|start_time")), Done: when(e.at("endTime|end_time")),
		Message: e.text("statusMessage|status_message"), Attributes: map[string]jsontext.Value{},
		Failed: e.text("level") == "ERROR" || e.text("status_code") == "ERROR" || e.text("status") == "error",
	}
	for _, path := range []string{"attributes", "metadata.attributes"} { // Phoenix has them flat or nested, Langfuse in the metadata
		flatten(s.Attributes, "", e.at(path), 0)
	}
	switch {
	case strings.EqualFold(e.text("run_type"), "tool"): // LangSmith
		f.run(e, &s)
		return
	case e.text("span_kind") == "TOOL": // Phoenix
		s.Attributes["openinference.span.kind"] = jsontext.Value(`"TOOL"`)
	case e.text("type") == "TOOL": // Langfuse
		s.Attributes["langfuse.observation.type"] = jsontext.Value(`"tool"`)
	}
	c, skipped := SpanCall(&s)
	if skipped != "" {
		return
	}
	if in := spanInput(e.at("input")); len(in) > 0 {
		c.Input = in
	}
	if r := spanOutput(e.at("output")); r.output != "" {
		c.end(r)
	}
	c.Source, c.Conversation = f.format, cmp.Or(e.text("sessionId|session_id"), c.Conversation)
	f.add(c)
}

// run takes a run of LangSmith.
func (f *file) run(e object, s *Span) {
	v, problem := e.at("outputs"), contentText(e.at("error"))
	if s.Done.IsZero() && !there(v) && !there(e.at("error")) {
		return // it is still under way
	}
	c := Call{
		Source: f.format, Trace: s.Trace, Span: s.ID, Begun: s.Begun, Done: s.Done, Tool: s.Name,
		Conversation: e.text("extra.metadata.thread_id|extra.metadata.session_id"), Input: runInput(e.at("inputs")),
	}
	if inner := objectIn(v)["output"]; len(inner) > 0 {
		v = inner
	}
	r := spanOutput(v)
	if m := objectIn(v); m.text("tool_call_id") != "" {
		r = toolResult(m)
		c.ID = r.id
	}
	if problem != "" || s.Failed {
		r.outcome = Failed
		if r.output == "" || r.output == "null" {
			r.output = problem
		}
	}
	r.outcome = max(r.outcome, Claimed)
	c.end(r)
	c.identify(nil)
	f.add(c)
}

// runInput takes the arguments out of {"input": "{'a': 1}"}, as older versions of
// LangChain wrote them, where they are JSON.
func runInput(v jsontext.Value) json.RawMessage {
	if members := objectIn(v); len(members) == 1 && there(members["input"]) {
		if in := input(members["input"]); len(in) > 0 && in[0] == '{' {
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
	for name, m := range objectIn(v) {
		out[prefix+name] = m
		if m.Kind() == '{' {
			flatten(out, prefix+name+".", m, depth+1)
		}
	}
}
