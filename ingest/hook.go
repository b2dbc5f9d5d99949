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

// Moment is when a host calls a hook.
type Moment string

// The moments. A hook at any other moment gets an empty answer.
const (
	// Begins: a session begins or continues after a compaction, or a person asks for
	// something.
	Begins     Moment = "begins"
	BeforeCall Moment = "before"
	AfterCall  Moment = "after"
	// Forgets: the host is about to compact the session, or has just done so.
	Forgets Moment = "forgets"
	// Ends: a turn or the session is over, and its transcript is complete.
	Ends Moment = "ends"
)

// Hook is an event that a host sends to a hook.
type Hook struct {
	Host string
	// Event is the host's own name for the moment.
	Event  string
	Moment Moment
	// Call is the planned or finished call.
	Call Call
	// Forgot reports that a session that Begins has just been compacted.
	Forgot bool
	// Transcript is the path of the session's transcript on the host's machine; "" if
	// there is none.
	Transcript string
	// Elsewhere reports that the transcript holds the call under an id that the hook does not
	// get. The call is then recorded from the transcript.
	Elsewhere bool
}

// hookHost is how a host speaks to hooks.
type hookHost struct {
	// Moments by the host's names of events, in lower case.
	moments map[string]Moment
	// before and after say whether what is answered then reaches the model, asks and
	// repairs whether the host can ask its person about a call, and change its input.
	before, after, asks, repairs bool
	// noIDs says that hooks are not told the ids that the transcript has.
	noIDs bool
	// call makes of a planned call, or one that was made, what the transcript has.
	call   func(c *Call)
	result func(b *hookBody, c *Call)
	answer func(h *Hook, r HookReply) any
}

// HookReply is the answer to a hook: context for the model, a reason to refuse the planned
// call or to ask a person about it, or another input for it. The zero value means that there
// is nothing to say.
type HookReply struct {
	Context, Deny, Ask string
	Input              json.RawMessage
}

// claudeMoments are the events of Claude Code, which others took over.
var claudeMoments = map[string]Moment{
	"pretooluse": BeforeCall, "posttooluse": AfterCall, "posttoolusefailure": AfterCall, "precompact": Forgets, "postcompact": Forgets,
	"sessionstart": Begins, "userpromptsubmit": Begins, "stop": Ends, "subagentstop": Ends, "sessionend": Ends,
}

var hookHosts = map[string]hookHost{
	"claude-code": {moments: claudeMoments, before: true, after: true, asks: true, repairs: true, result: claudeHookResult, answer: claudeAnswer},
	"codex":       {moments: claudeMoments, before: true, after: true, repairs: true, call: codexHookCall, result: codexHookResult, answer: codexAnswer},
	"copilot":     {moments: claudeMoments, after: true, result: copilotHookResult, answer: claudeAnswer},
	"gemini": { // its PreCompress comes before each request to the model, and is no forgetting
		moments: map[string]Moment{"sessionstart": Begins, "beforeagent": Begins, "beforetool": BeforeCall, "aftertool": AfterCall, "sessionend": Ends},
		after:   true, asks: true, repairs: true, noIDs: true, result: geminiHookResult, answer: geminiAnswer,
	},
	"cursor": {moments: claudeMoments, after: true, asks: true, result: cursorHookResult, answer: cursorAnswer},
}

// HookHosts lists the hosts whose hooks are supported.
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
	Folder         str            `json:"cwd"`
	Folders        listOf[str]    `json:"workspace_roots"`
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

