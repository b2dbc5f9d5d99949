package compact

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"memoryd/compact/chat"
	"memoryd/compact/records"
)

// editor makes messages smaller without removing them: a large old output becomes
// a preview and a handle, an output that is repeated later points to its repeat. No
// model is asked.
type editor struct {
	c *conversation
	// later maps each long output to the last message that has it.
	later map[string]int
}

func newEditor(c *conversation) *editor {
	e := &editor{c: c, later: map[string]int{}}
	for i := range c.messages {
		for _, r := range c.messages[i].Results {
			if len(r.Text) > 200 {
				e.later[r.Text] = i
			}
		}
	}
	return e
}

// preview shortens a text to about tokens: what it holds as records, or else its
// beginning and its end, with a note that has the handle of the whole.
func (e *editor) preview(text, tool, id string, tokens int) string {
	c := e.c
	note := fmt.Sprintf("[memoryd %s: %d characters left out]", id, utf8.RuneCountInString(text))
	if records.Structured(text) {
		set := records.Collect([]records.Text{{Body: text, From: records.Result, Tool: tool}}, records.Options{Count: c.count, Redact: e.c.safe.value})
		if lines := set.Select(tokens - c.count(note) - 2).Records; len(lines) > 0 {
			return note + "\n" + e.c.safe.clean(strings.Join(lines, "\n"))
		}
	}
	limit := charsFor(text, c.count(text), tokens) - len(note)
	head := cutRunes(text, limit*2/3)
	tail := cutRunesEnd(text[len(head):], limit-limit*2/3)
	gone := text[len(head) : len(text)-len(tail)]
	if gone == "" {
		return text
	}
	first := 1 + strings.Count(head, "\n")
	note = fmt.Sprintf("[memoryd %s: %d characters left out, lines %d-%d]", id, utf8.RuneCountInString(gone), first, first+strings.Count(gone, "\n"))
	return e.c.safe.text(head) + "\n" + note + "\n" + e.c.safe.text(tail)
}

// offload gives unit u with its large outputs replaced by previews and its repeated
// outputs folded. ok is false when nothing
// became smaller.
func (e *editor) offload(u, previewTokens int) (edits map[int]chat.Message, ok bool) {
	edits = map[int]chat.Message{}
	for _, i := range e.c.units[u].Index {
		m := e.c.messages[i]
		id := originalID(m.Raw)
		for k := range m.Results {
			text := m.Results[k].Text
			if j, dup := e.later[text]; dup && j > i && len(text) > 200 {
				m, _ = m.WithOutput(k, fmt.Sprintf("[memoryd %s: the same output as a later call gave, %d characters]", id, utf8.RuneCountInString(text)))
				continue
			}
			n := e.c.count(text)
			if n < 2*previewTokens || n < 4*previewTokens && strings.Contains(text, frameOpen+"o_") {
				continue // small, or a preview already
			}
			if short := e.preview(text, toolOf(e.c, u), id, previewTokens); e.c.count(short) < n {
				m, _ = m.WithOutput(k, short)
			}
		}
		if len(m.Raw) < len(e.c.messages[i].Raw) && e.c.messageTokens(&m) < e.c.cost[i] {
			edits[i] = m
		}
	}
	return edits, len(edits) > 0
}

// charsFor converts a token budget to characters by the density of the text.
func charsFor(text string, tokens, budget int) int {
	if tokens == 0 {
		return budget * 4
	}
	return int(float64(utf8.RuneCountInString(text)) / float64(tokens) * float64(budget))
}

// toolOf names the tool of a unit with one call.
func toolOf(c *conversation, u int) string {
	if len(c.units[u].Tools) == 1 {
		return c.units[u].Tools[0]
	}
	return "output"
}

// cutRunes gives at most n characters of the beginning, whole lines where that
// costs less than a third.
func cutRunes(s string, n int) string {
	end := len(s)
	for i := range s {
		if n == 0 {
			end = i
			break
		}
		n--
	}
	if end < len(s) {
		if k := strings.LastIndexByte(s[:end], '\n'); k > end*2/3 {
			end = k
		}
	}
	return s[:end]
}

// cutRunesEnd gives at most n characters of the end.
func cutRunesEnd(s string, n int) string {
	i := len(s)
	for i > 0 && n > 0 {
		_, w := utf8.DecodeLastRuneInString(s[:i])
		i -= w
		n--
	}
	return s[i:]
}
