package transcripts

import (
	"context"
	"errors"
	"slices"

	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// talkative are the formats that hold what was said, in messages that can be made
// smaller: the others hold calls alone, or messages as they are.
var talkative = []string{"claude-code", "codex", "gemini", "swe-agent", "tau-bench"}

// HoldsConversations reports whether Conversations reads a format.
func HoldsConversations(format string) bool { return slices.Contains(talkative, format) }

// maxTalk bounds what the conversations of one file may hold.
const maxTalk = 128 << 20

// errTooMuchTalk says that they hold more.
var errTooMuchTalk = errors.New("the conversations of the file hold more than 128 MiB")

// Conversation holds the messages of one session in the format of the host's API:
// Anthropic's, OpenAI's chat, or items of the Responses API.
type Conversation struct {
	Name     string
	Messages []jsontext.Value

	last string // the id of the newest message
}

// Conversations reads the complete conversations of a file, in the order in which they began.
// Sub-agents and repeated lines are left out.
func Conversations(ctx context.Context, path string) (all []*Conversation, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	byName, seen, size := map[string]*Conversation{}, map[string]bool{}, 0
	_, err = ReadFile(ctx, path, Options{message: func(name, id string, m jsontext.Value) {
		c := byName[name]
		if c == nil {
			c = &Conversation{Name: name}
			byName[name] = c
			all = append(all, c)
		}
		if size += len(m); size > maxTalk {
			cancel(errTooMuchTalk)
			return
		}
		if id != "" && id == c.last && c.extend(m) {
			return
		}
		if key := name + "\x00" + id; id == "" || !seen[key] {
			seen[key] = true
			c.last = id
			c.Messages = append(c.Messages, m.Clone())
		}
	}})
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return all, err
}

// extend adds the blocks of m to the newest message, of which it is a further part.
func (c *Conversation) extend(m jsontext.Value) bool {
	last := &c.Messages[len(c.Messages)-1]
	old, more := loosejson.MembersOf(*last), loosejson.MembersOf(m)
	blocks := loosejson.Elements(old.At("content"))
	if old.Text("role") != more.Text("role") || len(blocks) == 0 {
		return false
	}
	*last = objectOf("role", old.Text("role"), "content", loosejson.Join(append(blocks, loosejson.Elements(more.At("content"))...)))
	return true
}

// say gives a message to who wants the conversations.
func (f *file) say(conversation, id string, m jsontext.Value) {
	if f.message != nil {
		f.message(conversation, id, m)
	}
}

// sayDoc gives the messages of a document that holds a conversation.
func (f *file) sayDoc(conversation string, d loosejson.Members) {
	for _, path := range []string{"messages", "traj", "history"} {
		for _, m := range loosejson.Elements(d.At(path)) {
			f.say(conversation, "", m)
		}
	}
}

// sayGemini gives a message of Gemini CLI in the form of OpenAI's chat.
func (f *file) sayGemini(conversation string, d loosejson.Members, made []loosejson.Members) {
	said, id := contentText(d.At("content")), d.Text("id")
	switch kind := d.Text("type"); {
	case kind == "user" && said != "":
		f.say(conversation, id, objectOf("role", "user", "content", said))
	case kind == "gemini" && (len(made) > 0 || said != ""):
		var calls []jsontext.Value
		for _, g := range made {
			call := objectOf("name", g.Text("name"), "arguments", string(g["args"]))
			calls = append(calls, objectOf("type", "function", "id", g.Text("id"), "function", call))
		}
		m := []any{"role", "assistant", "content", said}
		if len(calls) > 0 {
			m, id = append(m, "tool_calls", loosejson.Join(calls)), id+"+"
		}
		f.say(conversation, id, objectOf(m...))
		for _, g := range made {
			answer := objectOf("role", "tool", "content", geminiResult(g).output, "tool_call_id", g.Text("id"))
			f.say(conversation, g.Text("id")+"="+g.Text("status"), answer)
		}
	}
}
