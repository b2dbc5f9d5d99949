package rules

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Properties of what a call gave, which conditions look at as if they were parameters. Their
// paths are "title#length"; no name that a line may hold has that mark.
const (
	ofLength  = "#length"  // of a text, in characters
	ofItems   = "#items"   // how many elements a list has
	ofRepeats = "#repeats" // whether a list has an element twice
	ofMost    = "#most"    // the largest number that elements of a list give for a member
	ofLeast   = "#least"   // the smallest
	ofTurn    = "#turn"    // of the call: which of the tool's in its run it is, from 1
	ofPause   = "#pause"   // the seconds since the one before
)

// base parts a path into the parameter and its property; "" for none.
func base(p string) (parameter, property string) {
	if at := strings.LastIndexByte(p, '#'); at >= 0 {
		return p[:at], p[at:]
	}
	return p, ""
}

// LostSizes lists the properties of an input, as "title#length", that are numbers and that what was
// left of it does not show; so many at most as there are parameters that are compared.
func LostSizes(whole, left []Leaf) map[string]float64 {
	all, still := map[string]value{}, map[string]value{}
	properties(all, whole)
	properties(still, left)
	lost := map[string]float64{}
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if v := all[p]; v.kind == number && v != still[p] && len(lost) < maxPaths {
			lost[p] = v.num
		}
	}
	return lost
}

// Cut stands at the end of a text that was cut: how long it was is not known from it.
const Cut = "…"

// property reports whether the condition is about a property.
func (h *hypothesis) property() bool {
	_, property := base(h.p)
	return property != ""
}

// ofRun reports whether the condition is about the calls of the run before.
func (h *hypothesis) ofRun() bool { return h.p == ofTurn || h.p == ofPause }

// properties adds those of the leaves of an input.
func properties(out map[string]value, leaves []Leaf) {
	number := func(p string, n float64) { out[p] = value{kind: number, num: n, text: plain(n)} }
	elements := map[string][]string{}
	for i := range leaves {
		l := &leaves[i]
		list, _ := inList(l.Path)
		switch {
		case l.Path == "", strings.Contains(l.Path, "#"):
		case l.Kind == Array && !strings.Contains(l.Path, "[]"):
			number(l.Path+ofItems, l.Number)
			elements[l.Path+"[]"] = nil
		case l.Kind == Text && !strings.Contains(l.Path, "[]") && !strings.HasSuffix(l.Text, Cut):
			number(l.Path+ofLength, float64(utf8.RuneCountInString(l.Text)))
		case l.Kind == Number && list != "":
			if v, has := out[l.Path+ofMost]; !has || l.Number > v.num {
				number(l.Path+ofMost, l.Number)
			}
			if v, has := out[l.Path+ofLeast]; !has || l.Number < v.num {
				number(l.Path+ofLeast, l.Number)
			}
		}
		if of, has := elements[l.Path]; has && l.Scalar() {
			if slices.Contains(of, l.Text) {
				out[strings.TrimSuffix(l.Path, "[]")+ofRepeats] = value{kind: truth, text: "true"}
			}
			elements[l.Path] = append(of, l.Text)
		}
	}
}

// propertyLine says what to do about a property.
func (h *hypothesis) propertyLine(narrow string) string {
	p, property := base(h.p)
	name, bound := spoken(p), " at most "
	if h.what == below {
		bound = " at least "
	}
	bound += plain(h.bound)
	switch property {
	case ofTurn:
		return "Call it at most " + plain(h.bound) + " times in a run" + narrow
	case ofPause:
		return "Wait at least " + plain(h.bound) + " seconds between two calls" + narrow
	case ofLength:
		return "Keep " + name + bound + " characters long" + narrow
	case ofItems:
		if h.bound == 1 {
			return "Give" + bound + " element in " + name + narrow
		}
		return "Give" + bound + " elements in " + name + narrow
	case ofRepeats:
		return "Give no element of " + name + " twice"
	}
	return "Keep " + name + bound + narrow
}

