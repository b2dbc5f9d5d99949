package ingest

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// saidItems are the kinds of items that a conversation consists of.
var saidItems = []string{"message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"}

// readCodex reads rollouts of Codex CLI.
func readCodex(f *file) func(doc []byte) error {
	base := Call{Source: f.format, Conversation: f.base}
	return func(doc []byte) error {
		if f.message == nil && !mentions(doc, "call", "session_meta", "item_completed", "patch_apply", "turn_context") {
			return nil
		}
		line, err := parse(doc)
		if err != nil {
			return err
		}
		p := objectIn(line.at("payload"))
		switch at := when(line.at("timestamp")); line.text("type") {
		case "session_meta":
			base.Conversation = cmp.Or(p.text("id"), base.Conversation)
			if bytes.Contains(p.at("source"), []byte("subagent")) {
				base.Agent = base.Conversation
			}
		case "turn_context":
			base.Model = p.text("model")
		case "response_item":
			if slices.Contains(saidItems, p.text("type")) {
				f.say(base.Conversation, "", line.at("payload"))
			}
			f.item(base, p, at)
		case "event_msg":
			f.event(base, p, at)
		}
		return nil
	}
}

// readResponses reads items of OpenAI's responses, one a document.
func readResponses(f *file) func(doc []byte) error {
	base := Call{Source: f.format}
	return func(doc []byte) error {
		base.Conversation = cmp.Or(base.Conversation, f.base+"-"+digest(doc))
		one, err := parse(doc)
		f.item(base, one, when(one.at("timestamp")))
		return err
	}
}

// items takes a list of items.
func (f *file) items(c *chat, v jsontext.Value) {
	for _, i := range objects(v) {
		f.item(c.base, i, time.Time{})
	}
}

// item takes an item of OpenAI's responses, as requests, answers and the rollouts of Codex
// CLI hold them: a call, or its output.
func (f *file) item(c Call, i object, at time.Time) {
	c.ID = i.text("call_id")
	switch kind := i.text("type"); kind {
	case "function_call", "custom_tool_call", "local_shell_call":
		c.Tool, c.Input, c.Begun = inNamespace(i.text("namespace"), i.text("name")), input(i.at("arguments")), at
		switch kind {
		case "custom_tool_call":
			c.Input = input(i.at("input"))
		case "local_shell_call":
			c.Tool, c.Input = "local_shell", input(i.at("action"))
			c.ID = cmp.Or(c.ID, i.text("id"))
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		c.ID, c.Done = i.text("call_id|id"), at
		c.end(itemOutput(i.at("output")))
	case "mcp_call": // made by the model's own server; call and result in one
		c.ID, c.Tool, c.Input, c.Done = i.text("id"), i.text("name"), input(i.at("arguments")), at
		r := result{output: contentText(i.at("output")), outcome: Succeeded}
		if problem := i.at("error"); there(problem) {
			r = result{output: contentText(problem), outcome: Failed}
		}
		c.end(r)
	default: // what the model's own searches found is not shown
		return
	}
	if c.ID != "" {
		f.add(c)
	}
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
	o := objectIn(v)
	content := o["content"]
	if len(content) == 0 {
		return unwrapCodex(contentText(v))
	}
	r := unwrapCodex(contentText(content))
	if ok, known := truth(o.at("success")); known && !ok {
		r.outcome = max(r.outcome, Failed)
	}
	return r
}

// event takes an event of a rollout that says how a call ended.
func (f *file) event(c Call, i object, at time.Time) {
	c.ID = i.text("call_id")
	if i.text("type") == "item_completed" {
		c.Begun = when(i.at("started_at_ms"))
		if t := when(i.at("completed_at_ms")); !t.IsZero() {
			at = t
		}
		i = objectIn(i.at("item"))
		c.ID = i.text("id")
	}
	c.Done = at
	c.Duration = i.seconds(1, "duration.secs") + i.seconds(1e-9, "duration.nanos")
	written, status := i.text("stdout")+i.text("stderr"), i.text("status")
	switch i.text("type") {
	case "exec_command_end", "CommandExecution":
		r := result{output: written}
		if all := i.at("aggregated_output"); all.Kind() == '"' {
			r.output = text(all)
		}
		r.exited(string(i.at("exit_code")))
		c.end(r)
	case "mcp_tool_call_end", "McpToolCall":
		if tool := i.text("tool|invocation.tool"); tool != "" {
			c.Tool = "mcp__" + i.text("server|invocation.server") + "__" + tool
		}
		c.Input = input(i.at("arguments|invocation.arguments"))
		c.end(mcpOutput(i.at("result")))
		if status == "failed" {
			c.Outcome = Failed
		}
	case "patch_apply_end", "FileChange":
		r := result{output: strings.TrimSpace(written)}
		if ok, known := truth(i.at("success")); known && !ok || status == "failed" {
			r.outcome = Failed
		} else if known || status == "completed" {
			r.outcome = Succeeded
		}
		c.end(r)
	default:
		return
	}
	if status == "declined" {
		c.Outcome = Cancelled
	}
	if c.ID != "" {
		f.add(c)
	}
}

// mcpOutput reads the result of a tool of MCP, also with Codex's {Ok}, {Err} around it.
func mcpOutput(v jsontext.Value) result {
	m := objectIn(v)
	if failure := m.at("Err"); there(failure) {
		return result{output: contentText(failure), outcome: Failed}
	}
	if inner := m.at("Ok"); inner.Kind() == '{' {
		v, m = inner, objectIn(inner)
	}
	content, data := m.at("content"), m.at("structuredContent")
	if !there(content) && !there(data) {
		return result{output: contentText(v)}
	}
	r := result{output: cmp.Or(contentText(content), contentText(data)), outcome: Succeeded}
	if m.is("isError") || m.is("is_error") {
		r.outcome = Failed
	}
	return r
}
