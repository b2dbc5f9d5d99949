package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memoryd"

	"github.com/go-json-experiment/json/jsontext"
)

// Moment is what a hook of a host is called at.
type Moment string

// The moments. Hooks of other moments are answered with nothing.
const (
	BeforeCall Moment = "before"
	AfterCall  Moment = "after"
	// Forgets: the host forgets, or has just forgotten, what it was told.
	Forgets Moment = "forgets"
	// Ends: a turn or the session is over, and its transcript is complete.
	Ends Moment = "ends"
)

// Hook is what a host told a hook.
type Hook struct {
	Host string
	// Event is the host's own name of the moment.
	Event  string
	Moment Moment
	// Call is the call that is planned, or that was made.
	Call Call
	// Transcript is the path of the session's transcript on the host's machine; "" if
	// there is none.
	Transcript string
	// Elsewhere says that the transcript tells of the call, with an id that the hook
	// is not given: it is recorded from there.
	Elsewhere bool
}

// hookHost is how a host speaks to hooks.
type hookHost struct {
	// Moments by the host's names of events, in lower case.
	moments map[string]Moment
	// before and after say whether what is answered then reaches the model.
	before, after bool
	// noIDs says that hooks are not told the ids that the transcript has.
	noIDs bool
	// call makes of a planned call, or one that was made, what the transcript has.
	call   func(c *Call)
	result func(b *hookBody, c *Call)
	answer func(h *Hook, context, deny string) any
}

// claudeMoments are the events of Claude Code, which others took over.
var claudeMoments = map[string]Moment{
	"pretooluse": BeforeCall, "posttooluse": AfterCall, "posttoolusefailure": AfterCall, "precompact": Forgets, "postcompact": Forgets,
	"stop": Ends, "subagentstop": Ends, "sessionend": Ends,
}

var hookHosts = map[string]hookHost{
	"claude-code": {moments: claudeMoments, before: true, after: true, result: claudeHookResult, answer: claudeAnswer},
	"codex":       {moments: claudeMoments, before: true, after: true, call: codexHookCall, result: codexHookResult, answer: claudeAnswer},
	"copilot":     {moments: claudeMoments, after: true, result: copilotHookResult, answer: claudeAnswer},
	"gemini": { // its PreCompress comes before each request to the model, and is no forgetting
		moments: map[string]Moment{"beforetool": BeforeCall, "aftertool": AfterCall, "sessionend": Ends},
		after:   true, noIDs: true, result: geminiHookResult, answer: geminiAnswer,
	},
	"cursor": {moments: claudeMoments, after: true, result: cursorHookResult, answer: cursorAnswer},
}

// HookHosts lists the hosts whose hooks are understood.
func HookHosts() []string {
	return slices.Sorted(maps.Keys(hookHosts))
}

// hookBody has the members of all hosts: each calls them differently.
type hookBody struct {
	Event          str            `json:"hook_event_name"`
	Source         str            `json:"source"`
	SessionID      str            `json:"session_id"`
	SessionCamel   str            `json:"sessionId"`
	ConversationID str            `json:"conversation_id"`
	AgentID        str            `json:"agent_id"`
	Transcript     str            `json:"transcript_path"`
	Tool           str            `json:"tool_name"`
	ToolCamel      str            `json:"toolName"`
	Input          jsontext.Value `json:"tool_input"`
	InputCamel     jsontext.Value `json:"toolArgs"`
	UseID          str            `json:"tool_use_id"`
	Response       jsontext.Value `json:"tool_response"`
	Output         jsontext.Value `json:"tool_output"`
	ResultCamel    jsontext.Value `json:"toolResult"`
	Error          jsontext.Value `json:"error"`
	ErrorMessage   str            `json:"error_message"`
	FailureType    str            `json:"failure_type"`
	Interrupted    bool           `json:"is_interrupt"`
	DurationMS     jsontext.Value `json:"duration_ms"`
	Duration       jsontext.Value `json:"duration"`
}

