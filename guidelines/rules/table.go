package rules

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"memoryd/internal/textsafe"
)

// Limits on what is compared of an input.
const (
	maxPaths    = 24
	maxText     = 120
	maxElements = 24 // of lists
)

// kind is the type of a value.
type kind uint8

const (
	absent kind = iota
	number
	text
	truth
	other // a list, or a text that is too long to compare
)

// value is one value of an input.
type value struct {
	kind kind
	num  float64
	text string // of a text, and of a truth value
}

// row is a call as it is compared.
type row struct {
	*Call

	in       map[string]value
	elements map[string][]row // of lists, by the list: the call as each of them sees it
	element
	kind     string   // of what went wrong; "" for what is too rare to stand alone
	said     string   // the same where it is rare
	repeated []string // parameters whose texts its message repeats
	place    int
	repeat   bool        // the same input went wrong in this run before
	fresh    []freshWord // see Seen
	usual    usual       // of all calls
}

// run is what counts as a run: a call that names none is one of its own.
func (r *row) run() uint64 {
	if r.Named {
		return r.Run
	}
	return ^uint64(r.place) //nolint:gosec // a place in the history
}

func (r *row) read(c *Call) {
	leaves := c.Leaves
	if leaves == nil {
		leaves = LeavesOf(c.Input)
	}
	r.Call = c
	if r.in, r.elements = inputOf(leaves); r.in == nil {
		return
	}
	for _, all := range r.elements {
		for i := range all {
			all[i].Call, all[i].in = c, r.in
		}
	}
	r.fresh = freshWords(c.Fresh)
	for p, n := range c.Sizes {
		if listOf(p) == "" {
			r.in[p] = numbered(n)
		}
	}
	if c.Turn > 0 {
		r.in[ofTurn] = numbered(float64(c.Turn))
	}
	if c.Turn > 1 && c.Pause >= 0 {
		r.in[ofPause] = numbered(math.Round(c.Pause))
	}
}

// source is where the value of a parameter stood before; false where it is not like an
// identifier, or the run is not known.
func (r *row) source(p string) (found Source, ok bool) {
	ok = r.stood(p, func(s Source) bool { found = s; return true })
	return found, ok
}

// stood reports whether a value of a parameter stood before where is tells.
func (r *row) stood(p string, is func(Source) bool) bool {
	known := false
	for _, s := range r.Sources {
		if s.Path == p {
			if known = true; is(s) {
				return !r.dated(p)
			}
		}
	}
	return !known && r.Named && IdentifierLike(r.get(p).text) && is(Source{}) && !r.dated(p)
}

// dated reports whether a value is a date: where it stood before says nothing.
func (r *row) dated(p string) bool {
	return DateForm(r.get(p).text) != ""
}

// DateForm is the form of a date or a time, as YYYY-MM-DD; "" for another text.
func DateForm(s string) string { return dateForms[Form(s)] }

// rowsOf reads so many of the newest calls of a tool.
func rowsOf(own string, calls []Call, most int) []row {
	from := max(0, len(calls)-most)
	rows := make([]row, 0, len(calls)-from)
	kinds := map[string]int{}
	type sent struct {
		run, same uint64
		input     string
	}
	seen := map[sent]bool{}
	for i := range calls[from:] {
		r := row{place: from + i}
		if r.read(&calls[from+i]); r.in == nil {
			continue
		}
		if r.Bad {
			r.kind, r.repeated = kindOf(own, r.Message, r.in)
			r.said = r.kind
			kinds[r.kind]++
		}
		if r.Named {
			s := sent{r.Run, r.Same, string(r.Input)}
			r.repeat = seen[s]
			seen[s] = r.repeat || r.Bad
		}
		rows = append(rows, r)
	}
	joinKinds(rows, kinds)
	for i := range rows {
		if rows[i].Bad && kinds[rows[i].kind] < leastBad {
			rows[i].kind = "" // too rare to stand alone
		}
	}
	return rows
}

// inputOf lists the values of an input by path. Those of elements of lists, against which
// only messages are held, stand each under a path of its own.
func inputOf(leaves []Leaf) (out map[string]value, elements map[string][]row) {
	if len(leaves) == 0 || leaves[0].Kind == Text {
		return nil, nil
	}
	out, elements = make(map[string]value, 3*len(leaves)), elementsOf(leaves)
	listed := 0
	for i := range leaves {
		if l := &leaves[i]; strings.Contains(l.Path, "[]") {
			if v, ok := valueOf(l); ok && listed < maxElements {
				listed++
				out[strings.ReplaceAll(l.Path, "[]", "["+strconv.Itoa(listed)+"]")] = v
			}
		} else {
			give(out, leaves[i:])
		}
	}
	return out, elements
}

