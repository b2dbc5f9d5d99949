package preflight

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"memoryd"
	"memoryd/guidelines/constraints"
	"memoryd/internal/textsafe"
)

// refusal is what the message of a failed call asked for, and which value of the
// call it is about.
type refusal struct {
	constraints.Constraint
	// leaf is the place of the value among the leaves of the call, -1 when the
	// message does not tell.
	leaf int
	text string // the message, in lower case
}

// maxMessage is how many bytes of a message are compared with values.
const maxMessage = 400

// refusalOf reads the message of a failed call.
func refusalOf(output string, leaves []leaf) (refusal, bool) {
	return messageOf(output).refusal(leaves)
}

// message is what was read of the output of a failed call.
type message struct {
	text  string // its beginning
	asks  constraints.Constraint
	isOne bool // something was read
}

func messageOf(output string) message {
	text := constraints.Unwrap(output)
	m := message{text: textsafe.Head(text, maxMessage)}
	if len(text) > 2*maxMessage {
		output = m.text + "\n" + textsafe.Tail(text, maxMessage)
	}
	if found := constraints.Read(output); len(found) > 0 {
		m.asks, m.isOne = found[0], true
	}
	return m
}

// refusal tells which value of a call its message is about.
func (m message) refusal(leaves []leaf) (refusal, bool) {
	if !m.isOne {
		return refusal{leaf: -1}, false
	}
	r := refusal{Constraint: m.asks, text: strings.ToLower(m.text)}
	r.leaf = r.blame(leaves)
	if r.Parameter == "" && r.leaf >= 0 && r.Got != "" && leaves[r.leaf].text == r.Got {
		r.Parameter = strings.TrimPrefix(leaves[r.leaf].path, ".")
	}
	return r, true
}

// blame finds the value that a message is about: the parameter that it names, a
// value that it repeats, a value whose kind it names ("certificate cannot be used"),
// or a parameter that shares a word with what was not found.
func (r *refusal) blame(leaves []leaf) int {
	spaced := strings.NewReplacer("_", " ", "-", " ").Replace(r.text)
	byParameter, byValue, byKind, byName := -1, -1, -1, -1
	for i := range leaves {
		l := &leaves[i]
		if l.kind == array || l.kind == object {
			continue
		}
		if r.Parameter != "" && strings.TrimPrefix(l.path, ".") == r.Parameter {
			byParameter = i
		}
		if r.Got != "" && l.text == r.Got {
			byValue = i
		}
		if !isID(l) {
			continue
		}
		kind := kindOf(l.text)
		switch {
		case hasToken(r.text, strings.ToLower(l.text)):
			byValue = i
		case kind != "" && hasToken(spaced, kind):
			byKind = i
		case r.Class == constraints.NotFound && sharesWord(r.Slot, l.name()):
			byName = i
		}
	}
	for _, i := range []int{byParameter, byValue, byKind, byName} {
		if i >= 0 {
			return i
		}
	}
	return -1
}

// isID reports whether a value looks like an identifier: no blanks, a digit, an
// underscore or a slash, four characters or more.
func isID(l *leaf) bool {
	return l.kind == text && len(l.text) >= 4 && len(l.text) <= maxValue && !strings.ContainsFunc(l.text, unicode.IsSpace) && strings.ContainsAny(l.text, "0123456789_/")
}

// kindOf is the words that an identifier begins with, before its number:
// "credit card" of "credit_card_9074831"; "" when there are none.
func kindOf(value string) string {
	at := strings.IndexAny(value, "0123456789")
	if at < 5 {
		return ""
	}
	kind := strings.TrimRight(value[:at], "_-#/:.")
	if len(kind) < 4 || strings.ContainsAny(kind, "/.:#") {
		return ""
	}
	return strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(kind))
}

// hasToken reports whether a token stands in a text with no letter or digit
// beside it.
func hasToken(s, token string) bool {
	isPart := func(b byte) bool {
		return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
	}
	for from := 0; ; {
		at := strings.Index(s[from:], token)
		if at < 0 || token == "" {
			return false
		}
		at += from
		end := at + len(token)
		if (at == 0 || !isPart(s[at-1])) && (end == len(s) || !isPart(s[end])) {
			return true
		}
		from = at + 1
	}
}

// commonNames are words of parameter names that tell nothing of what they name.
var commonNames = []string{"id", "ids", "name", "names", "number", "key", "code", "new", "item", "value", "type"}

// sharesWord reports whether two names have a telling word in common.
func sharesWord(a, b string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	other := words(b)
	for _, w := range words(a) {
		if slices.Contains(commonNames, w) || len(w) < 3 {
			continue
		}
		if slices.ContainsFunc(other, func(o string) bool { return o == w || o+"s" == w || w+"s" == o }) {
			return true
		}
	}
	return false
}

// asked is something that messages of failed calls asked for.
type asked struct {
	constraint constraints.Constraint
	// path and kind are set where values of a kind, at a path, were refused; path
	// and value where one value was.
	path, kind, value string
	id                string
	calls             []memoryd.CallKey
	runs              []string
	message           string // of the newest
	broken            bool   // by a call that worked: it does not hold
}

// refusals collects what messages asked for, and forgets what calls that worked
// show to be untrue.
type refusals struct {
	list  []*asked
	byKey map[string]*asked
	// good are hashes of path and kind, and of path and value, of calls that worked.
	good map[uint64]struct{}
	// values are those of calls that worked, by their hash; worked are the newest of
	// these calls, while the history is read.
	values map[uint64]*vouched
	worked []goodCall
}

