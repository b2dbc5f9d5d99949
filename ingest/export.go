package ingest

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// exported is a span of an export: of Phoenix, Langfuse or LangSmith.
type exported struct {
	ID          str            `json:"id"`
	Name        str            `json:"name"`
	Type        str            `json:"type"`      // Langfuse
	SpanKind    str            `json:"span_kind"` // Phoenix
	RunType     str            `json:"run_type"`  // LangSmith
	TraceID     str            `json:"traceId"`
	TraceOf     str            `json:"trace_id"`
	SessionID   str            `json:"sessionId"`
	SessionOf   str            `json:"session_id"`
	Input       jsontext.Value `json:"input"`
	Output      jsontext.Value `json:"output"`
	Inputs      jsontext.Value `json:"inputs"`
	Outputs     jsontext.Value `json:"outputs"`
	Error       jsontext.Value `json:"error"`
	Level       str            `json:"level"`
	StatusText  str            `json:"statusMessage"`
	Status      str            `json:"status"`
	StatusCode  str            `json:"status_code"`
	StatusWords str            `json:"status_message"`
	Started     jsontext.Value `json:"startTime"`
	Ended       jsontext.Value `json:"endTime"`
	Start       jsontext.Value `json:"start_time"`
	End         jsontext.Value `json:"end_time"`
	Context     object[struct {
		TraceID str `json:"trace_id"`
		SpanID  str `json:"span_id"`
	}] `json:"context"`
	Attributes jsontext.Value `json:"attributes"`
	Metadata   object[struct {
		Attributes jsontext.Value `json:"attributes"`
	}] `json:"metadata"`
	Extra object[struct {
		Metadata object[struct {
			Thread  str `json:"thread_id"`
			Session str `json:"session_id"`
		}] `json:"metadata"`
	}] `json:"extra"`
	Children     listOf[object[exported]] `json:"child_runs"`
	Observations listOf[object[exported]] `json:"observations"`
	Spans        listOf[object[exported]] `json:"spans"`
	Data         listOf[object[exported]] `json:"data"`
	Runs         listOf[object[exported]] `json:"runs"`
}

// exports reads what LangSmith, Langfuse and Phoenix export.
func (f *file) exports(e *exported, _ []byte) { f.export(e, 0) }

// deepest is how deep runs may hold runs.
const deepest = 100

func (f *file) export(e *exported, depth int) {
	for _, l := range [][]object[exported]{e.Children, e.Observations, e.Spans, e.Data, e.Runs} {
		for i := range l {
			if depth < deepest {
				f.export(&l[i].is, depth+1)
			}
		}
	}
	s := Span{
		Name: string(e.Name), Trace: string(e.TraceID + e.TraceOf + e.Context.is.TraceID), ID: string(cmp.Or(e.Context.is.SpanID, e.ID)),
		Begun: when(e.Started), Done: when(e.Ended), Message: string(e.StatusText + e.StatusWords), Attributes: e.attributes(),
		Failed: e.Level == "ERROR" || e.StatusCode == "ERROR" || e.Status == "error",
	}
	if s.Begun.IsZero() {
		s.Begun, s.Done = when(e.Start), when(e.End)
	}
	switch {
	case strings.EqualFold(string(e.RunType), "tool"):
		f.run(e, &s)
		return
	case e.SpanKind == "TOOL":
		s.Attributes["openinference.span.kind"] = jsontext.Value(`"TOOL"`)
	case e.Type == "TOOL":
		s.Attributes["langfuse.observation.type"] = jsontext.Value(`"tool"`)
	}
	c, skipped := SpanCall(&s)
	if skipped != "" {
		return
	}
	if in := spanInput(e.Input); len(in) > 0 {
		c.Input = in
	}
	if r := spanOutput(e.Output); there(e.Output) && r.output != "" {
		c.end(r)
	}
	c.Source, c.Conversation = f.format, cmp.Or(string(e.SessionID+e.SessionOf), c.Conversation)
	f.add(c)
}

// run takes a run of LangSmith.
func (f *file) run(e *exported, s *Span) {
	if s.Done.IsZero() && !there(e.Outputs) && !there(e.Error) {
		return // it is still under way
	}
	of := e.Extra.is.Metadata.is
	c := Call{
		Source: f.format, Trace: s.Trace, Span: s.ID, Begun: s.Begun, Done: s.Done, Tool: s.Name, Conversation: string(cmp.Or(of.Thread, of.Session)),
		Input: runInput(e.Inputs),
	}
	var out struct {
		Output jsontext.Value `json:"output"`
	}
	v := e.Outputs
	if v.Kind() == '{' && decode(v, &out) == nil && len(out.Output) > 0 {
		v = out.Output
	}
	r := spanOutput(v)
	var m toolMessage
	if v.Kind() == '{' && decode(v, &m) == nil && m.ID != "" {
		r = m.result()
		c.ID = r.id
	}
	if problem := contentText(e.Error); problem != "" || s.Failed {
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
	members := map[string]jsontext.Value{}
	if v.Kind() == '{' && decode(v, &members) == nil && len(members) == 1 && there(members["input"]) {
		if in := input(members["input"]); len(in) > 0 && in[0] == '{' {
			return in
		}
	}
	return input(v)
}

// attributes gives those of an export flat, as they were sent: Phoenix has them
// flat or nested, Langfuse keeps them in the metadata.
func (e *exported) attributes() map[string]jsontext.Value {
	out := map[string]jsontext.Value{}
	flatten(out, "", e.Attributes, 0)
	flatten(out, "", e.Metadata.is.Attributes, 0)
	return out
}

func flatten(out map[string]jsontext.Value, prefix string, v jsontext.Value, depth int) {
	members := map[string]jsontext.Value{}
	if v.Kind() != '{' || depth > 4 || decode(v, &members) != nil {
		return
	}
	for name, m := range members {
		out[prefix+name] = m
		if m.Kind() == '{' {
			flatten(out, prefix+name+".", m, depth+1)
		}
	}
}