// give adds the value of the first leaf, and its properties.
func give(out map[string]value, leaves []Leaf) {
	l := &leaves[0]
	if isProperty(l.Path) { // no line may hold such a name
		return
	}
	if v, ok := valueOf(l); ok {
		out[l.Path] = v
	}
	properties(out, leaves)
}

// valueOf is what a leaf gives; false for nothing, and for what has no name of its own: all of the input, and an object in
// a list.
func valueOf(l *Leaf) (v value, ok bool) {
	switch {
	case l.Kind == Number:
		return numbered(l.Number), true
	case l.Kind == Word && l.Scalar():
		return value{kind: truth, text: l.Text}, true
	case l.Kind == Text && len(l.Text) <= maxText:
		return value{kind: text, text: l.Text}, true
	}
	return value{kind: other}, l.Kind != Word && l.Path != "" && (l.Kind != Object || !strings.HasSuffix(l.Path, "[]"))
}

// Form masks letters and digits, to show the form of a text.
func Form(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return '0'
		case r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
			return 'A'
		}
		return r
	}, s)
}

// shape is a form with each word as "a" and each number as "9", however long they are.
func shape(form string) string {
	b := make([]byte, 0, len(form))
	for i := range len(form) {
		switch c := form[i]; {
		case i > 0 && c == form[i-1] && (c == 'A' || c == '0'):
		case c == 'A':
			b = append(b, 'a')
		case c == '0':
			b = append(b, '9')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// ofWords reports whether forms differ only in how long their words are.
func ofWords(forms []string) bool {
	seen := map[string]bool{}
	for _, f := range forms {
		f = wordForm.ReplaceAllString(f, "AAAA")
		if seen[f] {
			return true
		}
		seen[f] = true
	}
	return false
}

// wordForm is the form of a word.
var wordForm = regexp.MustCompile(`A{4,}`)

// IdentifierLike reports whether a text looks like an identifier, a path or an address: no
// blank, and a digit, an underscore or a slash. One of two or three characters, as e7 or 1_5, has a digit and something else.
func IdentifierLike(s string) bool {
	if len(s) < 2 || len(s) > 200 || !strings.ContainsAny(s, "0123456789_/") || strings.ContainsFunc(s, Delimits) {
		return false
	}
	return len(s) >= 4 || strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789.:%-+") != ""
}

// telling reports whether a value is found in a text only where it was meant: longer than two characters, or like an identifier.
func telling(s string) bool { return len(s) > 2 || IdentifierLike(s) }

// Delimits reports whether a character separates the values of an answer.
func Delimits(r rune) bool { return r < utf8.RuneSelf && (r <= ' ' || delimiters[r]) }

var delimiters = textsafe.BytesOf("", "\"'`\\,;=()[]{}<>|")

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// quorum counts the calls, runs and parties behind something.
type quorum struct {
	calls         int
	runs, parties map[uint64]bool
	named         bool // a run
}

func (q *quorum) add(r *row) {
	if q.runs == nil {
		q.runs, q.parties = map[uint64]bool{}, map[uint64]bool{}
	}
	q.calls++
	q.runs[r.run()], q.parties[r.Party] = true, true
	q.named = q.named || r.Named
}

// met reports whether there are enough calls of enough runs, and of several parties where
// several are known.
func (q *quorum) met(parties bool) bool {
	return q.of(minCalls) && (!parties || len(q.parties) > 1)
}

func (q *quorum) of(calls int) bool { return q.calls >= calls && len(q.runs) >= minRuns }

// tally counts what is behind each of some texts.
type tally map[string]*quorum

func (t tally) add(s string, r *row) {
	if t[s] == nil {
		t[s] = &quorum{}
	}
	t[s].add(r)
}

// among reports whether it is so of one of some calls.
func among(rows []row, is func(r *row) bool) bool {
	for i := range rows {
		if is(&rows[i]) {
			return true
		}
	}
	return false
}

// several reports whether there are several sources: then a rule needs two.
func several(rows []row) bool {
	return among(rows, func(r *row) bool { return r.Shared })
}

// parties reports whether there are several parties: then a value needs two.
func parties(rows []row) bool {
	return among(rows, func(r *row) bool { return r.Shared || r.Party != rows[0].Party })
}
