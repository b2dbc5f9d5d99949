package rules

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/internal/origin"
)

// Properties of what a call gave, which conditions look at as if they were parameters. Their
// paths are "title#length"; no name that a line may hold has that mark.
const (
	ofLength = "#length" // of a text, in characters
	ofItems  = "#items"  // how many elements a list has
	ofTwice  = "#twice"  // how many of a list's elements repeat another one
	ofType   = "#type"   // what a value is: see typeOf
	ofTurn   = "#turn"   // of the call: which of the tool's in its run it is, from 1
	ofPause  = "#pause"  // the seconds since the one before
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
	for i := range whole {
		properties(all, whole[i:])
	}
	for i := range left {
		properties(still, left[i:])
	}
	lost := map[string]float64{}
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if v := all[p]; v.kind == number && v != still[p] && listOf(p) == "" && len(lost) < maxPaths {
			lost[p] = v.num
		}
	}
	return lost
}

func isProperty(p string) bool { return strings.Contains(p, "#") }

// Cut stands at the end of a text that was cut: how long it was is not known from it.
const Cut = "…"

// property reports whether the condition is about a property.
func (h *hypothesis) property() bool { return isProperty(h.p) }

// ofType reports whether the condition is about what values are: texts, numbers, lists or objects.
func (h *hypothesis) ofType() bool { return strings.HasSuffix(h.p, ofType) }

// ofRun reports whether the condition is about the calls of the run before.
func (h *hypothesis) ofRun() bool { return h.p == ofTurn || h.p == ofPause }

// properties adds those of the first leaf of an input.
func properties(out map[string]value, leaves []Leaf) {
	l := &leaves[0]
	switch {
	case l.Path == "", isProperty(l.Path):
		return
	case l.Kind == Array:
		out[l.Path+ofItems], out[l.Path+ofTwice] = numbered(l.Number), numbered(repeats(leaves))
	case l.Kind == Text && !strings.HasSuffix(l.Text, Cut):
		out[l.Path+ofLength] = numbered(float64(utf8.RuneCountInString(l.Text)))
	}
	if t := typeOf(leaves); t != "" {
		out[l.Path+ofType] = value{kind: text, text: t}
	}
}

// repeats counts, of the first elements of the list that is the first leaf, the texts and numbers that stand in it before.
func repeats(leaves []Leaf) (n float64) {
	of := leaves[0].Path + "[]"
	for i := 1; i < min(len(leaves), maxElements) && strings.HasPrefix(leaves[i].Path, of); i++ {
		same := func(l Leaf) bool { return l.Path == of && l.Text == leaves[i].Text }
		if leaves[i].Path == of && leaves[i].Scalar() && slices.ContainsFunc(leaves[1:i], same) {
			n++
		}
	}
	return n
}

// types is the hypothesis that a value is nothing that good calls gave: a text for a number, or one object for a list of
// them. Where a fraction worked, every number may, and where numbers and digits in texts did, no other text. good is how many
// calls were good.
func (c *column) types(good float64) []hypothesis {
	set := c.texts.of(1, 0)
	if slices.Contains(set, aNumber) && !slices.Contains(set, aWhole) {
		set = append(set, aWhole)
	}
	switch texts := slices.Contains(set, aDigits); {
	case slices.Contains(set, aText), texts && !slices.Contains(set, aWhole):
		set = append(set, aText, aDigits) // that all were digits says little where none was a number
	case texts:
		set = append(set, aNumber)
	}
	if c.good < minGood || !slices.ContainsFunc(c.texts.of(0, 1), func(t string) bool { return !slices.Contains(set, t) }) {
		return nil
	}
	h := hypothesis{what: notIn, p: c.name, set: set, of: len(c.texts)}
	if float64(c.good) < good {
		h.set = append(h.set, leftOut)
		h.of++
	}
	return []hypothesis{h}
}

// What values are, as lines name it.
const (
	aText   = "text"
	aDigits = "digits" // a text that is a number; no line names it
	aNumber = "a number"
	aWhole  = "a whole number"
	aTruth  = "true or false"
	aList   = "a list"
	anItem  = "an object"
	aNull   = "null"
	leftOut = "" // in a set: good calls did without
)

var ofElements = map[LeafKind]string{Object: " of objects", Array: " of lists", Text: " of texts", Number: " of numbers"}

// typeOf says what the value of the first leaf is, of a list also what its first element is; "" for an empty
// list, which says nothing of its elements.
func typeOf(leaves []Leaf) string {
	switch l := &leaves[0]; {
	case l.Kind == Text && digits(l.Text):
		return aDigits
	case l.Kind == Text:
		return aText
	case l.Kind == Number && l.Number == math.Trunc(l.Number):
		return aWhole
	case l.Kind == Number:
		return aNumber
	case l.Kind == Object:
		return anItem
	case l.Kind == Array && l.Number == 0:
		return ""
	case l.null():
		return aNull
	case l.Kind == Array && len(leaves) > 1:
		return aList + ofElements[leaves[1].Kind]
	case l.Kind == Array:
		return aList
	}
	return aTruth
}