// vouched is a value that stood in calls that worked.
type vouched struct {
	leaf

	by voices
}

// goodCall is a call that worked.
type goodCall struct {
	input  constraints.Input
	leaves []leaf
}

// What is remembered of calls that worked: so many values, and so many calls that a
// message is held against when it is first heard.
const (
	maxVouched = 4096
	maxWorked  = 256
)

// maxAsked is how many different things that messages asked for are remembered.
const maxAsked = 64

func kindHash(path, kind string) uint64 { return uint64(seed.add("kind").add(path).add(kind)) }

func valueHash(path, value string) uint64 { return uint64(seed.add("value").add(path).add(value)) }

// take learns from a judged call, said what its message was if it failed.
func (s *refusals) take(l *learned, c *memoryd.Call, leaves []leaf, said message) {
	raw := c.Input
	if s.byKey == nil {
		s.byKey, s.good, s.values = map[string]*asked{}, map[uint64]struct{}{}, map[uint64]*vouched{}
	}
	if !l.failed() {
		s.vouch(l, c, leaves)
		for i := range leaves {
			if v := &leaves[i]; isID(v) {
				s.good[valueHash(v.path, v.text)] = struct{}{}
				if kind := kindOf(v.text); kind != "" {
					s.good[kindHash(v.path, kind)] = struct{}{}
				}
			}
		}
		s.broken(raw, leaves, func(a *asked) bool { a.broken = true; return true })
		return
	}
	r, ok := said.refusal(leaves)
	if !ok {
		return
	}
	a := asked{constraint: r.Constraint, message: said.text}
	switch {
	case r.Checkable():
	case r.leaf < 0 || !isID(&leaves[r.leaf]):
		return
	case r.Class == constraints.Forbidden && kindOf(leaves[r.leaf].text) != "":
		a.path, a.kind = leaves[r.leaf].path, kindOf(leaves[r.leaf].text)
	case r.Class == constraints.NotFound || r.Class == constraints.Forbidden:
		a.path, a.value = leaves[r.leaf].path, leaves[r.leaf].text
	default:
		return
	}
	s.note(a, l.key, l.run)
}

// vouch keeps the values of a call that worked, and the call.
func (s *refusals) vouch(l *learned, c *memoryd.Call, leaves []leaf) {
	if s.worked = append(s.worked, goodCall{constraints.InputOf(c.Input), leaves}); len(s.worked) > maxWorked {
		s.worked = s.worked[1:]
	}
	if l.score < memoryd.ScoreSuccess {
		return
	}
	for i := range leaves {
		v := &leaves[i]
		if v.kind == array || v.kind == object || v.length > maxValue {
			continue
		}
		hash := valueHash(v.path, v.json())
		known := s.values[hash]
		if known == nil {
			if len(s.values) >= maxVouched {
				continue
			}
			known = &vouched{leaf: *v, by: newVoices()}
			s.values[hash] = known
		}
		known.by.add(l.run, c.Source())
	}
}

func (s *refusals) note(a asked, key memoryd.CallKey, run string) {
	id := a.constraint.Key() + "\x00" + a.path + "\x00" + a.kind + "\x00" + a.value
	known := s.byKey[id]
	if known == nil {
		if len(s.list) >= maxAsked {
			delete(s.byKey, s.list[0].id)
			s.list = s.list[1:]
		}
		known = &a
		known.id = id
		known.broken = a.path == "" && slices.ContainsFunc(s.worked, func(g goodCall) bool { return constraints.Broken(a.constraint, g.input) })
		s.byKey[id] = known
		s.list = append(s.list, known)
	}
	known.message = a.message
	if len(known.calls) < shownCalls {
		known.calls = append(known.calls, key)
	}
	if run == "" || !slices.Contains(known.runs, run) {
		known.runs = append(known.runs, run)
	}
}

// broken calls do with everything that an input breaks, until do says no.
func (s *refusals) broken(raw json.RawMessage, leaves []leaf, do func(*asked) bool) {
	var in *constraints.Input
	for _, a := range slices.Backward(s.list) {

		if a.broken {
			continue
		}
		if a.path == "" {
			if in == nil {
				parsed := constraints.InputOf(raw)
				in = &parsed
			}
			if constraints.Broken(a.constraint, *in) && !do(a) {
				return
			}
			continue
		}
		if s.refuses(a, leaves) >= 0 && !do(a) {
			return
		}
	}
}

// refuses gives the place of the value that a refuses, -1 for none. A kind, or a
// value, with which a call worked is not refused.
func (s *refusals) refuses(a *asked, leaves []leaf) int {
	for i := range leaves {
		l := &leaves[i]
		if l.path != a.path || l.kind != text {
			continue
		}
		hash := valueHash(l.path, l.text)
		is := a.kind == "" && l.text == a.value
		if a.kind != "" {
			is, hash = kindOf(l.text) == a.kind, kindHash(l.path, a.kind)
		}
		if _, worked := s.good[hash]; is && !worked {
			return i
		}
	}
	return -1
}

// first is what an input breaks that most calls asked for, nil for nothing.
func (s *refusals) first(raw json.RawMessage, leaves []leaf) *asked {
	var most *asked
	s.broken(raw, leaves, func(a *asked) bool {
		if most == nil || len(a.runs) > len(most.runs) {
			most = a
		}
		return true
	})
	return most
}
