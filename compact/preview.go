package compact

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"memoryd/compact/chat"
	"memoryd/compact/facts"
	"memoryd/internal/textsafe"
)

// The first tier: what is large and old becomes a preview and a handle, what is
// repeated points to its repeat, long arguments are shortened. No model is asked.

// previewFacts is the share of a preview that goes to the facts of what it
// leaves out.
const previewFacts = 0.4

// preview shortens a text to about limit characters: its beginning, a note with
// the handle and the facts of what is missing, and its end. The note says which
// lines are missing so that a reader can go on from there.
func (t *tiers) preview(text, id string, limit int) string {
	runes := utf8.RuneCountInString(text)
	note := func(gone string, first, last int) string {
		return fmt.Sprintf("[memoryd %s: %d characters left out, lines %d-%d]", id, utf8.RuneCountInString(gone), first, last)
	}
	room := limit - len(note(text, 100, 1000))
	keep := max(0, room-int(previewFacts*float64(limit)))
	head := cutRunes(text, keep*2/3)
	tail := textsafe.TailRunes(text[len(head):], keep-keep*2/3)
	gone := text[len(head) : len(text)-len(tail)]
	if runes <= limit || gone == "" {
		return text
	}
	first := 1 + strings.Count(head, "\n")
	last := first + strings.Count(gone, "\n")
	n := note(gone, first, last)
	set := t.facts.Collect([]facts.Span{{Text: gone, Source: facts.FromResult}}, facts.Options{ArgNames: t.c.argNames, Hide: t.hide(), Weights: t.weights})
	block := set.Block(limit-keep-utf8.RuneCountInString(n)-2, func(v string) bool {
		return strings.Contains(head, v) || strings.Contains(tail, v)
	})
	if block != "" {
		n += "\n" + t.clean(block)
	}
	return t.redact(head) + "\n" + n + "\n" + t.redact(tail)
}

// tiers carries what the tiers share during one run.
type tiers struct {
	c        *conversation
	redactOn bool
	weights  *facts.Weights
	facts    facts.Collector // for the texts of previews, one after the other
}

func (t *tiers) hide() func(label, value string) bool {
	if !t.redactOn {
		return nil
	}
	return func(label, value string) bool { return textsafe.SecretName(label) || textsafe.HasSecret(value) }
}

func (t *tiers) redact(s string) string {
	if !t.redactOn {
		return s
	}
	return textsafe.Mask(s)
}

// clean keeps text of ours on its lines and from imitating our frame. Blocks of
// facts have their own line structure, which stays.
func (t *tiers) clean(s string) string { return strings.ReplaceAll(s, frameOpen, "(memoryd ") }

// offload gives unit u with its large outputs replaced by previews, its repeated
// outputs folded and its long arguments shortened. ok is false when nothing
// became smaller. later maps an output text to a later message with the same.
func (t *tiers) offload(u, previewTokens int, later map[string]int) (edits map[int]chat.Message, ok bool) {
	edits = map[int]chat.Message{}
	for _, i := range t.c.units[u].Index {
		m := t.c.messages[i]
		id := originalID(m.Raw)
		for k := range m.Results {
			text := m.Results[k].Text
			if j, dup := later[text]; dup && j > i && len(text) > 200 {
				m, _ = m.WithOutput(k, fmt.Sprintf("[memoryd %s: the same output as a later call gave, %d characters]", id, utf8.RuneCountInString(text)))
				continue
			}
			n := t.c.count(text)
			if n < 2*previewTokens || n < 4*previewTokens && strings.Contains(text, frameOpen+"o_") {
				continue // small, or a preview already
			}
			if short := t.preview(text, id, charsFor(text, n, previewTokens)); t.c.count(short) < n {
				m, _ = m.WithOutput(k, short)
			}
		}
		for k := range m.Calls {
			if t.c.count(m.Calls[k].Args) < 3*previewTokens {
				continue
			}
			if args, changed := t.shortArgs(m.Calls[k].Args, id, previewTokens); changed {
				m, _ = m.WithArgs(k, args)
			}
		}
		if len(m.Raw) < len(t.c.messages[i].Raw) && t.c.messageTokens(&m) < t.c.cost[i] {
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

// cutRunes gives at most n characters of the beginning, whole lines where that
// costs less than a third.
func cutRunes(s string, n int) string {
	end := len(textsafe.HeadRunes(s, n))
	if end < len(s) {
		if k := strings.LastIndexByte(s[:end], '\n'); k > end*2/3 {
			end = k
		}
	}
	return s[:end]
}
