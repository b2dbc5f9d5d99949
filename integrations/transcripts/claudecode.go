package transcripts

import (
	"cmp"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// claude reads a line of a transcript of Claude Code. A call and its result are blocks of
// two lines; lines that a resumed or forked session repeats have the same ids.
func (f *file) claude(line loosejson.Members, _ []byte) {
	m, aside := loosejson.MembersOf(line.At("message")), line.Is("isSidechain")
	base := accounts.Call{
		Source: f.format, Conversation: cmp.Or(line.Text("sessionId"), f.base), Agent: line.Text("agentId"), Model: m.Text("model"),
	}
	if aside && base.Agent == "" {
		base.Agent = "sidechain"
	}
	if role := m.Text("role"); !aside && !line.Is("isMeta") && role != "" && len(m["content"]) > 0 { // it may be a part of one message
		f.say(base.Conversation, cmp.Or(m.Text("id"), line.Text("uuid")), objectOf("role", role, "content", m["content"]))
	}
	blocks, results := loosejson.Objects(m.At("content")), 0
	for _, b := range blocks {
		if b.Text("type") == "tool_result" {
			results++
		}
	}
	at := loosejson.Time(line.At("timestamp"))
	for _, b := range blocks {
		c := base
		switch b.Text("type") {
		case "tool_use":
			c.ID, c.Tool, c.Input, c.Begun = b.Text("id"), b.Text("name"), input(b.At("input")), at
		case "tool_result":
			c.ID, c.Model, c.Done = b.Text("tool_use_id"), "", at
			end(&c, unwrapClaude(contentText(b.At("content")), b.Is("is_error")))
			if results == 1 { // what is kept beside the blocks is of this one
				claudeResult(&c, line.At("toolUseResult"))
			}
		}
		if c.ID != "" {
			f.add(c)
		}
	}
}

// claudeResult adds what only the host's own account of a result shows.
func claudeResult(c *accounts.Call, v jsontext.Value) {
	r := loosejson.MembersOf(v)
	if stopped(loosejson.Text(v)) || r.Is("interrupted") {
		c.Outcome = accounts.Cancelled
	}
	if r.Text("status") == "async_launched" && c.Outcome != accounts.Failed { // begun, not done
		c.Outcome = accounts.Unknown
		return
	}
	c.Duration = cmp.Or(c.Duration, secondsOf(r, 1e-3, "durationMs", "totalDurationMs"))
}