// digits reports whether a text is a number.
func digits(s string) bool {
	if strings.Trim(s, "+-.0123456789") != "" {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

func numbered(n float64) value { return value{kind: number, num: n, text: plain(n)} }

// markOf is the class of characters that one of a text belongs to: each mark is one of its own,
// and so are capitals, digits, blanks and the letters of other alphabets. It is 0 for a small
// letter.
func markOf(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r == '\n':
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

// usualMarks are the classes that many texts hold: of two that hold in the same calls, another one is to blame.
const usualMarks = " 0A"

func hasMark(text, mark string) bool {
	class, _ := utf8.DecodeRuneInString(mark)
	return strings.ContainsFunc(text, func(r rune) bool { return markOf(r) == class })
}

// marksIn lists the classes of the characters of a text.
func marksIn(s string) (classes []string) {
	seen := make([]rune, 0, 8)
	for _, r := range s {
		if m := markOf(r); m != 0 && !slices.Contains(seen, m) {
			seen, classes = append(seen, m), append(classes, string(m))
		}
	}
	return classes
}

// written are the hypotheses on the characters of a text: those that only failed calls gave,
// and how all good ones begin and end.
func (c *column) written(rows []row) (out []hypothesis) {
	if c.bad < leastBad {
		return nil
	}
	out = c.had(marked, leastBad, func(string) bool { return true })
	slices.SortStableFunc(out, func(a, b hypothesis) int {
		return strings.Index(usualMarks, a.set[0]) - strings.Index(usualMarks, b.set[0])
	})
	good := c.texts.of(1, 0)
	if len(good) < minGood || DateForm(good[0]) != "" { // how dates begin says when they were given
		return out
	}
	like := good[len(good)/2] // sorted, so that what most begin with it does
	begun := like[:c.mostly(func(s string) (n int) {
		for n < min(len(s), len(like)) && s[n] == like[n] {
			n++
		}
		return n
	})]
	if folder := begun[:strings.LastIndexByte(begun, '/')+1]; c.allowed(rows, folder) {
		out = append(out, hypothesis{what: beginsNot, p: c.name, set: []string{folder}})
	}
	s := strings.TrimRight(begun, " ")
	for s != "" && (!affix(s) || s[0] == '/' && opening(s) != s) { // the folders of a path are not told
		s = shortened(s)
	}
	if s != "" {
		out = append(out, hypothesis{what: beginsNot, p: c.name, set: []string{s}})
	}
	s = like[len(like)-c.mostly(func(s string) (n int) {
		for n < min(len(s), len(like)) && s[len(s)-1-n] == like[len(like)-1-n] {
			n++
		}
		return n
	}):]
	for s != "" && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	if affix(s) {
		out = append(out, hypothesis{what: endsNot, p: c.name, set: []string{s}})
	}
	return out
}

// mostly is how much nearly all good calls have at least of what their texts have so much of.
func (c *column) mostly(much func(s string) int) int {
	calls := map[int]int{}
	for s, n := range c.texts {
		if n.good > 0 {
			calls[much(s)] += n.good
		}
	}
	left := int(maxWrong * float64(c.good)) // may have less
	for _, least := range slices.Sorted(maps.Keys(calls)) {
		if left -= calls[least]; left < 0 {
			return least
		}
	}
	return 0
}

// shortened is the longest text that another begins with and that ends where a word does, or with a mark.
func shortened(s string) string {
	_, last := utf8.DecodeLastRuneInString(s)
	at := strings.LastIndexFunc(s[:len(s)-last], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if at < 0 {
		return ""
	}
	_, mark := utf8.DecodeRuneInString(s[at:])
	return strings.TrimRight(s[:at+mark], " ")
}

// allowed reports whether messages to enough calls with a path elsewhere name a folder.
func (c *column) allowed(rows []row, folder string) bool {
	name := strings.TrimSuffix(folder, "/")
	if _, may := origin.Show(origin.Recommendation, origin.Name, name, valueLimit); !may {
		return false
	}
	var q quorum
	for i := range rows {
		if r := &rows[i]; r.Bad && r.in[c.name].kind == text && !strings.HasPrefix(r.in[c.name].text, folder) && Named(r.Message, name) {
			q.add(r)
		}
	}
	return q.of(leastBad)
}

// affix reports whether a line may say that a text begins or ends so: with a word and marks
// beside it, or with marks alone.
func affix(s string) bool {
	word := strings.TrimFunc(s, func(r rune) bool { return r <= unicode.MaxASCII && unicode.IsPunct(r) || r == '+' })
	return s != "" && len(s) <= valueLimit && (word == "" && len(s) <= 3 || len(s) > 1 && shown(word) && !strings.Contains(word, "/"))
}
