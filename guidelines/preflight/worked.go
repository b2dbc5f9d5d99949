package preflight

import (
	"slices"
	"strings"
	"unicode"

	"memoryd"
	tested "memoryd/guidelines/rules"
)

// values are what calls that worked gave, and what became of calls that gave another
// value after one was refused.
type values struct {
	good map[uint64]bool  // hashes of a path with a value, and with a kind of values
	by   map[uint64]Count // by way of refusal: calls after a refusal that changed the value there; Failed of them
	open map[string]*refusal
	// worked are, by path, the values of calls that worked, as they stand in an input.
	worked  map[string]map[string]*workedValue
	sources map[string]bool // who recorded calls, at most 2
}

// workedValue is a value with who is behind it: calls, at most three runs and at most two
// sources, as many as are asked for.
type workedValue struct {
	leaf

	calls         int
	runs, sources map[string]bool
}

// A value is suggested where it worked in quorumCalls calls of quorumOf sources, or in as many
// runs where one source is all there is. Of one parameter maxWorked values are kept.
const (
	quorumCalls = 3
	quorumOf    = 2
	maxWorked   = 64
)

// meets reports whether a value worked often enough to be suggested.
func (m *Model) meets(w *workedValue) bool {
	if len(m.values.sources) >= quorumOf {
		return w.calls >= quorumCalls && len(w.sources) >= quorumOf
	}
	return len(w.runs) >= quorumCalls
}

func (s *values) vouch(l *leaf, c *learned, source string) {
	by := s.worked[l.Path]
	if by == nil {
		by = map[string]*workedValue{}
		s.worked[l.Path] = by
	}
	w := by[jsonOf(l)]
	if w == nil {
		if len(by) > maxWorked {
			return
		}
		w = &workedValue{leaf: *l, runs: map[string]bool{}, sources: map[string]bool{}}
		by[jsonOf(l)] = w
	}
	w.calls++
	run := c.run
	if run == "" {
		run = c.key.String() // calls that name no run are each of one
	}
	if len(w.runs) < quorumCalls {
		w.runs[run] = true
	}
	if len(w.sources) < quorumOf {
		w.sources[source] = true
	}
}

// jsonOf is a scalar as it stands in an input.
func jsonOf(l *leaf) string {
	if l.Kind == tested.Text {
		return quoted(l.Text)
	}
	return l.Text
}

func newValues() *values {
	return &values{good: map[uint64]bool{}, by: map[uint64]Count{}, open: map[string]*refusal{}, worked: map[string]map[string]*workedValue{}, sources: map[string]bool{}}
}

func kindHash(path, kind string) uint64 { return uint64(seed.add("kind").add(path).add(kind)) }

func valueHash(path, value string) uint64 { return uint64(seed.add("value").add(path).add(value)) }

// take learns from a judged call.
func (s *values) take(l *learned, c *memoryd.Call, leaves []leaf) {
	if len(s.sources) < quorumOf {
		s.sources[c.Source()] = true
	}
	if r := s.open[l.run]; r != nil && l.run != "" {
		at := slices.IndexFunc(leaves, func(o leaf) bool { return o.Path == r.blamed().Path })
		if p := (planned{leaves: leaves}); at >= 0 && p.gives(r.blamed()) < 0 {
			c := s.by[r.way()]
			c.add(l.failed())
			s.by[r.way()] = c
		}
		delete(s.open, l.run)
	}
	if l.failed() {
		r := refusalOf(c.Output, leaves)
		l.said = messageHash(r.text)
		if r.leaf >= 0 {
			s.open[l.run] = r
		}
		return
	}
	for i := range leaves {
		v := &leaves[i]
		if l.score >= memoryd.ScoreSuccess && v.Kind != tested.Array && v.Kind != tested.Object && v.Length <= maxValue && !isID(v) {
			s.vouch(v, l, c.Source())
		}
		if isID(v) {
			s.good[valueHash(v.Path, v.Text)] = true
			if kind := kindOf(v.Text); kind != "" {
				s.good[kindHash(v.Path, kind)] = true
			}
		}
	}
}

// isID reports whether a value looks like an identifier.
func isID(l *leaf) bool {
	return l.Kind == tested.Text && len(l.Text) <= maxValue && tested.IdentifierLike(l.Text)
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

// comparedWords is how many words of messages are compared.
const comparedWords = 12

// messageHash is the same for messages that differ in numbers only, or after so many
// words.
func messageHash(message string) uint64 {
	words := strings.FieldsFunc(message, func(r rune) bool { return !unicode.IsLetter(r) })
	h := seed
	for _, w := range words[:min(len(words), comparedWords)] {
		h = h.add(w)
	}
	return uint64(h)
}
