package ingest

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// item is an item of OpenAI's responses, as requests, answers and the rollouts of
// Codex CLI hold them, and the events of those rollouts.
type item struct {
	Type      str            `json:"type"`
	ID        str            `json:"id"`
	CallID    str            `json:"call_id"`
	Name      str            `json:"name"`
	Namespace str            `json:"namespace"`
	Arguments jsontext.Value `json:"arguments"`
	Input     jsontext.Value `json:"input"`
	Action    jsontext.Value `json:"action"`
	Output    jsontext.Value `json:"output"`
	Status    str            `json:"status"`
	Error     jsontext.Value `json:"error"`
	Server    str            `json:"server_label"`

	// Events: exec_command_end, mcp_tool_call_end, patch_apply_end, item_completed.
	ExitCode   jsontext.Value     `json:"exit_code"`
	Aggregated jsontext.Value     `json:"aggregated_output"`
	Stdout     str                `json:"stdout"`
	Stderr     str                `json:"stderr"`
	Duration   object[duration]   `json:"duration"`
	Success    jsontext.Value     `json:"success"`
	Invocation object[invocation] `json:"invocation"`
	Result     jsontext.Value     `json:"result"`
	Item       jsontext.Value     `json:"item"`
	Tool       str                `json:"tool"`
	McpServer  str                `json:"server"`
	Started    jsontext.Value     `json:"started_at_ms"`
	Completed  jsontext.Value     `json:"completed_at_ms"`

	// session_meta, turn_context.
	Model  str            `json:"model"`
	Source jsontext.Value `json:"source"`
}

type duration struct {
	Secs  float64 `json:"secs"`
	Nanos float64 `json:"nanos"`
}

type invocation struct {
	Server    str            `json:"server"`
	Tool      str            `json:"tool"`
	Arguments jsontext.Value `json:"arguments"`
}

// mcpResult is the result of a tool of MCP, and Codex's {Ok}, {Err} around it.
type mcpResult struct {
	Content jsontext.Value `json:"content"`
	IsError *bool          `json:"isError"`
	Failed  *bool          `json:"is_error"`
	Data    jsontext.Value `json:"structuredContent"`
	OK      jsontext.Value `json:"Ok"`
	Err     jsontext.Value `json:"Err"`
}

// readCodex reads rollouts of Codex CLI.
func readCodex(f *file) func(doc []byte) error {
	base := Call{Source: f.format, Conversation: f.base}
	return func(doc []byte) error {
		if f.message == nil && !mentions(doc, "call", "session_meta", "item_completed", "patch_apply", "turn_context") {
			return nil
		}
		var line struct {
			Timestamp jsontext.Value `json:"timestamp"`
			Type      str            `json:"type"`
			Payload   object[item]   `json:"payload"`
		}
		if err := decode(doc, &line); err != nil {
			return err
		}
		p := &line.Payload.is
		switch at := when(line.Timestamp); line.Type {
		case "session_meta":
			base.Conversation = cmp.Or(string(p.ID), base.Conversation)
			if bytes.Contains(p.Source, []byte("subagent")) {
				base.Agent = base.Conversation
			}
		case "turn_context":
			base.Model = string(p.Model)
		case "response_item":
			f.sayItem(base.Conversation, p, doc)
			f.item(base, p, at)
		case "event_msg":
			f.event(base, p, at)
		}
		return nil
	}
}

// sayItem gives an item that is said or done.
func (f *file) sayItem(conversation string, i *item, doc []byte) {
	switch i.Type {
	case "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output":
		var raw struct {
			Payload jsontext.Value `json:"payload"`
		}
		if f.message != nil && decode(doc, &raw) == nil {
			f.say(conversation, "", raw.Payload)
		}
	}
}

// readResponses reads items of OpenAI's responses, one a document.
func readResponses(f *file) func(doc []byte) error {
	base := Call{Source: f.format}
	return func(doc []byte) error {
		if base.Conversation == "" {
			base.Conversation = f.base + "-" + digest(doc)
		}
		var one struct {
			item
			Timestamp jsontext.Value `json:"timestamp"`
		}
		if err := decode(doc, &one); err != nil {
			return err
		}
		f.item(base, &one.item, when(one.Timestamp))
		return nil
	}
}

// items takes a list of items.
func (f *file) items(c *chat, v jsontext.Value) {
	var items listOf[item]
	if v.Kind() != '[' || decode(v, &items) != nil {
		return
	}
	for i := range items {
		f.item(c.base, &items[i], time.Time{})
	}
}

