package ingest

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"
)

// claudeLine is a line of a transcript of Claude Code.
type claudeLine struct {
	Type      str            `json:"type"`
	Timestamp jsontext.Value `json:"timestamp"`
	SessionID str            `json:"sessionId"`
	AgentID   str            `json:"agentId"`
	UUID      str            `json:"uuid"`
	Meta      bool           `json:"isMeta"`
	Sidechain bool           `json:"isSidechain"`
	Message   object[struct {
		ID      str            `json:"id"`
		Role    str            `json:"role"`
		Content jsontext.Value `json:"content"`
		Model   str            `json:"model"`
	}] `json:"message"`
	Result   jsontext.Value             `json:"toolUseResult"`
	Loglines listOf[object[claudeLine]] `json:"loglines"`
}

// claudeResult is what Claude Code keeps of a tool's result for itself.
type claudeResult struct {
	Interrupted bool           `json:"interrupted"`
	Status      str            `json:"status"`
	Duration    jsontext.Value `json:"durationMs"`
	Total       jsontext.Value `json:"totalDurationMs"`
}

// readClaude reads transcripts of Claude Code. A call and its result are blocks of
// two lines; lines that a resumed or forked session repeats have the same ids.
func readClaude(f *file) func(doc []byte) error {
	return func(doc []byte) error {
		if f.message == nil && !mentions(doc, `"tool_use`, `"tool_result"`) {
			return nil
		}
		var line claudeLine
		if err := decode(doc, &line); err != nil {
			return err
		}
		f.claude(&line)
		for i := range line.Loglines {
			f.claude(&line.Loglines[i].is)
		}
		return nil
	}
}

func (f *file) claude(line *claudeLine) {
	base := Call{Source: f.format, Conversation: cmp.Or(string(line.SessionID), f.base), Agent: string(line.AgentID), Model: string(line.Message.is.Model)}
	if line.Sidechain && base.Agent == "" {
		base.Agent = "sidechain"
	}
	f.sayClaude(line, base.Conversation)
	var blocks listOf[block]
	if c := line.Message.is.Content; c.Kind() != '[' || decode(c, &blocks) != nil {
		return
	}
	results := 0
	for _, b := range blocks {
		if b.Type == "tool_result" {
			results++
		}
	}
	at := when(line.Timestamp)
	for _, b := range blocks {
		c := base
		switch b.Type {
		case "tool_use":
			c.ID, c.Tool, c.Input, c.Begun = string(b.ID), string(b.Name), input(b.Input), at
		case "tool_result":
			c.ID, c.Model, c.Done = string(b.ToolUseID), "", at
			c.end(unwrapClaude(contentText(b.Content), b.IsError))
			if results == 1 { // what is kept beside the blocks is of this one
				c.claudeResult(line.Result)
			}
		}
		if c.ID != "" {
			f.add(c)
		}
	}
}

// claudeResult adds what only the host's own account of a result shows.
func (c *Call) claudeResult(v jsontext.Value) {
	if v.Kind() == '"' && stopped(text(v)) {
		c.Outcome = Cancelled
	}
	var r claudeResult
	if v.Kind() != '{' || decode(v, &r) != nil {
		return
	}
	if r.Interrupted {
		c.Outcome = Cancelled
	}
	if r.Status == "async_launched" && c.Outcome != Failed { // begun, not done
		c.Outcome = Unknown
		return
	}
	for _, d := range []jsontext.Value{r.Duration, r.Total} {
		if ms, ok := number(d); ok && c.Duration == 0 {
			c.Duration = seconds(ms / 1e3)
		}
	}
}