// markOf is the class of characters that one of a text belongs to: each mark is one of its own,
// and so are capitals, digits, blanks and the letters of other alphabets. It is 0 for a small
// letter.
func markOf(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 0
	case r >= 'A' && r <= 'Z':
		return 'A'
	case r >= '0' && r <= '9':
		return '0'
	case unicode.IsSpace(r):
		return ' '
	case r > unicode.MaxASCII:
		return 'é'
	}
	return r
}

// markNames are what lines call classes; others are named by the mark.
var markNames = map[string][2]string{
	"A": {"a capital letter", "capital letters"}, "0": {"a digit", "digits"}, " ": {"a blank", "blanks"},
	"é": {"a letter beyond a to z", "letters beyond a to z"},
}

func hasMark(text, mark string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return string(markOf(r)) == mark })
}

// marks counts the calls that gave characters of each class.
func (c *column) marks() tallied {
	of := tallied{}
	for text, n := range c.texts {
		seen := make([]rune, 0, 8)
		for _, r := range text {
			if m := markOf(r); m != 0 && !slices.Contains(seen, m) {
				seen = append(seen, m)
				all := of[string(m)]
				all.good, all.bad = all.good+n.good, all.bad+n.bad
				of[string(m)] = all
			}
		}
	}
	return of
}

// written are the hypotheses on the characters of a text: those that only failed calls gave,
// those that all good ones gave, and how all good ones begin and end.
func (c *column) written() (out []hypothesis) {
	if c.bad < leastBad {
		return nil
	}
	marks := c.marks()
	for _, m := range marks.of(0, leastBad) {
		out = append(out, hypothesis{what: marked, p: c.name, set: []string{m}})
	}
	for _, m := range marks.of(c.good, 0) {
		out = append(out, hypothesis{what: unmarked, p: c.name, set: []string{m}})
	}
	good := c.texts.of(1, 0)
	if len(good) < minGood {
		return out
	}
	first, last := good[0], good[len(good)-1] // sorted: what both begin with, all do
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	if s := first[:n]; affix(s) {
		out = append(out, hypothesis{what: beginsNot, p: c.name, set: []string{s}})
	}
	s := first
	for _, t := range good {
		for !strings.HasSuffix(t, s) {
			_, size := utf8.DecodeRuneInString(s)
			s = s[size:]
		}
	}
	if affix(s) {
		out = append(out, hypothesis{what: endsNot, p: c.name, set: []string{s}})
	}
	return out
}

// types is the hypothesis that a value is not of the type that all good ones have.
func (c *column) types() (out []hypothesis) {
	for k, w := range kindNames {
		if w != "" && c.good >= minGood && c.kinds[k].good == c.good && c.kinds[k].bad < c.bad {
			out = append(out, hypothesis{what: wrongType, p: c.name, set: []string{w}})
		}
	}
	return out
}

// affix reports whether a line may say that a text begins or ends so: with a word and marks
// beside it, or with marks alone.
func affix(s string) bool {
	word := strings.TrimFunc(s, func(r rune) bool { return r <= unicode.MaxASCII && unicode.IsPunct(r) || r == '+' })
	return s != "" && len(s) <= valueLimit && (word == "" && len(s) <= 3 || len(s) > 1 && shown(word))
}

// writtenLine says how to write a text.
func (h *hypothesis) writtenLine() string {
	p := spoken(h.p)
	names, named := markNames[h.set[0]]
	if !named {
		names = [2]string{"`" + h.set[0] + "`", "`" + h.set[0] + "`"}
	}
	switch h.what {
	case wrongType:
		return "Give " + p + " as " + h.set[0]
	case marked:
		return "Write " + p + " without " + names[1]
	case unmarked:
		return "Write " + p + " with " + names[0]
	case beginsNot:
		return "Begin " + p + " with " + strconv.Quote(h.set[0])
	default:
		return "End " + p + " with " + strconv.Quote(h.set[0])
	}
}
