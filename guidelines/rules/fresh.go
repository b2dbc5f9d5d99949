package rules

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Fresh are the words of a text of an input, such as a query or a command, that no good call of the run had
// before, in a text of its own or in its answer: each behind what stands before it, as "from orders where total".
type Fresh struct {
	Path  string `json:"p"`
	Words string `json:"w"`
}

// Limits on what is read of texts.
const (
	leastName  = 4 // bytes of a word that may name something
	mostName   = 40
	maxFresh   = 24 // words of one text
	readText   = 2 << 10
	maxFreshs  = 4 // texts of one input
	leastNames = 3 // different ones that failed
)

// InWord reports whether a byte belongs to a word that may be a name.
func InWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || isDigit(b) || b == '_' || b >= 0x80
}

// NumberOf is the number of a word, in capitals or small letters; 0 for one that is too short to name something.
func NumberOf(word string) uint64 {
	if len(word) < leastName {
		return 0
	}
	number := uint64(14695981039346656037)
	for i := 0; i < len(word); i += 8 {
		var part uint64
		for k := i; k < min(i+8, len(word)); k++ {
			part = part<<8 | uint64(word[k]|0x20)
		}
		number = (number ^ part) * 0x9e3779b97f4a7c15
		number ^= number >> 32
	}
	return number
}

// FreshOf lists the words of the texts of an input that are not known. Each word is noted.
func FreshOf(leaves []Leaf, known func(word uint64) bool, note func(word uint64)) (list []Fresh) {
	for i := range leaves {
		l := &leaves[i]
		if l.Kind != Text || l.Path == "" || strings.Contains(l.Path, "[]") || len(list) == maxFreshs {
			continue
		}
		text := l.Text[:min(len(l.Text), readText)]
		if !strings.ContainsAny(strings.TrimSpace(text), " \n") {
			continue
		}
		if words := freshIn(text, known, note); words != "" {
			list = append(list, Fresh{l.Path, words})
		}
	}
	return list
}

// freshIn reads a text. What it quotes is no name.
func freshIn(text string, known func(word uint64) bool, note func(word uint64)) string {
	before, out, found := "^", []byte(nil), make([]uint64, 0, maxFresh)
	for i := 0; i < len(text); {
		c := text[i]
		if !InWord(c) {
			i++
			if end := strings.IndexByte(text[i:], c); (c == '\'' || c == '"') && end >= 0 {
				i += end + 1
			} else if c > ' ' {
				before = text[i-1 : i]
			}
			continue
		}
		from := i
		for i < len(text) && InWord(text[i]) {
			i++
		}
		word := text[from:i]
		if isDigit(c) {
			before = "0"
			continue
		}
		if number := NumberOf(word); number != 0 {
			if len(word) <= mostName && len(found) < maxFresh && !known(number) && !slices.Contains(found, number) {
				found = append(found, number)
				out = append(append(append(append(out, ' '), strings.ToLower(before)...), ' '), strings.ToLower(word)...)
			}
			note(number)
		}
		before = word[:min(len(word), leastName*leastName)]
	}
	return strings.TrimPrefix(string(out), " ")
}

// freshWord is a word that no good call of the run had before, and what stands before it.
type freshWord struct{ path, before, word string }

func freshWords(list []Fresh) (words []freshWord) {
	for _, f := range list {
		fields := strings.Fields(f.Words)
		for i := 0; i+1 < len(fields); i += 2 {
			words = append(words, freshWord{f.Path, fields[i], fields[i+1]})
		}
	}
	return words
}

// usual are the runs, at most three, whose good calls had a word as a fresh one: those of two others show
// that it is no name of something that one run alone knows.
type usual map[string][]uint64

func usualOf(calls []Call) usual {
	u := usual{}
	for i := range calls {
		if c := &calls[i]; !c.Bad && c.Named {
			for _, w := range freshWords(c.Fresh) {
				if of := u[w.word]; len(of) <= minRuns && !slices.Contains(of, c.Run) {
					u[w.word] = append(of, c.Run)
				}
			}
		}
	}
	return u
}

func (u usual) has(word string, run uint64) bool {
	n := 0
	for _, r := range u[word] {
		if r != run {
			n++
		}
	}
	return n >= minRuns
}

// strange yields the words of a text that neither the run nor other runs know.
func (r *row) strange(p string, u usual) iter.Seq[freshWord] {
	return func(yield func(freshWord) bool) {
		for _, w := range r.fresh {
			if w.path == p && !u.has(w.word, r.Run) && !yield(w) {
				return
			}
		}
	}
}

// names counts the different words by which calls that went wrong, in one way or in any, met the condition: one
// that failed again and again shows what became of it, not that it was unknown.
func (s *search) names(c *candidate, kind string) float64 {
	words := map[string]bool{}
	for i := range s.rows {
		r := &s.rows[i]
		if !c.meets[i] || !r.Bad || kind != "" && r.kind != kind {
			continue
		}
		for w := range r.strange(c.p, c.usual) {
			if slices.Contains(c.set, w.before) {
				words[w.word] = true
			}
		}
	}
	if len(words) < leastNames {
		return 0
	}
	return float64(len(words))
}

// strangers are the hypotheses that a text has a word that nobody knows, where names stand in it: behind
// those words or marks behind which it was mostly bad calls that had one.
func (s *search) strangers() (out []hypothesis) {
	if s.hints || s.recent {
		return nil
	}
	var paths []string
	for i := range s.rows {
		for _, w := range s.rows[i].fresh {
			if !slices.Contains(paths, w.path) && tellable(w.path) {
				paths = append(paths, w.path)
			}
		}
	}
	for _, p := range paths {
		u, by, all := s.rows[0].usual, tally{}, map[string]bool{}
		strange := make([][]string, len(s.rows))
		for i := range s.rows {
			r := &s.rows[i]
			for w := range r.strange(p, u) {
				if slices.Contains(strange[i], w.before) {
					continue
				}
				strange[i], all[w.before] = append(strange[i], w.before), true
				if r.Bad {
					by.add(w.before, r)
				}
			}
		}
		if set := s.namesBehind(strange, by); len(set) > 0 {
			out = append(out, hypothesis{what: unknown, p: p, set: set, of: len(all), usual: u})
		}
	}
	return out
}

// maxBehind is how many words and marks are looked at behind which a name may stand.
const maxBehind = 24

// namesBehind chooses words and marks, the surest first, as long as hardly a good call is among those that
// have a strange word behind one of them.
func (s *search) namesBehind(strange [][]string, by tally) (set []string) {
	maps.DeleteFunc(by, func(_ string, q *quorum) bool { return !q.of(leastBad) })
	list := mostCalls(by)
	list = list[:min(len(list), maxBehind)]
	met := make([]bool, len(s.rows))
	for good := 0.0; ; {
		top, rank, more := "", 0.0, 0.0
		for _, before := range list {
			b, g := 0.0, 0.0
			for i := range s.rows {
				if !met[i] && slices.Contains(strange[i], before) {
					if s.rows[i].Bad {
						b++
					} else {
						g++
					}
				}
			}
			if q := (b + 0.5) / (b + g + 1); b >= leastBad && good+g <= maxWrong*s.good && q > rank {
				top, rank, more = before, q, g
			}
		}
		if top == "" {
			break
		}
		set, good = append(set, top), good+more
		for i := range met {
			met[i] = met[i] || slices.Contains(strange[i], top)
		}
	}
	slices.Sort(set)
	return set
}

// mostCalls are the texts of a tally, those with most calls first.
func mostCalls(by tally) []string {
	return slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b].calls, by[a].calls), strings.Compare(a, b))
	})
}
