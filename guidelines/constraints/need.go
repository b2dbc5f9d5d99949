package constraints

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// need is what a text has to hold for a pattern to match in it: a literal, in lower
// case, or all or any of other needs. A zero one is nothing. It holds for texts of
// ASCII only: others have letters whose other case is ASCII.
type need struct {
	literal string
	all     bool // of them, else any
	of      []need
}

// needOf reads the need of a pattern.
func needOf(re *syntax.Regexp) need {
	switch re.Op { //nolint:exhaustive // the others need nothing
	case syntax.OpLiteral:
		if len(re.Rune) > 1 {
			return need{literal: strings.ToLower(string(re.Rune))}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needOf(re.Sub[0])
		}
	case syntax.OpConcat, syntax.OpAlternate:
		n := need{all: re.Op == syntax.OpConcat}
		for _, sub := range re.Sub {
			of := needOf(sub)
			if !of.nothing() {
				n.of = append(n.of, of)
			} else if !n.all {
				return need{} // this branch needs nothing
			}
		}
		return n
	}
	return need{}
}

func (n *need) nothing() bool { return n.literal == "" && len(n.of) == 0 }

// heldBy reports whether a text in lower case holds what is needed.
func (n *need) heldBy(lower string, grams *gramSet) bool {
	held := func(of need) bool { return of.heldBy(lower, grams) }
	switch w := n.literal; {
	case len(w) >= 4:
		return grams.has(gram(w, 0)) && grams.has(gram(w, len(w)-4)) && strings.Contains(lower, w)
	case w != "":
		return strings.Contains(lower, w)
	case n.all:
		return !slices.ContainsFunc(n.of, func(of need) bool { return !of.heldBy(lower, grams) })
	}
	return len(n.of) == 0 || slices.ContainsFunc(n.of, held)
}

// isASCII reports whether a text has ASCII only.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