// ReadHook reads what a host gave a hook at a time. An error names what is wrong
// with it.
func ReadHook(host string, body []byte, now time.Time) (*Hook, error) {
	speaks, ok := hookHosts[host]
	if !ok {
		return nil, memoryd.Errorf(memoryd.NotFound, "there is no host %q; there are %s", host, strings.Join(HookHosts(), ", "))
	}
	var b hookBody
	if err := decode(body, &b); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the body is not what a hook is given: a JSON object")
	}
	h := &Hook{Host: host, Event: string(b.Event), Transcript: string(b.Transcript)}
	h.Moment = speaks.moments[strings.ToLower(h.Event)]
	if h.Event == "" && b.ToolCamel != "" { // Copilot's older form names no event
		h.Moment, h.Event = BeforeCall, "PreToolUse"
		if there(b.ResultCamel) || there(b.Error) {
			h.Moment, h.Event = AfterCall, "PostToolUse"
		}
	}
	if strings.EqualFold(h.Event, "sessionstart") && (b.Source == "compact" || b.Source == "clear") {
		h.Moment = Forgets
	}
	c := Call{
		Source: "hook:" + host, Conversation: string(cmp.Or(b.SessionID+b.SessionCamel, b.ConversationID)), ID: string(b.UseID), Agent: string(b.AgentID),
		Tool: string(b.Tool + b.ToolCamel), Input: input(b.Input), Begun: now,
	}
	if len(c.Input) == 0 {
		c.Input = input(b.InputCamel)
	}
	if (h.Moment == BeforeCall || h.Moment == AfterCall) && c.Tool == "" {
		return nil, memoryd.Errorf(memoryd.Invalid, "tool_name: missing")
	}
	if speaks.call != nil {
		speaks.call(&c)
	}
	if h.Moment == AfterCall {
		c.Done, c.Ended = now, true
		for _, ms := range []jsontext.Value{b.DurationMS, b.Duration} {
			if n, ok := number(ms); ok && c.Duration == 0 {
				c.Duration = seconds(n / 1e3)
			}
		}
		c.Begun = now.Add(-c.Duration)
		speaks.result(&b, &c)
		h.Elsewhere = speaks.noIDs && h.Transcript != ""
	}
	h.Call = c
	return h, nil
}

// Reaches reports whether what is answered to this hook is shown to the model.
func (h *Hook) Reaches() bool {
	s := hookHosts[h.Host]
	return h.Moment == BeforeCall && s.before || h.Moment == AfterCall && s.after
}

// Answer is what the host reads: context that it adds for the model, or a reason for
// which the planned call is not made; "" are none. nil is nothing to say.
func (h *Hook) Answer(context, deny string) []byte {
	if deny != "" && h.Moment != BeforeCall {
		deny = ""
	}
	if !h.Reaches() {
		context = ""
	}
	if context == "" && deny == "" {
		return nil
	}
	b, err := json.Marshal(hookHosts[h.Host].answer(h, context, deny))
	if err != nil { // texts: it cannot fail
		return nil
	}
	return b
}

func claudeAnswer(h *Hook, context, deny string) any {
	out := map[string]any{"hookEventName": h.Event}
	if context != "" {
		out["additionalContext"] = context
	}
	if deny != "" {
		out["permissionDecision"], out["permissionDecisionReason"] = "deny", deny
	}
	return map[string]any{"hookSpecificOutput": out}
}

func geminiAnswer(h *Hook, context, deny string) any {
	if deny != "" {
		return map[string]any{"decision": "deny", "reason": deny}
	}
	return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": h.Event, "additionalContext": context}}
}

func cursorAnswer(_ *Hook, context, deny string) any {
	if deny != "" {
		return map[string]any{"permission": "deny", "agent_message": deny, "user_message": deny}
	}
	return map[string]any{"additional_context": context}
}

// claudeHookResult reads a result of Claude Code: the tool's own object, or the text
// of a failure.
func claudeHookResult(b *hookBody, c *Call) {
	if there(b.Error) || b.Interrupted {
		c.end(unwrapClaude(errorText(b.Error), true))
		if b.Interrupted {
			c.Outcome = Cancelled
		}
		return
	}
	c.end(result{output: shellText(b.Response), outcome: Succeeded})
	c.claudeResult(b.Response)
}

