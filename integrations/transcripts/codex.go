package transcripts

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// saidItems are the kinds of items that a conversation consists of.
var saidItems = []string{"message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"}

// readCodex reads rollouts of Codex CLI.
func readCodex(f *file) reader {
	base := accounts.Call{Source: f.format, Conversation: f.base}
	return func(line loosejson.Members, _ []byte) {
		p := loosejson.MembersOf(line.At("payload"))
		switch at := loosejson.Time(line.At("timestamp")); line.Text("type") {
		case "session_meta":
			base.Conversation = cmp.Or(p.Text("id"), base.Conversation)
			if bytes.Contains(p.At("source"), []byte("subagent")) {
				base.Agent = base.Conversation
			}
		case "turn_context":
			base.Model = p.Text("model")
		case "response_item":
			if slices.Contains(saidItems, p.Text("type")) {
				f.say(base.Conversation, "", line.At("payload"))
			}
			f.item(base, p, at)
		case "event_msg":
			f.event(base, p, at)
		}
	}
}

// readResponses reads items of OpenAI's responses, one a document.
func readResponses(f *file) reader {
	base := accounts.Call{Source: f.format}
	return func(one loosejson.Members, doc []byte) {
		base.Conversation = cmp.Or(base.Conversation, f.base+"-"+accounts.Digest(doc))
		f.item(base, one, loosejson.Time(one.At("timestamp")))
	}
}

// item takes an item of OpenAI's responses, as requests, answers and the rollouts of Codex
// CLI hold them: a call, or its output.
func (f *file) item(c accounts.Call, i loosejson.Members, at time.Time) {
	c.ID = i.Text("call_id")
	switch kind := i.Text("type"); kind {
	case "function_call", "custom_tool_call", "local_shell_call":
		c.Tool, c.Input, c.Begun = inNamespace(i.Text("namespace"), i.Text("name")), input(i.At("arguments")), at
		switch kind {
		case "custom_tool_call":
			c.Input = input(i.At("input"))
		case "local_shell_call":
			c.Tool, c.Input = "local_shell", input(i.At("action"))
			c.ID = cmp.Or(c.ID, i.Text("id"))
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		c.ID, c.Done = i.Text("call_id|id"), at
		end(&c, itemOutput(i.At("output")))
	case "mcp_call": // made by the model's own server; call and result in one
		c.ID, c.Tool, c.Input, c.Done = i.Text("id"), i.Text("name"), input(i.At("arguments")), at
		r := result{output: contentText(i.At("output")), outcome: accounts.Succeeded}
		if problem := i.At("error"); loosejson.There(problem) {
			r = result{output: contentText(problem), outcome: accounts.Failed}
		}
		end(&c, r)
	default: // what the model's own searches found is not shown
		return
	}
	f.add(c)
}

// inNamespace is a tool's name as Codex's hooks have it: with that of the server before
// it, and without that of the host's own tools.
func inNamespace(namespace, tool string) string {
	if namespace == "" || namespace == "functions" {
		return tool
	}
	return namespace + "__" + tool
}

// itemOutput reads the output of a call: a text, {content, success}, or blocks.
func itemOutput(v jsontext.Value) result {
	o := loosejson.MembersOf(v)
	content := o["content"]
	if len(content) == 0 {
		return unwrapCodex(contentText(v))
	}
	r := unwrapCodex(contentText(content))
	if ok, known := loosejson.Truth(o.At("success")); known && !ok {
		r.outcome = max(r.outcome, accounts.Failed)
	}
	return r
}

// event takes an event of a rollout that says how a call ended.
func (f *file) event(c accounts.Call, i loosejson.Members, at time.Time) {
	c.ID = i.Text("call_id")
	if i.Text("type") == "item_completed" {
		c.Begun = loosejson.Time(i.At("started_at_ms"))
		if t := loosejson.Time(i.At("completed_at_ms")); !t.IsZero() {
			at = t
		}
		i = loosejson.MembersOf(i.At("item"))
		c.ID = i.Text("id")
	}
	c.Done = at
	c.Duration = secondsOf(i, 1, "duration.secs") + secondsOf(i, 1e-9, "duration.nanos")
	written, status := i.Text("stdout")+i.Text("stderr"), i.Text("status")
	switch i.Text("type") {
	case "exec_command_end", "CommandExecution":
		r := result{output: cmp.Or(i.Text("aggregated_output"), written)}
		r.exited(string(i.At("exit_code")))
		end(&c, r)
	case "mcp_tool_call_end", "McpToolCall":
		c.Tool = "mcp__" + i.Text("server|invocation.server") + "__" + i.Text("tool|invocation.tool")
		c.Input = input(i.At("arguments|invocation.arguments"))
		end(&c, mcpOutput(i.At("result")))
	case "patch_apply_end", "FileChange":
		end(&c, result{output: strings.TrimSpace(written)})
	default:
		return
	}
	switch ok, known := loosejson.Truth(i.At("success")); {
	case status == "declined":
		c.Outcome = accounts.Cancelled
	case status == "failed", known && !ok:
		c.Outcome = accounts.Failed
	case status == "completed", ok:
		c.Outcome = max(c.Outcome, accounts.Succeeded)
	}
	f.add(c)
}

// mcpOutput reads the result of a tool of MCP, also with Codex's {Ok}, {Err} around it.
func mcpOutput(v jsontext.Value) result {
	m := loosejson.MembersOf(v)
	if failure := m.At("Err"); loosejson.There(failure) {
		return result{output: contentText(failure), outcome: accounts.Failed}
	}
	if inner := m.At("Ok"); inner.Kind() == '{' {
		v, m = inner, loosejson.MembersOf(inner)
	}
	content, data := m.At("content"), m.At("structuredContent")
	if !loosejson.There(content) && !loosejson.There(data) {
		return result{output: contentText(v)}
	}
	r := result{output: cmp.Or(contentText(content), contentText(data)), outcome: accounts.Succeeded}
	if m.Is("isError") || m.Is("is_error") {
		r.outcome = accounts.Failed
	}
	return r
}
