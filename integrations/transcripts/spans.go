package transcripts

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// Span is a span or a log record, from any source, with what spanCall needs to recognise a
// tool call.
type Span struct {
	Name string
	// Served reports that the span is the server's, for a call that its caller's span (the
	// parent) reports too.
	Served     bool
	Trace, ID  string
	Parent     string // the id of the parent span
	Begun      time.Time
	Done       time.Time
	Failed     bool   // the status is an error
	Message    string // of the status, or of the exception
	Attributes map[string]jsontext.Value
}

// dialect is how one family of instrumentations says what a tool call is. Of the names
// of attributes, with blanks between them, the first that is there counts.
type dialect struct {
	Name string
	// Is are the signs of a tool call, as those of formats: see table.
	Is                                                    string
	Tool, Input, Output, ID, Conversation, Agent, Failure string
	// Brief dialects tell no output but of failures.
	Brief bool
}

//go:embed dialects.json
var dialectTable []byte

// dialects are tried in order: one span may carry several.
var dialects = sync.OnceValue(func() (all []dialect) {
	_ = json.Unmarshal(dialectTable, &all) // it is embedded, and tested
	return all
})

// attributes are those of a span.
type attributes map[string]jsontext.Value

func (a attributes) Text(name string) string { return loosejson.Text(a[name]) }

// first is the first of the attributes that is there.
func (a attributes) first(names string) jsontext.Value {
	for n := range strings.FieldsSeq(names) {
		if v := a[n]; loosejson.There(v) && string(v) != `""` {
			return v
		}
	}
	return nil
}

// spanName finds the tool in the name of a span.
var spanName = regexp.MustCompile(`^(?:execute_tool|tools/call|running tool:?) +(.+)$`)

// internalTools are steps of frameworks that only look like tools.
var internalTools = map[string]bool{"final_answer": true, "FinalAnswerTool": true}

// Reasons why a span or a log record holds no call.
const (
	// noCall: it is about something else.
	noCall = "no_call"
	// serverSide: the caller's span reports the call better.
	serverSide = "server_side"
	// notATool: a step of a framework that looks like a tool.
	notATool = "not_a_tool"
	// inLogs: the host's log records report the call; this span only shows that it happened.
	inLogs = "in_logs"
	// nameless: nothing names the tool.
	nameless = "no_tool"
)

// spanCall returns the tool call that a span reports; skipped is the reason if there is none.
// The call's Source is "otlp:" and the dialect; readers of exports replace it.
func spanCall(s *Span) (c accounts.Call, skipped string) {
	a := attributes(s.Attributes)
	all, is := dialects(), shape{members: s.Attributes}
	for i := range all {
		d := &all[i]
		if !is.shows(d.Is) {
			continue
		}
		if s.Served {
			return c, serverSide
		}
		if !loosejson.There(a.first(d.Input)) && a.Text("gen_ai.operation.name") == "tool_call" { // Gemini CLI
			return c, inLogs
		}
		c = accounts.Call{
			Source: "otlp:" + d.Name, Trace: s.Trace, Span: s.ID, Parent: s.Parent, Truncated: d.Brief, Begun: s.Begun, Done: s.Done,
			Tool: loosejson.Text(a.first(d.Tool)), ID: spanText(a.first(d.ID)),
			Conversation: loosejson.Text(a.first(d.Conversation)), Agent: loosejson.Text(a.first(d.Agent)),
		}
		if m := spanName.FindStringSubmatch(s.Name); c.Tool == "" && m != nil {
			c.Tool = m[1]
		}
		c.Tool, c.Input = inNamespace(a.Text("tool_namespace"), cmp.Or(c.Tool, s.Name)), spanInput(a.first(d.Input))
		if d.Name == "claude-code" {
			fromParameters(&c, a["tool_parameters"])
		}
		r := s.result(a, d)
		end(&c, r)
		tells := slices.ContainsFunc(strings.Fields(d.Output), func(name string) bool { return len(a[name]) > 0 }) // be it empty
		c.Truncated = c.Truncated || c.Output == "" && !tells                                                      // content is opt-in
		c.ID = cmp.Or(c.ID, r.id)
		identify(&c, a)
		switch {
		case !c.Named():
			return c, nameless
		case internalTools[c.Tool]:
			return c, notATool
		}
		return c, ""
	}
	return c, noCall
}

// fromParameters reads what Claude Code tells of a call beside its arguments, some under
// names of its own: the command of its shell, and which tool of MCP it was.
func fromParameters(c *accounts.Call, v jsontext.Value) {
	p := loosejson.MembersOf(jsontext.Value(input(v)))
	if server, tool := p.Text("mcp_server_name"), p.Text("mcp_tool_name"); c.Tool == "mcp_tool" && server != "" && tool != "" {
		c.Tool = "mcp__" + server + "__" + tool
	}
	if command := p["full_command"]; len(c.Input) == 0 && command.Kind() == '"' {
		c.Input = json.RawMessage(objectOf("command", command))
	}
}

// plannedCall is an attribute of OpenInference's spans of models: a member of a call that
// the model asked for.
var plannedCall = regexp.MustCompile(`^(llm\.output_messages\.\d+\.message\.tool_calls\.\d+\.tool_call\.)id$`)

