package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// message is a message of a conversation, in any of the dialects that agents log:
// OpenAI's chat and responses, Anthropic's, and what benchmarks made of them.
type message struct {
	Role         str               `json:"role"`
	Content      jsontext.Value    `json:"content"`
	ToolCalls    listOf[toolCall]  `json:"tool_calls"`
	FunctionCall object[function]  `json:"function_call"`
	ToolCallID   str               `json:"tool_call_id"`
	ToolCallIDs  listOf[str]       `json:"tool_call_ids"` // SWE-agent
	ID           str               `json:"id"`            // tau2: of a tool message the call's
	Name         str               `json:"name"`
	Function     str               `json:"function"` // Inspect
	Error        jsontext.Value    `json:"error"`    // tau2: a boolean; Inspect: an object
	Status       str               `json:"status"`   // LangChain: success or error
	Timestamp    jsontext.Value    `json:"timestamp"`
	Model        str               `json:"model"`
	IsDemo       bool              `json:"is_demo"` // SWE-agent
	Extra        object[miniExtra] `json:"extra"`   // mini-swe-agent
}

type function struct {
	Name      str            `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// toolCall is a call of a chat message; the function is an object (OpenAI), a name
// (Inspect), or missing (tau2, LangChain: args).
type toolCall struct {
	ID        str            `json:"id"`
	Function  jsontext.Value `json:"function"`
	Name      str            `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Args      jsontext.Value `json:"args"`
}

// function is the name of the function that is called, and its arguments.
func (t *toolCall) function() (name string, args jsontext.Value) {
	name, args = string(t.Name), t.Arguments
	var inner function
	switch {
	case t.Function.Kind() == '{' && decode(t.Function, &inner) == nil:
		name, args = string(inner.Name), inner.Arguments
	case t.Function.Kind() == '"':
		name = text(t.Function)
	}
	if len(args) == 0 {
		args = t.Args
	}
	return name, args
}

// block is one block of Anthropic's content.
type block struct {
	Type      str            `json:"type"`
	ID        str            `json:"id"`
	Name      str            `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID str            `json:"tool_use_id"`
	Content   jsontext.Value `json:"content"`
	IsError   bool           `json:"is_error"`
}

// chat follows one conversation. It gives ids to calls that have none, and tells
// apart calls to which a model gave one id twice.
type chat struct {
	f    *file
	base Call
	open []opened
	seen map[string]int // how often an id was used, by calls that ended
	made int
	// unwrap, where there is one, reads the text of a result.
	unwrap func(s string) result
}

type opened struct{ id, tool, as string }

func (f *file) chat(conversation string) *chat {
	return &chat{f: f, base: Call{Source: f.format, Conversation: conversation, Local: true}, seen: map[string]int{}}
}

// call takes the making of a call.
func (c *chat) call(id, tool string, in jsontext.Value, at time.Time) {
	if tool == "" {
		return
	}
	c.made++
	as := id
	if id == "" {
		as = fmt.Sprintf("#%d", c.made)
	} else if n := c.seen[id]; n > 0 {
		as = fmt.Sprintf("%s#%d", id, n+1)
	}
	part := c.base
	part.ID, part.Tool, part.Input, part.Begun = as, tool, input(in), at
	c.f.add(part)
	c.open = append(c.open, opened{id, tool, as})
}

// result takes the end of a call, which is told by its id, else by its tool's name,
// else by their order.
func (c *chat) result(id, tool string, r result, at time.Time) {
	for _, fits := range []func(o opened) bool{
		func(o opened) bool { return id != "" && o.id == id },
		func(o opened) bool { return (id == "" || o.id == "") && tool != "" && o.tool == tool },
		func(o opened) bool { return id == "" && (tool == "" || o.tool == tool) },
	} {
		for i, o := range c.open {
			if !fits(o) {
				continue
			}
			part := c.base
			part.ID, part.Done = o.as, at
			part.end(r)
			c.f.add(part)
			if o.id != "" {
				c.seen[o.id]++
			}
			c.open = append(c.open[:i], c.open[i+1:]...)
			return
		}
	}
	c.f.stats.Orphans++
}

// message takes one message of the conversation.
func (c *chat) message(m *message) {
	at := when(m.Timestamp)
	if c.base.Model == "" {
		c.base.Model = string(m.Model)
	}
	for _, t := range m.ToolCalls {
		name, args := t.function()
		c.call(string(t.ID), name, args, at)
	}
	if f := m.FunctionCall; f.given && len(m.ToolCalls) == 0 {
		c.call("", string(f.is.Name), f.is.Arguments, at)
	}
	switch m.Role {
	case "tool", "function", "ipython":
		c.toolMessage(m, at)
	case "assistant", "user", "human", "ai":
		c.blocks(m.Content, at)
	}
}

// toolMessage takes the message with a result.
func (c *chat) toolMessage(m *message, at time.Time) {
	if m.Content.Kind() == '[' && strings.Contains(string(m.Content), `"tool_result"`) && c.blocks(m.Content, at) {
		return
	}
	r := result{output: contentText(m.Content)}
	if c.unwrap != nil {
		r = c.unwrap(r.output)
	}
	failed, known := truth(m.Error)
	var problem struct {
		Type    str `json:"type"`
		Message str `json:"message"`
	}
	switch {
	case m.Error.Kind() == '{' && decode(m.Error, &problem) == nil:
		r.outcome, r.errorType = Failed, string(problem.Type)
		if r.output == "" || r.output == "..." {
			r.output = string(problem.Message)
		}
	case known && failed, m.Status == "error":
		r.outcome = Failed
	case known, m.Status == "success":
		r.outcome = max(r.outcome, Claimed)
	}
	id := string(m.ToolCallID)
	if id == "" && len(m.ToolCallIDs) > 0 {
		id = string(m.ToolCallIDs[0])
	}
	if id == "" && slices.ContainsFunc(c.open, func(o opened) bool { return o.id == string(m.ID) }) {
		id = string(m.ID)
	}
	c.result(id, string(cmp.Or(m.Name, m.Function)), r, at)
}

// blocks takes the calls and results of Anthropic's content; found says whether
// there was one.
func (c *chat) blocks(content jsontext.Value, at time.Time) (found bool) {
	var blocks listOf[block]
	if content.Kind() != '[' || decode(content, &blocks) != nil {
		return false
	}
	for _, b := range blocks {
		switch {
		case b.Type == "tool_use", b.Type == "server_tool_use", b.Type == "mcp_tool_use":
			c.call(string(b.ID), string(b.Name), b.Input, at)
			found = true
		case b.ToolUseID != "" && strings.HasSuffix(string(b.Type), "tool_result"):
			r := result{output: contentText(b.Content), outcome: Claimed}
			if b.IsError || strings.Contains(string(b.Content), `_tool_result_error"`) {
				r.outcome = Failed
			}
			c.result(string(b.ToolUseID), "", r, at)
			found = true
		}
	}
	return found
}