// ReadHook reads an event that a host sent to a hook at the given time.
func ReadHook(host string, body []byte, now time.Time) (*Hook, error) {
	speaks, ok := hookHosts[host]
	if !ok {
		return nil, memoryd.Errorf(memoryd.NotFound, "there is no host %q; known hosts: %s", host, strings.Join(HookHosts(), ", "))
	}
	var b hookBody
	if err := decode(body, &b); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the body must be a hook's event: a JSON object")
	}
	h := &Hook{Host: host, Event: string(b.Event), Transcript: string(b.Transcript)}
	h.Moment = speaks.moments[strings.ToLower(h.Event)]
	if h.Event == "" && b.ToolCamel != "" { // Copilot's older form names no event
		h.Moment, h.Event = BeforeCall, "PreToolUse"
		if there(b.ResultCamel) || there(b.Error) {
			h.Moment, h.Event = AfterCall, "PostToolUse"
		}
	}
	h.Forgot = strings.EqualFold(h.Event, "sessionstart") && (b.Source == "compact" || b.Source == "clear")
	c := Call{
		Source: "hook:" + host, Conversation: string(cmp.Or(b.SessionID+b.SessionCamel, b.ConversationID)), ID: string(b.UseID), Agent: string(b.AgentID),
		Tool: string(b.Tool + b.ToolCamel), Input: input(b.Input), Begun: now,
		Project: string(b.Folder),
	}
	if c.Project == "" && len(b.Folders) > 0 {
		c.Project = string(b.Folders[0])
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

// Reaches reports whether the host shows the answer to this hook to the model.
func (h *Hook) Reaches() bool {
	s := hookHosts[h.Host]
	return h.Moment == Begins || h.Moment == BeforeCall && s.before || h.Moment == AfterCall && s.after
}

// Asks reports whether the host can ask a person about a call.
func (h *Hook) Asks() bool { return hookHosts[h.Host].asks }

// Repairs reports whether the host accepts another input for a call.
func (h *Hook) Repairs() bool { return hookHosts[h.Host].repairs }

// Spoken returns an input with the host's own parameter names, if its hooks use other names
// than its model.
func (h *Hook) Spoken(input json.RawMessage) json.RawMessage {
	var shell struct {
		Cmd jsontext.Value `json:"cmd"`
	}
	if h.Host == "codex" && h.Call.Tool == "exec_command" && decode(jsontext.Value(input), &shell) == nil && shell.Cmd.Kind() == '"' {
		return []byte(`{"command":` + string(shell.Cmd) + `}`)
	}
	return input
}

// Answer returns the JSON for the host; nil if there is nothing to say.
func (h *Hook) Answer(r HookReply) []byte {
	if h.Moment != BeforeCall {
		r.Deny, r.Ask, r.Input = "", "", nil
	}
	if !h.Reaches() {
		r.Context = ""
	}
	if r.Context+r.Deny+r.Ask == "" && len(r.Input) == 0 {
		return nil
	}
	b, err := json.Marshal(hookHosts[h.Host].answer(h, r))
	if err != nil { // texts: it cannot fail
		return nil
	}
	return b
}

func claudeAnswer(h *Hook, r HookReply) any {
	out := map[string]any{"hookEventName": h.Event}
	if r.Context != "" {
		out["additionalContext"] = r.Context
	}
	if r.Deny != "" {
		out["permissionDecision"], out["permissionDecisionReason"] = "deny", r.Deny
	} else if r.Ask != "" {
		out["permissionDecision"], out["permissionDecisionReason"] = "ask", r.Ask
	}
	if len(r.Input) > 0 {
		out["updatedInput"] = r.Input
	}
	return map[string]any{"hookSpecificOutput": out}
}

// codexAnswer is that of Claude Code; Codex takes another input with leave alone.
func codexAnswer(h *Hook, r HookReply) any {
	answer := claudeAnswer(h, r)
	if out, ok := answer.(map[string]any)["hookSpecificOutput"].(map[string]any); ok && len(r.Input) > 0 {
		out["permissionDecision"] = "allow"
	}
	return answer
}

func geminiAnswer(h *Hook, r HookReply) any {
	switch {
	case r.Deny != "":
		return map[string]any{"decision": "deny", "reason": r.Deny}
	case r.Ask != "":
		return map[string]any{"decision": "ask", "reason": r.Ask}
	}
	out := map[string]any{"hookEventName": h.Event}
	if r.Context != "" {
		out["additionalContext"] = r.Context
	}
	if len(r.Input) > 0 {
		out["tool_input"] = r.Input
	}
	return map[string]any{"hookSpecificOutput": out}
}

func cursorAnswer(_ *Hook, r HookReply) any {
	switch {
	case r.Deny != "":
		return map[string]any{"permission": "deny", "agent_message": r.Deny, "user_message": r.Deny}
	case r.Ask != "":
		return map[string]any{"permission": "ask", "agent_message": r.Ask, "user_message": r.Ask}
	}
	return map[string]any{"additional_context": r.Context}
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
	out := unwrapEnd(contentText(r.Text))
	out.outcome = max(out.outcome, Claimed)
	switch r.Type {
	case "denied", "rejected":
		out.outcome = Cancelled
	case "failure", "error", "timeout":
		out.outcome = Failed
	}
	c.end(out)
}
