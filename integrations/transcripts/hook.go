package transcripts

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// Readers read what other programs send to the server, and answer them in their own words.
type Readers struct{}

// hookHost is how a host speaks to hooks.
type hookHost struct {
	// Moments by the host's names of events, in lower case.
	moments map[string]accounts.Moment
	// before and after say whether what is answered then reaches the model, asks and
	// repairs whether the host can ask its person about a call, and change its input.
	before, after, asks, repairs bool
	// noIDs says that hooks are not told the ids that the transcript has.
	noIDs bool
	// call makes of a planned call, or one that was made, what the transcript has.
	call   func(c *accounts.Call)
	result func(b loosejson.Members, c *accounts.Call)
	answer func(h *accounts.Hook, r accounts.HookReply) any
}

// claudeMoments are the events of Claude Code, which others took over.
var claudeMoments = map[string]accounts.Moment{
	"pretooluse": accounts.BeforeCall, "posttooluse": accounts.AfterCall, "posttoolusefailure": accounts.AfterCall,
	"precompact": accounts.Forgets, "postcompact": accounts.Forgets,
	"sessionstart": accounts.Begins, "userpromptsubmit": accounts.Begins, "stop": accounts.Ends,
	"subagentstop": accounts.Ends, "sessionend": accounts.Ends,
}

var hookHosts = map[string]hookHost{
	"claude-code": {
		moments: claudeMoments, before: true, after: true, asks: true, repairs: true, result: claudeHookResult, answer: claudeAnswer,
	},
	"codex": {
		moments: claudeMoments, before: true, after: true, repairs: true, call: codexHookCall,
		result: codexHookResult, answer: codexAnswer,
	},
	"copilot": {moments: claudeMoments, after: true, result: copilotHookResult, answer: claudeAnswer},
	"gemini": { // its PreCompress comes before each request to the model, and is no forgetting
		moments: map[string]accounts.Moment{
			"sessionstart": accounts.Begins, "beforeagent": accounts.Begins, "beforetool": accounts.BeforeCall, "aftertool": accounts.AfterCall,
			"sessionend": accounts.Ends,
		},
		after: true, asks: true, repairs: true, noIDs: true, result: geminiHookResult, answer: geminiAnswer,
	},
	"cursor": {moments: claudeMoments, after: true, asks: true, result: cursorHookResult, answer: cursorAnswer},
}

// Hook reads an event that a host sent to a hook at the given time.
func (Readers) Hook(host string, body []byte, now time.Time) (*accounts.Hook, error) {
	speaks, ok := hookHosts[host]
	if !ok {
		return nil, memoryd.Errorf(memoryd.NotFound, "there is no host %q; known hosts: %s", host,
			strings.Join(slices.Sorted(maps.Keys(hookHosts)), ", "))
	}
	b, err := loosejson.ParseMembers(body)
	if err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the body must be a hook's event: a JSON object")
	}
	h := &accounts.Hook{Host: host, Event: b.Text("hook_event_name"), Transcript: b.Text("transcript_path")}
	h.Moment = speaks.moments[strings.ToLower(h.Event)]
	if h.Event == "" && b.Text("toolName") != "" { // Copilot's older form names no event
		h.Moment, h.Event = accounts.BeforeCall, "PreToolUse"
		if loosejson.There(b.At("toolResult|error")) {
			h.Moment, h.Event = accounts.AfterCall, "PostToolUse"
		}
	}
	source := b.Text("source")
	h.Forgot = strings.EqualFold(h.Event, "sessionstart") && (source == "compact" || source == "clear")
	c := accounts.Call{
		Source: "hook:" + host, Conversation: b.Text("session_id|sessionId|conversation_id"),
		ID: b.Text("tool_use_id"), Agent: b.Text("agent_id"),
		Tool: b.Text("tool_name|toolName"), Input: input(b.At("tool_input|toolArgs")), Begun: now, Project: b.Text("cwd"),
	}
	if folders := loosejson.Elements(b.At("workspace_roots")); c.Project == "" && len(folders) > 0 {
		c.Project = loosejson.TextOf(folders[0])
	}
	if (h.Moment == accounts.BeforeCall || h.Moment == accounts.AfterCall) && c.Tool == "" {
		return nil, memoryd.Errorf(memoryd.Invalid, "tool_name: missing")
	}
	if speaks.call != nil {
		speaks.call(&c)
	}
	if h.Moment == accounts.AfterCall {
		c.Done, c.Ended = now, true
		c.Duration = secondsOf(b, 1e-3, "duration_ms", "duration")
		c.Begun = now.Add(-c.Duration)
		speaks.result(b, &c)
		h.Elsewhere = speaks.noIDs && h.Transcript != ""
	}
	h.Call = c
	h.Reaches = h.Moment == accounts.Begins || h.Moment == accounts.BeforeCall && speaks.before ||
		h.Moment == accounts.AfterCall && speaks.after
	h.Asks, h.Repairs = speaks.asks, speaks.repairs
	return h, nil
}

// Spoken returns an input with the host's own parameter names, if its hooks use other names
// than its model.
func (Readers) Spoken(h *accounts.Hook, input json.RawMessage) json.RawMessage {
	command := loosejson.MembersOf(jsontext.Value(input))["cmd"]
	if h.Host == "codex" && h.Call.Tool == "exec_command" && command.Kind() == '"' {
		return json.RawMessage(objectOf("command", command))
	}
	return input
}