// item takes one item: a call, or its output.
func (f *file) item(c Call, i *item, at time.Time) {
	c.ID = string(i.CallID)
	switch i.Type {
	case "function_call", "custom_tool_call", "local_shell_call":
		c.Tool, c.Input, c.Begun = string(i.Name), input(i.Arguments), at
		c.Tool = inNamespace(string(i.Namespace), c.Tool)
		switch i.Type {
		case "custom_tool_call":
			c.Input = input(i.Input)
		case "local_shell_call":
			c.Tool, c.Input = "local_shell", input(i.Action)
			c.ID = cmp.Or(c.ID, string(i.ID))
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		c.ID, c.Done = string(cmp.Or(i.CallID, i.ID)), at
		c.end(itemOutput(i.Output))
	case "mcp_call": // made by the model's own server; call and result in one
		c.ID, c.Tool, c.Input, c.Done = string(i.ID), string(i.Name), input(i.Arguments), at
		r := result{output: contentText(i.Output), outcome: Succeeded}
		if there(i.Error) {
			r = result{output: contentText(i.Error), outcome: Failed}
		}
		c.end(r)
	case "web_search_call", "file_search_call", "code_interpreter_call":
		return // what they found is not shown
	default:
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
	var o struct {
		Content jsontext.Value `json:"content"`
		Success *bool          `json:"success"`
	}
	if v.Kind() == '{' && decode(v, &o) == nil && len(o.Content) > 0 {
		r := unwrapCodex(contentText(o.Content))
		if o.Success != nil && !*o.Success {
			r.outcome = max(r.outcome, Failed)
		}
		return r
	}
	return unwrapCodex(contentText(v))
}

// event takes an event of a rollout that says how a call ended.
func (f *file) event(c Call, i *item, at time.Time) {
	if i.Type == "item_completed" {
		var inner object[item]
		if decode(i.Item, &inner) != nil || !inner.given {
			return
		}
		c.Begun = when(i.Started)
		if t := when(i.Completed); !t.IsZero() {
			at = t
		}
		i = &inner.is
		i.CallID = i.ID
	}
	c.ID, c.Done = string(i.CallID), at
	c.Duration = seconds(i.Duration.is.Secs + i.Duration.is.Nanos/1e9)
	switch i.Type {
	case "exec_command_end", "CommandExecution":
		r := result{output: string(i.Stdout + i.Stderr)}
		if i.Aggregated.Kind() == '"' {
			r.output = text(i.Aggregated)
		}
		r.exited(string(i.ExitCode))
		c.end(r)
	case "mcp_tool_call_end", "McpToolCall":
		in := i.Invocation.is
		if i.Tool != "" {
			in = invocation{i.McpServer, i.Tool, i.Arguments}
		}
		c.Tool, c.Input = "mcp__"+string(in.Server)+"__"+string(in.Tool), input(in.Arguments)
		if in.Tool == "" {
			c.Tool = ""
		}
		c.end(mcpOutput(i.Result))
		if i.Status == "failed" {
			c.Outcome = Failed
		}
	case "patch_apply_end", "FileChange":
		r := result{output: strings.TrimSpace(string(i.Stdout + i.Stderr))}
		if ok, known := truth(i.Success); known && !ok || i.Status == "failed" {
			r.outcome = Failed
		} else if known || i.Status == "completed" {
			r.outcome = Succeeded
		}
		c.end(r)
	default:
		return
	}
	if i.Status == "declined" {
		c.Outcome = Cancelled
	}
	if c.ID != "" {
		f.add(c)
	}
}

// mcpOutput reads the result of a tool of MCP.
func mcpOutput(v jsontext.Value) result {
	var m mcpResult
	if v.Kind() != '{' || decode(v, &m) != nil {
		return result{output: contentText(v)}
	}
	if there(m.Err) {
		return result{output: contentText(m.Err), outcome: Failed}
	}
	if m.OK.Kind() == '{' {
		v, m = m.OK, mcpResult{}
		if decode(v, &m) != nil {
			return result{output: contentText(v)}
		}
	}
	if !there(m.Content) && !there(m.Data) {
		return result{output: contentText(v)}
	}
	r := result{output: cmp.Or(contentText(m.Content), contentText(m.Data)), outcome: Succeeded}
	if m.IsError != nil && *m.IsError || m.Failed != nil && *m.Failed {
		r.outcome = Failed
	}
	return r
}
