package guidelines

import (
	"cmp"
	"strings"

	"memoryd/guidelines/evidence"
	"memoryd/internal/textsafe"
)

// longestWord bounds a word of a quote, in bytes: longer ones name something.
const longestWord = 48

// quoteWords is how many words of a message are shown at most.
const quoteWords = 12

// words gives the beginning of a message as a quote: at most quoteWords words, with
// all that varies as "…", without addresses, secrets and markup. It is false when
// nothing is left to read, or it reads like an order to the reader.
func words(template string, most int) (string, bool) {
	var kept []string
	letters := 0
	for w := range strings.FieldsSeq(textsafe.Visible(template)) {
		if base, ok := programPath(w); ok {
			w = base
		} else if strings.ContainsAny(w, "0123456789/\\@") || varying(w) || len(w) > longestWord {
			w = "…"
		}
		if w == "…" && len(kept) > 0 && kept[len(kept)-1] == "…" {
			continue
		}
		if len(kept) == most {
			break
		}
		kept = append(kept, w)
		if w != "…" {
			letters++
		}
	}
	q, ok := quotable(strings.Trim(strings.Join(kept, " "), " .:,;"), 8*quoteWords+messageLimit)
	return `"` + strings.TrimSpace(strings.TrimLeft(q, "… ")) + `"`, ok && letters > 0
}

// programPath gives the last part of the path of a program, such as a shell's at the
// beginning of its messages.
func programPath(w string) (string, bool) {
	rest, found := strings.CutPrefix(w, "/bin/")
	if !found {
		rest, found = strings.CutPrefix(w, "/usr/bin/")
	}
	return rest, found && program.MatchString(strings.TrimSuffix(rest, ":"))
}

// varying reports whether a word of a template stands for something else.
func varying(w string) bool {
	switch strings.Trim(w, "`'\"()[]{}<>.,:;!?") {
	case "N", "ID", "PATH", "URL", "…":
		return true
	}
	return strings.Contains(w, "'…'")
}

// quotes are the forms of a cause's message that may be shown, at most two, and, where
// there are none, the first that the quorum keeps back.
func (f *findings) quotes(c *evidence.Cause) (shown []string, held string) {
	return f.quoted(c, quoteWords)
}

func (f *findings) quoted(c *evidence.Cause, most int) (shown []string, held string) {
	if f.unquoted {
		return nil, ""
	}
	for _, q := range c.Quotes {
		if len(shown) == 2 || len(shown) > 0 && 8*q.Calls < c.Count {
			continue
		}
		text, ok := words(q.Text, most)
		switch {
		case !ok || len(shown) > 0 && alike(shown[0], text):
		case c.Sole:
			held = cmp.Or(held, text)
		case quorate(q.Support), q.Calls >= 2 && quorate(evidence.Support{Calls: quorumCalls, Runs: q.Runs, Sole: q.Sole}) && f.neutral(text):
			shown = append(shown, text)
		case held == "":
			held = text
		}
	}
	if len(shown) > 0 {
		held = ""
	}
	return shown, held
}

// alike reports whether most words of the shorter quote stand in the other too.
func alike(a, b string) bool {
	if len(b) > len(a) {
		a, b = b, a
	}
	same, all := 0, strings.Fields(b)
	for _, w := range all {
		if strings.Contains(a, strings.Trim(w, "\"…,.:;")) {
			same++
		}
	}
	return 10*same >= 7*len(all)
}
