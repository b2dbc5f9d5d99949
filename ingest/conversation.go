package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"

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

// blocksOf are a message's role and its content as blocks.
type blocksOf struct {
	Role    str                    `json:"role"`
	Content listOf[jsontext.Value] `json:"content"`
}

// extend adds the blocks of m to the newest message, of which it is a further part.
func (c *Conversation) extend(m jsontext.Value) bool {
	var old, more blocksOf
	last := &c.Messages[len(c.Messages)-1]
	if decode(*last, &old) != nil || decode(m, &more) != nil || old.Role != more.Role || len(old.Content) == 0 {
		return false
	}
	*last = objectOf("role", old.Role, "content", join(append(old.Content, more.Content...)))
	return true
}

// say gives a message to who wants the conversations.
func (f *file) say(conversation, id string, m jsontext.Value) {
	if f.message != nil {
		f.message(conversation, id, m)
	}
}

// sayDoc gives the messages of a document that holds a conversation.
func (f *file) sayDoc(conversation string, doc []byte) {
	var d struct {
		Messages listOf[jsontext.Value] `json:"messages"`
		Traj     listOf[jsontext.Value] `json:"traj"`
		History  listOf[jsontext.Value] `json:"history"`
	}
	if f.message == nil || decode(doc, &d) != nil {
		return
	}
	for _, m := range slices.Concat(d.Messages, d.Traj, d.History) {
		f.say(conversation, "", m)
	}
}

// sayClaude gives the message of a line of Claude Code, which may be a part of one.
func (f *file) sayClaude(line *claudeLine, conversation string) {
	m := line.Message.is
	if line.Sidechain || line.Meta || m.Role == "" || len(m.Content) == 0 {
		return
	}
	f.say(conversation, string(cmp.Or(m.ID, line.UUID)), objectOf("role", m.Role, "content", m.Content))
}

// sayGemini gives a message of Gemini CLI in the form of OpenAI's chat.
func (f *file) sayGemini(conversation string, d *geminiDoc) {
	said := contentText(d.Content)
	switch {
	case d.Type == "user" && said != "":
		f.say(conversation, string(d.ID), objectOf("role", "user", "content", said))
	case d.Type == "gemini" && (len(d.Calls) > 0 || said != ""):
		var calls []jsontext.Value
		for _, g := range d.Calls {
			calls = append(calls, objectOf("type", "function", "id", g.ID, "function", objectOf("name", g.Name, "arguments", string(g.Args))))
		}
		m, id := []any{"role", "assistant", "content", said}, string(d.ID)
		if len(calls) > 0 {
			m, id = append(m, "tool_calls", join(calls)), id+"+"
		}
		f.say(conversation, id, objectOf(m...))
		for i := range d.Calls {
			g := &d.Calls[i]
			f.say(conversation, string(g.ID+"="+g.Status), objectOf("role", "tool", "content", g.result().output, "tool_call_id", g.ID))
		}
	}
}
