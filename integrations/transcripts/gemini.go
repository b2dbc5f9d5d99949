package transcripts

import (
	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"
)

// readGemini reads chats of Gemini CLI: a line of one, or the whole chat as older versions
// wrote it. A message is written again when its calls have ended, so the accounts of a call
// are joined by its id. What a rewind takes out of the conversation was done nevertheless,
// and stays.
func readGemini(f *file) reader {
	base := accounts.Call{Source: f.format, Conversation: f.base}
	return func(d loosejson.Members, _ []byte) {
		if id := d.Text("sessionId"); id != "" {
			base.Conversation = id
			if d.Text("kind") == "subagent" {
				base.Agent = id
			}
		}
		f.gemini(base, d)
		for _, path := range []string{"messages", "$set.messages", "$push.messages"} { // edits of what was written before
			for _, m := range loosejson.Objects(d.At(path)) {
				f.gemini(base, m)
			}
		}
	}
}

func (f *file) gemini(base accounts.Call, d loosejson.Members) {
	calls := loosejson.Objects(d.At("toolCalls"))
	f.sayGemini(base.Conversation, d, calls)
	for _, g := range calls {
		c := base
		c.ID, c.Tool, c.Input, c.Model = g.Text("id"), g.Text("name"), input(g.At("args")), d.Text("model")
		if c.ID == "" || c.Tool == "" {
			continue
		}
		switch g.Text("status") {
		case "success", "error", "cancelled":
			c.Done = loosejson.Time(g.At("timestamp"))
			end(&c, geminiResult(g))
		}
		f.add(c)
	}
}

func geminiResult(g loosejson.Members) (r result) {
	parts := loosejson.Objects(g.At("result"))
	for i, part := range parts {
		failure, output := part.At("functionResponse.response.error"), part.At("functionResponse.response.output")
		switch {
		case i > 0: // what the response only announced
			if t := loosejson.Text(part["text"]); t != "" {
				r.output += "\n" + t
			}
		case loosejson.There(failure):
			r.output, r.outcome = contentText(failure), accounts.Failed
			if stopped(r.output) {
				r.outcome = accounts.Cancelled
			}
		case loosejson.There(output):
			r = unwrapGemini(contentText(output))
		}
	}
	if r.output == "" && len(parts) == 0 {
		r.output = loosejson.Text(g["resultDisplay"])
	}
	switch g.Text("status") {
	case "error":
		r.outcome = max(r.outcome, accounts.Failed)
	case "cancelled":
		r.outcome = accounts.Cancelled
	default:
		r.outcome = max(r.outcome, accounts.Claimed)
	}
	return r
}