// shellText joins what a command wrote to both its streams; any other result is its
// text.
func shellText(v jsontext.Value) string {
	var shell struct {
		Stdout *string `json:"stdout"`
		Stderr string  `json:"stderr"`
	}
	if v.Kind() == '{' && decode(v, &shell) == nil && shell.Stdout != nil {
		return strings.Trim(strings.TrimRight(*shell.Stdout, "\n")+"\n"+shell.Stderr, "\n")
	}
	return contentText(v)
}

// errorText is a message, or that of an object.
func errorText(v jsontext.Value) string {
	var e struct {
		Message str `json:"message"`
		Type    str `json:"type"`
	}
	if v.Kind() == '{' && decode(v, &e) == nil && e.Message+e.Type != "" {
		return strings.Trim(fmt.Sprintf("%s: %s", e.Type, e.Message), ": ")
	}
	return text(v)
}

// codexHookCall undoes a translation: Codex tells hooks of its shell as if it were that
// of Claude Code, its model and its transcript know it by another name.
func codexHookCall(c *Call) {
	var shell struct {
		Command jsontext.Value `json:"command"`
	}
	if c.Tool == "Bash" && decode(c.Input, &shell) == nil && shell.Command.Kind() == '"' {
		c.Tool, c.Input = "exec_command", []byte(`{"cmd":`+string(shell.Command)+`}`)
	}
}

// codexHookResult reads a result of Codex: the text that the model sees, without an
// exit code, or a result of MCP.
func codexHookResult(b *hookBody, c *Call) {
	if b.Response.Kind() == '{' {
		c.end(mcpOutput(b.Response))
		return
	}
	c.end(unwrapCodex(contentText(b.Response)))
	c.Outcome = max(c.Outcome, Claimed)
}

func geminiHookResult(b *hookBody, c *Call) {
	var r struct {
		Content jsontext.Value `json:"llmContent"`
		Error   jsontext.Value `json:"error"`
	}
	if b.Response.Kind() != '{' || decode(b.Response, &r) != nil {
		c.end(result{output: contentText(b.Response), outcome: Claimed})
		return
	}
	c.end(unwrapGemini(contentText(r.Content)))
	c.Outcome = max(c.Outcome, Claimed)
	if there(r.Error) {
		c.Outcome = Failed
		if c.Output == "" {
			c.Output = errorText(r.Error)
		}
	}
}

// cursorHookResult reads a result of Cursor, which is JSON in a text.
func cursorHookResult(b *hookBody, c *Call) {
	if b.FailureType != "" || b.ErrorMessage != "" {
		c.end(result{output: string(b.ErrorMessage), outcome: Failed, errorType: string(b.FailureType)})
		if b.FailureType == "permission_denied" || b.Interrupted {
			c.Outcome = Cancelled
		}
		return
	}
	inner := jsontext.Value(contentText(b.Output))
	r := result{output: string(inner), outcome: Claimed}
	var shell struct {
		Exit jsontext.Value `json:"exitCode"`
	}
	if inner.Kind() == '{' && inner.IsValid(lax...) && decode(inner, &shell) == nil {
		r.output = shellText(inner)
		if there(shell.Exit) {
			r.exited(string(shell.Exit))
		}
	}
	c.end(r)
}

func copilotHookResult(b *hookBody, c *Call) {
	var r struct {
		Type str            `json:"resultType"`
		Text jsontext.Value `json:"textResultForLlm"`
	}
	if there(b.Error) {
		c.end(result{output: errorText(b.Error), outcome: Failed})
		return
	}
	if b.ResultCamel.Kind() != '{' || decode(b.ResultCamel, &r) != nil {
		claudeHookResult(b, c)
		return
	}
	out := result{output: contentText(r.Text), outcome: Claimed}
	switch r.Type {
	case "denied", "rejected":
		out.outcome = Cancelled
	case "failure", "error", "timeout":
		out.outcome = Failed
	}
	c.end(out)
}
