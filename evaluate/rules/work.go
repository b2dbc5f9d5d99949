package rules

import (
	"slices"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// usageLines are the lines of an output among which programs say how they are used.
const usageLines = 8

// usageText: a usage text that was asked for is what was wanted, even if it is full of words for
// errors; one that nobody asked for means that the arguments were not understood. Of a command
// it is certain where it comes first; elsewhere it has to show what may be given, and the score
// must not know better.
func usageText(v *view, t *text) finding {
	command := v.ask.is(commanding)
	switch asked := v.ask.help || !command && asksUse(v); {
	case asked && strings.HasPrefix(errortext.Strip(t.first().low()), "usage"):
		return works("usage", "it printed its usage, as asked")
	case v.ask.help, !command && v.ask.is(content):
		return finding{}
	}
	for i := range min(len(t.lines), usageLines) {
		l := &t.lines[i]
		if !strings.HasPrefix(errortext.Strip(l.low()), "usage") {
			continue
		}
		f := fails("usage", l.s, "it printed its usage although that was not asked for")
		f.cause = causeParameter
		if command && i == 0 {
			return f
		}
		if !t.showsSyntax(i) || !command && asksUse(v) || v.unlikely() {
			break
		}
		return f.unsure()
	}
	return finding{}
}

// showsSyntax reports whether a line, or the one below it, shows what may be given.
func (t *text) showsSyntax(i int) bool {
	return slices.ContainsFunc(t.lines[i:min(len(t.lines), i+2)], func(l line) bool { return strings.ContainsAny(l.s, "[<-") })
}

// asksUse reports whether the input of a tool, or its name, asks how something is used.
func asksUse(v *view) bool {
	asked, name := strings.ToLower(v.ask.text), nameWords(v.call.Tool)
	return slices.ContainsFunc([]string{"help", "h", "usage", "version", "man"}, func(w string) bool {
		return phrases.HasWord(asked, w) || slices.Contains(name, w)
	})
}
