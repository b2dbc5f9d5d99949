package compact

import (
	"strings"

	"memoryd/compact/chat"
	"memoryd/compact/facts"
)

// spansOf lists the texts of a message that facts are taken from.
func spansOf(m *chat.Message, place int) []facts.Span {
	var out []facts.Span
	add := func(src facts.Source, text string) {
		if text != "" {
			out = append(out, facts.Span{Text: text, Source: src, Place: place})
		}
	}
	from := facts.FromAssistant
	if m.Role == "user" {
		from = facts.FromUser
	}
	for _, s := range m.Texts {
		add(from, s)
	}
	for _, s := range m.Reasoning {
		add(facts.FromAssistant, s)
	}
	for _, c := range m.Calls {
		add(facts.FromArgs, c.Args)
	}
	for _, r := range m.Results {
		add(facts.FromResult, r.Text)
	}
	for _, s := range m.Other {
		add(facts.FromResult, s)
	}
	return out
}

// factSpans are the spans without the notes of previews, whose numbers are ours.
func factSpans(m *chat.Message, place int) []facts.Span {
	spans := spansOf(m, place)
	for i := range spans {
		spans[i].Text = withoutNotes(spans[i].Text)
	}
	return spans
}

// maxNote bounds the note of a preview, in bytes.
const maxNote = 160

func withoutNotes(text string) string {
	if !strings.Contains(text, frameOpen+"o_") {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, frameOpen)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		note, _, closed := strings.Cut(after[:min(len(after), maxNote)], "]")
		if id, _, _ := strings.Cut(note, ":"); closed && strings.HasPrefix(id, "o_") && ValidID(id) {
			text = after[len(note)+1:]
			continue
		}
		b.WriteString(frameOpen)
		text = after
	}
}

// olderSummary takes an earlier summary apart: its facts keep their labels and
// rank, its lines stay lines. A fact on the first line counts as new as the
// newest message.
func (t *tiers) olderSummary(u int) ([]facts.Span, []line) {
	var ledger []facts.Span
	var ls []line
	for l := range strings.SplitSeq(t.c.messages[t.c.units[u].First()].Text(), "\n") {
		switch {
		case strings.HasPrefix(l, "- ") || strings.HasPrefix(l, "> "):
			ls = append(ls, line{-1, l, 2})
		case strings.Contains(l, ": ") && !strings.Contains(l, frameOpen):
			place := max(0, len(t.c.messages)-1-len(ledger))
			sp := facts.Span{Text: l, Source: facts.FromLedger, Ledger: true, Place: place}
			if rest, ok := strings.CutPrefix(l, facts.UserMark); ok {
				sp.Text, sp.Source = rest, facts.FromUser
			}
			ledger = append(ledger, sp)
		}
	}
	for n := range ls {
		ls[n].worth += float64(n) / float64(len(ls))
		if strings.HasPrefix(ls[n].text, "- user: ") {
			ls[n].worth++
		}
	}
	return ledger, ls
}
