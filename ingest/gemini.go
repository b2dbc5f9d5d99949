package ingest

// readGemini reads chats of Gemini CLI: a line of one, or the whole chat as older versions
// wrote it. A message is written again when its calls have ended, so the accounts of a call
// are joined by its id. What a rewind takes out of the conversation was done nevertheless,
// and stays.
func readGemini(f *file) func(doc []byte) error {
	base := Call{Source: f.format, Conversation: f.base}
	return func(doc []byte) error {
		if f.message == nil && !mentions(doc, `"sessionId"`, `"toolCalls"`) {
			return nil
		}
		d, err := parse(doc)
		if err != nil {
			return err
		}
		if id := d.text("sessionId"); id != "" {
			base.Conversation = id
			if d.text("kind") == "subagent" {
				base.Agent = id
			}
		}
		f.gemini(base, d)
		for _, path := range []string{"messages", "$set.messages", "$push.messages"} { // edits of what was written before
			for _, m := range objects(d.at(path)) {
				f.gemini(base, m)
			}
		}
		return nil
	}
}

func (f *file) gemini(base Call, d object) {
	calls := objects(d.at("toolCalls"))
	f.sayGemini(base.Conversation, d, calls)
	for _, g := range calls {
		c := base
		c.ID, c.Tool, c.Input, c.Model = g.text("id"), g.text("name"), input(g.at("args")), d.text("model")
		if c.ID == "" || c.Tool == "" {
			continue
		}
		switch g.text("status") {
		case "success", "error", "cancelled":
			c.Done = when(g.at("timestamp"))
			c.end(geminiResult(g))
		}
		f.add(c)
	}
}

func geminiResult(g object) (r result) {
	parts := objects(g.at("result"))
	for i, part := range parts {
		failure, output := part.at("functionResponse.response.error"), part.at("functionResponse.response.output")
		switch {
		case i > 0: // what the response only announced
			if t := text(part["text"]); t != "" {
				r.output += "\n" + t
			}
		case there(failure):
			r.output, r.outcome = contentText(failure), Failed
			if stopped(r.output) {
				r.outcome = Cancelled
			}
		case there(output):
			r = unwrapGemini(contentText(output))
		}
	}
	if r.output == "" && len(parts) == 0 {
		r.output = text(g["resultDisplay"])
	}
	switch g.text("status") {
	case "error":
		r.outcome = max(r.outcome, Failed)
	case "cancelled":
		r.outcome = Cancelled
	default:
		r.outcome = max(r.outcome, Claimed)
	}
	return r
}
