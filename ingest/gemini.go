package ingest

import "github.com/go-json-experiment/json/jsontext"

// geminiDoc is a line of a chat that Gemini CLI recorded, or the whole chat as
// older versions wrote it.
type geminiDoc struct {
	ID        str                       `json:"id"`
	Type      str                       `json:"type"`
	Content   jsontext.Value            `json:"content"`
	SessionID str                       `json:"sessionId"`
	Kind      str                       `json:"kind"`
	Model     str                       `json:"model"`
	Calls     listOf[geminiCall]        `json:"toolCalls"`
	Messages  listOf[object[geminiDoc]] `json:"messages"`
	Set       object[geminiSet]         `json:"$set"`
	Push      object[geminiSet]         `json:"$push"`
}

// geminiSet is an edit of what was written before.
type geminiSet struct {
	Messages jsontext.Value `json:"messages"`
}

type geminiCall struct {
	ID        str            `json:"id"`
	Name      str            `json:"name"`
	Args      jsontext.Value `json:"args"`
	Status    str            `json:"status"`
	Timestamp jsontext.Value `json:"timestamp"`
	Display   jsontext.Value `json:"resultDisplay"`
	Result    listOf[struct {
		FunctionResponse struct {
			Response struct {
				Output jsontext.Value `json:"output"`
				Error  jsontext.Value `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
		Text jsontext.Value `json:"text"`
	}] `json:"result"`
}

// readGemini reads chats of Gemini CLI. A message is written again when its calls
// have ended, so the accounts of a call are joined by its id. What a rewind takes
// out of the conversation was done nevertheless, and stays.
func readGemini(f *file) func(doc []byte) error {
	base := Call{Source: f.format, Conversation: f.base}
	return func(doc []byte) error {
		if f.message == nil && !mentions(doc, `"sessionId"`, `"toolCalls"`) {
			return nil
		}
		var d geminiDoc
		if err := decode(doc, &d); err != nil {
			return err
		}
		if d.SessionID != "" {
			base.Conversation = string(d.SessionID)
			if d.Kind == "subagent" {
				base.Agent = base.Conversation
			}
		}
		f.gemini(base, &d)
		for i := range d.Messages {
			f.gemini(base, &d.Messages[i].is)
		}
		for _, edit := range []object[geminiSet]{d.Set, d.Push} {
			var edited listOf[object[geminiDoc]]
			if edit.is.Messages.Kind() == '[' && decode(edit.is.Messages, &edited) == nil {
				for i := range edited {
					f.gemini(base, &edited[i].is)
				}
			}
		}
		return nil
	}
}

func (f *file) gemini(base Call, d *geminiDoc) {
	f.sayGemini(base.Conversation, d)
	for _, g := range d.Calls {
		c := base
		c.ID, c.Tool, c.Input, c.Model = string(g.ID), string(g.Name), input(g.Args), string(d.Model)
		if c.ID == "" || c.Tool == "" {
			continue
		}
		switch g.Status {
		case "success", "error", "cancelled":
			c.Done = when(g.Timestamp)
			c.end(g.result())
		}
		f.add(c)
	}
}

func (g *geminiCall) result() (r result) {
	for i, part := range g.Result {
		response := part.FunctionResponse.Response
		switch {
		case i > 0: // what the response only announced
			if t := text(part.Text); t != "" {
				r.output += "\n" + t
			}
		case there(response.Error):
			r.output, r.outcome = contentText(response.Error), Failed
			if stopped(r.output) {
				r.outcome = Cancelled
			}
		case there(response.Output):
			r = unwrapGemini(contentText(response.Output))
		}
	}
	if r.output == "" && len(g.Result) == 0 {
		r.output = text(g.Display)
	}
	switch g.Status {
	case "error":
		r.outcome = max(r.outcome, Failed)
	case "cancelled":
		r.outcome = Cancelled
	default:
		r.outcome = max(r.outcome, Claimed)
	}
	return r
}