// conversationDoc is a line or a file that holds whole conversations.
type conversationDoc struct {
	ID             str                    `json:"id"`
	SessionID      str                    `json:"session_id"`
	ConversationID str                    `json:"conversation_id"`
	TaskID         str                    `json:"task_id"`
	Trial          str                    `json:"trial"`
	Messages       listOf[message]        `json:"messages"`
	Traj           listOf[message]        `json:"traj"`
	Input          jsontext.Value         `json:"input"`
	Output         jsontext.Value         `json:"output"`
	Body           jsontext.Value         `json:"body"`
	Request        jsontext.Value         `json:"request"`
	Response       jsontext.Value         `json:"response"`
	Simulations    listOf[jsontext.Value] `json:"simulations"` // tau2
	Choices        listOf[struct {
		Message object[message] `json:"message"`
	}] `json:"choices"`
}

// name is what tells a conversation from all others: its id, and always a hash of
// what it holds, as benchmarks number tasks from 0 in each of their files.
func (d *conversationDoc) name(doc []byte) string {
	var parts []string
	for i, id := range []str{d.ConversationID, d.SessionID, d.ID, d.TaskID, d.Trial} {
		if i < 3 && len(id) >= uniqueID {
			return string(id)
		}
		if id != "" {
			parts = append(parts, string(id))
		}
	}
	return strings.Join(append(parts, digest(doc)), "-")
}

// readChat reads conversations in the form of OpenAI's chat, Anthropic's messages,
// tau-bench and tau2: one a document, or one whose messages are the documents.
func readChat(f *file) func(doc []byte) error {
	var whole *chat
	return func(doc []byte) error {
		var single message
		if err := decode(doc, &single); err == nil && single.Role != "" {
			if whole == nil {
				whole = f.chat(f.base + "-" + digest(doc))
				whole.unwrap = textFailure(f.format)
			}
			whole.message(&single)
			return nil
		}
		return f.conversation(doc, 0)
	}
}

// conversation takes a document that holds a conversation, also inside the request
// and the response of a logged exchange.
func (f *file) conversation(doc []byte, depth int) error {
	var d conversationDoc
	if err := decode(doc, &d); err != nil {
		return err
	}
	c := f.chat(d.name(doc))
	c.unwrap = textFailure(f.format)
	f.sayDoc(c.base.Conversation, doc)
	for _, m := range append(d.Messages, d.Traj...) {
		c.message(&m)
	}
	for _, choice := range d.Choices {
		if choice.Message.given {
			c.message(&choice.Message.is)
		}
	}
	inside := func(docs ...jsontext.Value) error {
		for _, v := range docs {
			if v.Kind() == '{' && depth == 0 {
				if err := f.conversation(v, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := inside(d.Simulations...); err != nil {
		return err
	}
	f.items(c, d.Input)
	f.items(c, d.Output)
	return inside(d.Body, d.Request, d.Response)
}

// textFailure is how a format writes a failure into the text of a result.
func textFailure(format string) func(s string) result {
	if format != "tau-bench" {
		return nil
	}
	return func(s string) result {
		r := result{output: s, outcome: Claimed}
		if strings.HasPrefix(s, "Error") {
			r.outcome = Failed
		}
		return r
	}
}
