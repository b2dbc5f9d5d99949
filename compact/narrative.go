package compact

import (
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd/compact/chat"
	"memoryd/internal/errortext"
	"memoryd/internal/textsafe"
)

// line is one line of the deterministic summary: what one message or group was.
type line struct {
	unit  int // for the order; -1 for what came before all
	text  string
	worth float64
}

// longest lines by who speaks, in characters.
const (
	userLine      = 280
	assistantLine = 180
	argsPart      = 100
	outputPart    = 160
)

// story writes the lines of the given units.
func (t *tiers) story(units []int) []line {
	var ls []line
	for n, u := range units {
		recent := 1.5 * float64(n+1) / float64(len(units))
		unit := &t.c.units[u]
		switch {
		case unit.Calls:
			ls = append(ls, t.groupLines(u, recent)...)
		default:
			for _, i := range unit.Index {
				if l, ok := t.messageLine(u, &t.c.messages[i], recent); ok {
					ls = append(ls, l)
				}
			}
		}
	}
	return ls
}

func (t *tiers) messageLine(u int, m *chat.Message, recent float64) (line, bool) {
	text := oneLine(cutRunes(m.Text(), 8*userLine))
	who, limit, worth := m.Role, assistantLine, 1.0
	switch {
	case len(m.Results) > 0:
		who, text, worth = "result without its call", oneLine(m.Results[0].Text), 2.5
	case m.Kind == chat.User:
		limit, worth = userLine, 3
	}
	if m.Media > 0 {
		text = strings.TrimSpace(text + " (with an image or file)")
	}
	if text == "" {
		return line{}, false
	}
	return line{u, t.say(who + ": " + textsafe.Cut(text, limit)), worth + recent}, true
}

// groupLines writes one line per call of a group: name, arguments, outcome.
func (t *tiers) groupLines(u int, recent float64) []line {
	var ls []line
	outputs := map[string]string{}
	var calls []chat.Call
	for _, i := range t.c.units[u].Index {
		m := &t.c.messages[i]
		calls = append(calls, m.Calls...)
		for _, r := range m.Results {
			k := r.ID
			if r.Legacy {
				k = "f:" + r.Name
			}
			outputs[k] = r.Text
		}
		if text := oneLine(cutRunes(m.Text(), 8*assistantLine)); text != "" {
			who, worth := "assistant: ", 0.8
			if m.FromUser() {
				who, worth = "user: ", 3
			}
			ls = append(ls, line{u, t.say(who + textsafe.Cut(text, assistantLine)), worth + recent})
		}
	}
	for _, c := range calls {
		k := c.ID
		if c.Legacy {
			k = "f:" + c.Name
		}
		out, worth := outcome(outputs[k])
		ls = append(ls, line{u, t.say(c.Name + "(" + textsafe.Cut(bareJSON(cutRunes(c.Args, 8*argsPart)), argsPart) + ") → " + out), worth + recent})
	}
	return ls
}

// outcome is the telling part of an output: the line that reports a failure, or
// the beginning.
func outcome(text string) (string, float64) {
	for l := range strings.Lines(text) {
		if errortext.At(l[:min(len(l), 300)]) >= 0 {
			return textsafe.Cut(oneLine(l), outputPart), 2.5
		}
	}
	if strings.TrimSpace(text) == "" {
		return "(nothing)", 1.5
	}
	return textsafe.Cut(bareJSON(oneLine(text[:min(len(text), 4*outputPart)])), outputPart), 2
}

// say makes a line safe to stand in the summary.
func (t *tiers) say(s string) string { return "- " + t.clean(t.redact(s)) }

// tell picks the lines most worth their space, at most limit characters, and
// gives them in order.
func tell(ls []line, limit int) string {
	order := make([]int, len(ls))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ls[a].worth > ls[b].worth:
			return -1
		case ls[a].worth < ls[b].worth:
			return 1
		}
		return b - a
	})
	var picked []int
	for _, k := range order {
		n := utf8.RuneCountInString(ls[k].text) + 1
		if n > limit && limit > 80 {
			ls[k].text = textsafe.Cut(ls[k].text, limit-2)
			n = utf8.RuneCountInString(ls[k].text) + 1
		}
		if n > limit {
			continue
		}
		limit -= n
		picked = append(picked, k)
	}
	slices.Sort(picked)
	var b strings.Builder
	seen := ""
	for _, k := range picked {
		if ls[k].text == seen {
			continue
		}
		seen = ls[k].text
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(ls[k].text)
	}
	return b.String()
}

// oneLine folds white space and control characters to single spaces.
func oneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029
	}), " ")
}

// isOneLine reports whether oneLine has nothing to do: ASCII without control
// characters, spaces at the ends or several in a row.
func isOneLine(s string) bool {
	before := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return s == "" || before != ' '
}

// jsonMarks maps the marks of JSON to what a reader needs of them.
//
//nolint:gochecknoglobals // a constant
var jsonMarks = strings.NewReplacer(`"`, "", "{", "", "}", "", `\n`, " ", `\`, "")

// bareJSON drops the punctuation of JSON that a reader does not need.
func bareJSON(s string) string {
	return jsonMarks.Replace(oneLine(s))
}
