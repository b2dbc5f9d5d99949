package transcripts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// asked is the name of the function that a call of a chat message asks for, and its arguments.
// The function is an object (OpenAI), a name (Inspect), or missing (tau2, LangChain: args).
func asked(t loosejson.Members) (name string, args jsontext.Value) {
	return t.Text("function.name|function|name"), t.At("function.arguments|arguments|args")
}

// chat follows one conversation. It gives ids to calls that have none, and tells
// apart calls to which a model gave one id twice.
type chat struct {
	f    *file
	base accounts.Call
	open []opened
	seen map[string]int // how often an id was used, by calls that ended
	made int
	// unwrap, where there is one, reads the text of a result.
	unwrap func(s string) result
}

type opened struct{ id, tool, as string }

func (f *file) chat(conversation string) *chat {
	return &chat{f: f, base: accounts.Call{Source: f.format, Conversation: conversation, Local: true}, seen: map[string]int{}}
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
			end(&part, r)
			c.f.add(part)
			if o.id != "" {
				c.seen[o.id]++
			}
			c.open = append(c.open[:i], c.open[i+1:]...)
			return
		}
	}
}

// message takes one message of the conversation, in any of the dialects that agents log:
// OpenAI's chat and responses, Anthropic's, and what benchmarks made of them.
func (c *chat) message(m loosejson.Members) {
	at := loosejson.Time(m.At("timestamp"))
	c.base.Model = cmp.Or(c.base.Model, m.Text("model"))
	calls := loosejson.Objects(m.At("tool_calls"))
	for _, t := range calls {
		name, args := asked(t)
		c.call(t.Text("id"), name, args, at)
	}
	if len(calls) == 0 {
		c.call("", m.Text("function_call.name"), m.At("function_call.arguments"), at)
	}
	switch m.Text("role") {
	case "tool", "function", "ipython":
		c.toolMessage(m, at)
	case "assistant", "user", "human", "ai":
		c.blocks(m.At("content"), at)
	}
}

// toolMessage takes the message with a result. Its error is a boolean (tau2) or an object
// (Inspect); tau2 gives it the id of the call.
func (c *chat) toolMessage(m loosejson.Members, at time.Time) {
	content := m.At("content")
	if content.Kind() == '[' && strings.Contains(string(content), `"tool_result"`) && c.blocks(content, at) {
		return
	}
	r := result{output: contentText(content)}
	if c.unwrap != nil {
		r = c.unwrap(r.output)
	}
	failed, known := loosejson.Truth(m.At("error"))
	switch problem, status := loosejson.MembersOf(m.At("error")), m.Text("status"); {
	case problem != nil:
		r.outcome, r.errorType = accounts.Failed, problem.Text("type")
		if r.output == "" || r.output == "..." {
			r.output = problem.Text("message")
		}
	case known && failed, status == "error":
		r.outcome = accounts.Failed
	case known, status == "success":
		r.outcome = max(r.outcome, accounts.Claimed)
	}
	id := m.Text("tool_call_id")
	if ids := loosejson.Elements(m.At("tool_call_ids")); id == "" && len(ids) > 0 { // SWE-agent
		id = loosejson.TextOf(ids[0])
	}
	if own := m.Text("id"); id == "" && slices.ContainsFunc(c.open, func(o opened) bool { return o.id == own }) {
		id = own
	}
	c.result(id, m.Text("name|function"), r, at)
}

// blocks takes the calls and results of Anthropic's content; found says whether
// there was one.
func (c *chat) blocks(content jsontext.Value, at time.Time) (found bool) {
	for _, b := range loosejson.Objects(content) {
		switch kind, of := b.Text("type"), b.Text("tool_use_id"); {
		case kind == "tool_use", kind == "server_tool_use", kind == "mcp_tool_use":
			c.call(b.Text("id"), b.Text("name"), b.At("input"), at)
			found = true
		case of != "" && strings.HasSuffix(kind, "tool_result"):
			said := b.At("content")
			r := result{output: contentText(said), outcome: accounts.Claimed}
			if b.Is("is_error") || strings.Contains(string(said), `_tool_result_error"`) {
				r.outcome = accounts.Failed
			}
			c.result(of, "", r, at)
			found = true
		}
	}
	return found
}

// nameOf is what tells a conversation from all others: its id, and always a hash of
// what it holds, as benchmarks number tasks from 0 in each of their files.
func nameOf(d loosejson.Members, doc []byte) string {
	var parts []string
	for i, path := range []string{"conversation_id", "session_id", "id", "task_id", "trial"} {
		id := d.Text(path)
		if i < 3 && len(id) >= accounts.UniqueID {
			return id
		}
		if id != "" {
			parts = append(parts, id)
		}
	}
	return strings.Join(append(parts, accounts.Digest(doc)), "-")
}

// readChat reads conversations in the form of OpenAI's chat, Anthropic's messages,
// tau-bench and tau2: one a document, or one whose messages are the documents.
func readChat(f *file) reader {
	var whole *chat
	return func(d loosejson.Members, doc []byte) {
		if d.Text("role") == "" {
			f.conversation(d, doc, 0)
			return
		}
		if whole == nil {
			whole = f.chat(f.base + "-" + accounts.Digest(doc))
			whole.unwrap = textFailure(f.format)
		}
		whole.message(d)
	}
}

// conversation takes a document that holds a conversation, also inside the request
// and the response of a logged exchange.
func (f *file) conversation(d loosejson.Members, doc []byte, depth int) {
	c := f.chat(nameOf(d, doc))
	c.unwrap = textFailure(f.format)
	f.sayDoc(c.base.Conversation, d)
	for _, m := range append(loosejson.Objects(d.At("messages")), loosejson.Objects(d.At("traj"))...) {
		c.message(m)
	}
	for _, choice := range loosejson.Objects(d.At("choices")) {
		c.message(loosejson.MembersOf(choice.At("message")))
	}
	inside := func(docs ...jsontext.Value) {
		for _, v := range docs {
			if inner := loosejson.MembersOf(v); inner != nil && depth == 0 {
				f.conversation(inner, v, depth+1)
			}
		}
	}
	inside(loosejson.Elements(d.At("simulations"))...)
	for _, i := range append(loosejson.Objects(d.At("input")), loosejson.Objects(d.At("output"))...) {
		f.item(c.base, i, time.Time{})
	}
	inside(d.At("body"), d.At("request"), d.At("response"))
}

// textFailure is how a format writes a failure into the text of a result.
func textFailure(format string) func(s string) result {
	if format != "tau-bench" {
		return nil
	}
	return func(s string) result {
		r := result{output: s, outcome: accounts.Claimed}
		if strings.HasPrefix(s, "Error") {
			r.outcome = accounts.Failed
		}
		return r
	}
}
