package records

import (
	"math"
	"slices"
	"strings"

	"memoryd/internal/textsafe"
)

// value is what is known of one value's use.
type value struct {
	text  string
	ident bool
	code  bool   // a word that programs write
	under string // the label that it stood behind
	first int32  // the oldest message that it stands in
	last  int32  // the newest message that it stands in
	passed,
	covered bool // it stands in what is kept or chosen
	focus bool // a person, the assistant or a call names it in what is kept
}

// values indexes the values of a Set.
type values struct {
	all   []value
	index map[string]int32
	under map[string]int // how many values stood behind a label
	found []int32        // of a text that is being read
}

// init makes room for the values that texts of so many bytes may have.
func (v *values) init(bytes int) {
	v.all, v.index, v.under = make([]value, 0, bytes/bytesOfAValue), make(map[string]int32, bytes/bytesOfAValue), map[string]int{}
}

// bytesOfAValue is how much text has one value that is new, in what tools answer.
const bytesOfAValue = 32

func (v *values) id(text string, place int) int32 {
	k, ok := v.index[text]
	if !ok {
		k = int32(len(v.all))
		v.index[text] = k
		v.all = append(v.all, value{text: text, first: int32(place), ident: identifies(text), code: written(text)})
	}
	x := &v.all[k]
	x.last = max(x.last, int32(place))
	return k
}

// maxWords bounds how many plain words of a line count.
const maxWords = 8

// words gives the values of a free text: what looks like an identifier, and some
// plain words.
func (v *values) words(text string, place int, plainToo bool) []int32 {
	ids, plain := v.found[:0], 0
	eachWord(text, func(w string) {
		if identifies(w) || written(w) {
			ids = append(ids, v.id(w, place))
		} else if plainToo && plain < maxWords && len(w) >= 4 {
			plain++
			ids = append(ids, v.id(w, place))
		}
	})
	v.found = ids
	return slices.Clone(ids)
}

// leaf gives the values of one JSON value: itself and the identifiers in it.
func (v *values) leaf(label, text string, place int) []int32 {
	ids := []int32{v.id(text, place)}
	if x := &v.all[ids[0]]; x.under == "" && label != "" {
		x.under = label
		v.under[label]++
	}
	if strings.ContainsAny(text, " ,;") && len(text) < 2000 {
		eachWord(text, func(w string) {
			if w != text && identifies(w) {
				ids = append(ids, v.id(w, place))
			}
		})
	}
	return ids
}

// eachWord splits at white space and the punctuation around words, and where a script
// without spaces meets another.
func eachWord(text string, f func(string)) {
	for i := 0; i < len(text); {
		if separates[text[i]] {
			i++
			continue
		}
		j, unspaced := i+1, spaceless[text[i]]
		for j < len(text) && !separates[text[j]] && (spaceless[text[j]] == unspaced || further[text[j]]) {
			j++
		}
		w := text[i:j]
		for w != "" && encloses[w[0]] {
			w = w[1:]
		}
		for w != "" && encloses[w[len(w)-1]] {
			w = w[:len(w)-1]
		}
		if w != "" {
			f(w)
		}
		i = j
	}
}

// What separates words, punctuation that is no part of the word that it stands at, the first
// bytes of the characters from U+3000 to U+FFFF (scripts of East Asia and their punctuation), and
// the further bytes of any.
var (
	separates = textsafe.BytesOf("", " \n\t\r\"'(),;[]{}<>=|\\`")
	encloses  = textsafe.BytesOf("", ".:,!?*`-")
	spaceless = textsafe.BytesOf("\xe3\xef", "")
	further   = textsafe.BytesOf("\x80\xbf", "")
)

// What identifiers are made of.
var (
	inDigits  = textsafe.BytesOf("09", "")
	inLetters = textsafe.BytesOf("azAZ", "")
	inMarks   = textsafe.BytesOf("", "_/@-:#")
)

// identifies reports whether a value looks like something that a later step must
// quote exactly: digits with letters or separators, five digits or more, a path,
// an address.
func identifies(s string) bool {
	if len(s) < 3 || len(s) > 200 || strings.IndexByte(s, ' ') >= 0 {
		return false
	}
	digits, letters, marks := 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case inDigits[c]:
			digits++
		case inWords[c]:
			letters++
		case inMarks[c]:
			marks++
		}
	}
	switch {
	case digits > 0 && (s[0] == '-' || s[0] == '$' || s[2] == ':') && strings.Trim(s[1:], "0123456789.,:") == "":
		return false
	case digits >= 4:
		return true
	case digits > 0:
		return letters+marks > 0
	}
	slash := strings.Count(s, "/")
	return letters > 0 && (slash > 1 || slash == 1 && s[0] == '/' || strings.IndexByte(s, '@') > 0)
}

// written reports a word that programs write: with an underscore, or with a dot
// inside, as names of files and members have.
func written(s string) bool {
	if len(s) > 80 {
		return false
	}
	before, after, _ := strings.Cut(s, ".")
	return strings.IndexByte(s, '_') > 0 || before != "" && after != "" && inLetters[after[0]]
}

// mention notes which values a text of a person or of the assistant holds; what is asked now
// is about them where it is to the point.
func (v *values) mention(t *Text, focus bool) {
	eachWord(t.Body, func(w string) {
		if k, ok := v.index[w]; ok {
			x := &v.all[k]
			x.last = max(x.last, int32(t.Place))
			x.covered = x.covered || t.Kept
			x.focus = x.focus || focus
		}
	})
}

// The weight of a value: base and its recency, which falls to 1/e within halfLife of the
// messages, more where a call passed it; times wordWorth for what does not look like an
// identifier.
const (
	base        = 0.4
	passedWorth = 0.6
	halfLife    = 0.35
	wordWorth   = 0.03
	manyAlike   = 0.25
)

// weigh gives each value its weight.
func (s *Set) weigh() []float64 {
	ws := make([]float64, len(s.values.all))
	for i := range s.values.all {
		x := &s.values.all[i]
		age := float64(s.o.End-1-int(x.last)) / float64(max(1, s.o.End))
		w := base + math.Exp(-age/halfLife)
		if x.passed {
			w += passedWorth
		}
		kind := wordWorth
		if x.ident || x.code {
			kind = 1
		}
		if n := s.values.under[x.under]; n > 1 { // of many, any one is needed less often
			w /= math.Pow(float64(n), manyAlike)
		}
		ws[i] = w * kind
	}
	return ws
}
