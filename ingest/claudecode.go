package ingest

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"
)

// readClaude reads transcripts of Claude Code. A call and its result are blocks of
// two lines; lines that a resumed or forked session repeats have the same ids.
func readClaude(f *file) func(doc []byte) error {
	return func(doc []byte) error {
		if f.message == nil && !mentions(doc, `"tool_use`, `"tool_result"`) {
			return nil
		}
		line, err := parse(doc)
		if err != nil {
			return err
		}
		f.claude(line)
		for _, l := range objects(line.at("loglines")) {
			f.claude(l)
		}
		return nil
	}
}

func (f *file) claude(line object) {
	m, aside := objectIn(line.at("message")), line.is("isSidechain")
	base := Call{Source: f.format, Conversation: cmp.Or(line.text("sessionId"), f.base), Agent: line.text("agentId"), Model: m.text("model")}
	if aside && base.Agent == "" {
		base.Agent = "sidechain"
	}
	if role := m.text("role"); !aside && !line.is("isMeta") && role != "" && len(m["content"]) > 0 { // it may be a part of one message
		f.say(base.Conversation, cmp.Or(m.text("id"), line.text("uuid")), objectOf("role", role, "content", m["content"]))
	}
	blocks, results := objects(m.at("content")), 0
	for _, b := range blocks {
		if b.text("type") == "tool_result" {
			results++
		}
	}
	at := when(line.at("timestamp"))
	for _, b := range blocks {
		c := base
		switch b.text("type") {
		case "tool_use":
			c.ID, c.Tool, c.Input, c.Begun = b.text("id"), b.text("name"), input(b.at("input")), at
		case "tool_result":
			c.ID, c.Model, c.Done = b.text("tool_use_id"), "", at
			c.end(unwrapClaude(contentText(b.at("content")), b.is("is_error")))
			if results == 1 { // what is kept beside the blocks is of this one
				c.claudeResult(line.at("toolUseResult"))
			}
		}
		if c.ID != "" {
			f.add(c)
		}
	}
}

// claudeResult adds what only the host's own account of a result shows.
func (c *Call) claudeResult(v jsontext.Value) {
	r := objectIn(v)
	if stopped(text(v)) || r.is("interrupted") {
		c.Outcome = Cancelled
	}
	if r.text("status") == "async_launched" && c.Outcome != Failed { // begun, not done
		c.Outcome = Unknown
		return
	}
	c.Duration = cmp.Or(c.Duration, r.seconds(1e-3, "durationMs", "totalDurationMs"))
}