// Answer returns the JSON for the host; nil if there is nothing to say.
func (Readers) Answer(h *accounts.Hook, r accounts.HookReply) []byte {
	if h.Moment != accounts.BeforeCall {
		r.Deny, r.Ask, r.Input = "", "", nil
	}
	if !h.Reaches {
		r.Context = ""
	}
	if r.Context+r.Deny+r.Ask == "" && len(r.Input) == 0 {
		return nil
	}
	b, _ := json.Marshal(hookHosts[h.Host].answer(h, r)) // texts: it cannot fail
	return b
}

func claudeAnswer(h *accounts.Hook, r accounts.HookReply) any {
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
func codexAnswer(h *accounts.Hook, r accounts.HookReply) any {
	answer := claudeAnswer(h, r)
	if out, ok := answer.(map[string]any)["hookSpecificOutput"].(map[string]any); ok && len(r.Input) > 0 {
		out["permissionDecision"] = "allow"
	}
	return answer
}

func geminiAnswer(h *accounts.Hook, r accounts.HookReply) any {
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

func cursorAnswer(_ *accounts.Hook, r accounts.HookReply) any {
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
func claudeHookResult(b loosejson.Members, c *accounts.Call) {
	failure, stopped, response := b.At("error"), b.Is("is_interrupt"), b.At("tool_response")
	if loosejson.There(failure) || stopped {
		end(c, unwrapClaude(errorText(failure), true))
		if stopped {
			c.Outcome = accounts.Cancelled
		}
		return
	}
	end(c, result{output: shellText(response), outcome: accounts.Succeeded})
	claudeResult(c, response)
}

// shellText joins what a command wrote to both its streams; any other result is its
// text.
func shellText(v jsontext.Value) string {
	shell := loosejson.MembersOf(v)
	if shell["stdout"].Kind() != '"' {
		return contentText(v)
	}
	return strings.Trim(strings.TrimRight(shell.Text("stdout"), "\n")+"\n"+shell.Text("stderr"), "\n")
}

// errorText is a message, or that of an object.
func errorText(v jsontext.Value) string {
	e := loosejson.MembersOf(v)
	return cmp.Or(strings.Trim(e.Text("type")+": "+e.Text("message"), ": "), loosejson.Text(v))
}

// codexHookCall undoes a translation: Codex tells hooks of its shell as if it were that
// of Claude Code, its model and its transcript know it by another name.
func codexHookCall(c *accounts.Call) {
	if command := loosejson.MembersOf(jsontext.Value(c.Input))["command"]; c.Tool == "Bash" && command.Kind() == '"' {
		c.Tool, c.Input = "exec_command", json.RawMessage(objectOf("cmd", command))
	}
}

// codexHookResult reads a result of Codex: the text that the model sees, without an
// exit code, or a result of MCP.
func codexHookResult(b loosejson.Members, c *accounts.Call) {
	response := b.At("tool_response")
	if response.Kind() == '{' {
		end(c, mcpOutput(response))
		return
	}
	end(c, unwrapCodex(contentText(response)))
	c.Outcome = max(c.Outcome, accounts.Claimed)
}

func geminiHookResult(b loosejson.Members, c *accounts.Call) {
	response := b.At("tool_response")
	r := loosejson.MembersOf(response)
	if r == nil {
		end(c, result{output: contentText(response), outcome: accounts.Claimed})
		return
	}
	end(c, unwrapGemini(contentText(r.At("llmContent"))))
	c.Outcome = max(c.Outcome, accounts.Claimed)
	if failure := r.At("error"); loosejson.There(failure) {
		c.Outcome, c.Output = accounts.Failed, cmp.Or(c.Output, errorText(failure))
	}
}

// cursorHookResult reads a result of Cursor, which is JSON in a text.
func cursorHookResult(b loosejson.Members, c *accounts.Call) {
	message, kind := b.Text("error_message"), b.Text("failure_type")
	if kind != "" || message != "" {
		end(c, result{output: message, outcome: accounts.Failed, errorType: kind})
		if kind == "permission_denied" || b.Is("is_interrupt") {
			c.Outcome = accounts.Cancelled
		}
		return
	}
	inner := jsontext.Value(contentText(b.At("tool_output")))
	r := result{output: string(inner), outcome: accounts.Claimed}
	if shell := loosejson.MembersOf(inner); shell != nil {
		r.output = shellText(inner)
		if code := shell.At("exitCode"); loosejson.There(code) {
			r.exited(string(code))
		}
	}
	end(c, r)
}

func copilotHookResult(b loosejson.Members, c *accounts.Call) {
	if failure := b.At("error"); loosejson.There(failure) {
		end(c, result{output: errorText(failure), outcome: accounts.Failed})
		return
	}
	r := loosejson.MembersOf(b.At("toolResult"))
	if r == nil {
		claudeHookResult(b, c)
		return
	}
	out := unwrapEnd(contentText(r.At("textResultForLlm")))
	out.outcome = max(out.outcome, accounts.Claimed)
	switch r.Text("resultType") {
	case "denied", "rejected":
		out.outcome = accounts.Cancelled
	case "failure", "error", "timeout":
		out.outcome = accounts.Failed
	}
	end(c, out)
}