// planned returns the calls that a model asked for in a span, by id and with their arguments.
// If a call has a single text argument, the tool's span holds only its value.
func planned(s *Span) (calls []accounts.Call) {
	a := attributes(s.Attributes)
	if a.Text("openinference.span.kind") != "LLM" {
		return nil
	}
	for name := range a {
		m := plannedCall.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		c := accounts.Call{
			ID: a.Text(name), Tool: a.Text(m[1] + "function.name"), Input: input(a[m[1]+"function.arguments"]), Trace: s.Trace,
			Conversation: a.Text("session.id"),
		}
		identify(&c, a)
		calls = append(calls, c)
	}
	return calls
}

// identify makes a span without a call id one call for ever: by its own id.
func identify(c *accounts.Call, a attributes) {
	if c.Conversation == "" {
		c.Conversation = c.Trace
	}
	if c.ID == "" && c.Span != "" {
		c.ID = accounts.SpanID + c.Span
	}
	if ms, ok := loosejson.NumberOf(a["duration_ms"]); ok {
		c.Duration = loosejson.Seconds(ms / 1e3)
	} else if c.Duration == 0 && !c.Begun.IsZero() && c.Done.After(c.Begun) {
		c.Duration = c.Done.Sub(c.Begun) // a span is measured
	}
	if c.Begun.IsZero() && !c.Done.IsZero() {
		c.Begun = c.Done.Add(-c.Duration)
	}
	cut, _ := loosejson.Truth(a["output_truncated"])
	c.Truncated = c.Truncated || cut
}

// result is how a span ended.
func (s *Span) result(a attributes, d *dialect) result {
	r := spanOutput(a.first(d.Output))
	if d.Name == "codex" {
		r = unwrapCodex(r.output)
	}
	if ok, known := loosejson.Truth(a["success"]); known && !ok {
		r.outcome = accounts.Failed
	} else if known {
		r.outcome = max(r.outcome, accounts.Claimed)
	}
	if e := a.Text("decision"); e == "reject" || e == "decline" {
		r.outcome = accounts.Cancelled
	}
	if f := loosejson.Text(a.first(d.Failure)); f != "" {
		r.outcome, r.errorType = max(r.outcome, accounts.Failed), f
	}
	if s.Failed || len(a["pydantic_ai.tool.retry.cause"]) > 0 || a.Text("langfuse.observation.level") == "ERROR" {
		r.outcome = max(r.outcome, accounts.Failed)
	}
	if r.outcome == accounts.Failed && r.output == "" {
		r.output = cmp.Or(s.Message, a.Text("langfuse.observation.status_message"))
	}
	r.outcome = max(r.outcome, accounts.Claimed)
	return r
}

// spanText is a text, or the last of several (some exporters send a call's id and
// the model's).
func spanText(v jsontext.Value) string {
	if many := loosejson.Elements(v); len(many) > 0 {
		return loosejson.TextOf(many[len(many)-1])
	}
	return loosejson.Text(v)
}

// spanInput takes the arguments out of what instrumentations put around them.
func spanInput(v jsontext.Value) json.RawMessage {
	in := input(v)
	if len(in) == 0 || in[0] != '{' {
		return in
	}
	w := loosejson.MembersOf(jsontext.Value(in))
	inputs, args, kwargs := w.At("inputs"), w.At("args"), w.At("kwargs")
	switch {
	case len(w["input_str"]) > 0 && inputs.Kind() == '{': // OpenLLMetry's LangChain
		return input(inputs)
	case args.Kind() == '[' && kwargs.Kind() == '{': // smolagents, Langfuse
		return positional(loosejson.Elements(args), loosejson.MembersOf(kwargs))
	}
	return in
}

// positional joins arguments without names to those with one: an only one is the input, of
// several the places are the names.
func positional(args []jsontext.Value, all loosejson.Members) json.RawMessage {
	if len(args) == 1 && len(all) == 0 {
		return input(args[0])
	}
	for i, v := range args {
		all[strconv.Itoa(i)] = v
	}
	in, _ := json.Marshal(all) // it was decoded just now
	return in
}

// toolResult reads a message of LangChain that holds a tool's result.
func toolResult(m loosejson.Members) result {
	r := result{output: contentText(m.At("content")), id: m.Text("tool_call_id")}
	if m.Text("status") == "error" {
		r.outcome = accounts.Failed
	}
	return r
}

// spanOutput takes the result out of what instrumentations put around it.
func spanOutput(v jsontext.Value) result {
	s := contentText(v)
	inner := jsontext.Value(strings.TrimSpace(s))
	if inner.Kind() == '"' && inner.IsValid(lax...) { // the AI SDK writes every result as JSON
		return result{output: loosejson.Text(inner)}
	}
	if inner.Kind() != '{' || !inner.IsValid(lax...) {
		return result{output: s}
	}
	w := loosejson.MembersOf(inner)
	data, kwargs := loosejson.MembersOf(w.At("data")), loosejson.MembersOf(w.At("output.kwargs"))
	switch ofTool := w.Text("type") == "tool"; {
	case ofTool && len(data["content"]) > 0:
		return toolResult(data)
	case len(kwargs["content"]) > 0:
		return toolResult(kwargs)
	case ofTool && len(w["content"]) > 0:
		return toolResult(w)
	case w["content"].Kind() == '[' && len(w["isError"]) > 0:
		return mcpOutput(inner)
	}
	return result{output: s}
}

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
