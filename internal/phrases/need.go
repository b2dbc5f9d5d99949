package phrases

import (
	"regexp/syntax"
	"strings"
)

// Need is what a text must contain for a pattern to match: a literal, or all or any of other
// needs. A zero Need requires nothing. Checking it costs a hundredth of the pattern itself.
type Need struct {
	literal string
	all     bool // of them, else any
	of      []Need
}

// NeedOf returns the need of a pattern. Its literals are in lower case, as HeldBy expects the
// text. If the pattern ignores case, the need is valid only for ASCII texts, because some
// other letters have ASCII letters as their other case. A pattern that cannot be parsed needs
// nothing.
func NeedOf(pattern string) Need {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return Need{}
	}
	return needOf(tree)
}

func needOf(re *syntax.Regexp) Need {
	switch re.Op { //nolint:exhaustive // the others need nothing
	case syntax.OpLiteral:
		if w := strings.ToLower(string(re.Rune)); len(w) > 1 { // one letter is in any text
			return Need{literal: w}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needOf(re.Sub[0])
		}
	case syntax.OpConcat, syntax.OpAlternate:
		n := Need{all: re.Op == syntax.OpConcat}
		for _, sub := range re.Sub {
			of := needOf(sub)
			if !of.nothing() {
				n.of = append(n.of, of)
			} else if !n.all {
				return Need{} // this branch needs nothing
			}
		}
		return n
	}
	return Need{}
}

func (n *Need) nothing() bool { return n.literal == "" && len(n.of) == 0 }

// HeldBy reports whether a text in lower case, with its grams, contains what is needed.
func (n *Need) HeldBy(lower string, grams *Grams) bool {
	if n.literal != "" {
		return grams.May(n.literal) && strings.Contains(lower, n.literal)
	}
	for i := range n.of {
		if n.of[i].HeldBy(lower, grams) != n.all {
			return !n.all
		}
	}
	return n.all || len(n.of) == 0
}

// Grams records which sequences of four bytes a text has.
type Grams [1024]uint64

// Note adds the sequences of a text.
func (s *Grams) Note(text string) {
	for i := 0; i+4 <= len(text); i++ {
		g := gram(text, i)
		s[g>>6] |= 1 << (g & 63)
	}
}

// May reports whether a text with these sequences may contain w. A false result is certain.
func (s *Grams) May(w string) bool {
	return len(w) < 4 || s.has(gram(w, 0)) && s.has(gram(w, len(w)-4))
}

func (s *Grams) has(g uint16) bool { return s[g>>6]>>(g&63)&1 == 1 }

func gram(w string, at int) uint16 {
	return uint16(w[at])<<9 ^ uint16(w[at+1])<<6 ^ uint16(w[at+2])<<3 ^ uint16(w[at+3])
}
