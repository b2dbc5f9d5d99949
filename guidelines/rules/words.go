package rules

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastWord is of how many letters a word is at least that a line tells, mostWords how many it tells.
const (
	leastWord = 2
	mostWords = 6
)

// wordsIn are the words of a text, as names are written in it.
func wordsIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// named is the hypothesis that a text has words that messages name, and that no good call had: as of
// columns that a table does not have. A word that messages name to calls without it, too, is the tool's own.
func (s *search) named(p string) []hypothesis {
	by := tally{}
	for i := range s.rows {
		r := &s.rows[i]
		words := wordsIn(r.in[p].text)
		if !r.Bad || r.in[p].kind != text || len(words) < 2 { // of a single one the value tells
			continue
		}
		slices.Sort(words)
		for _, w := range slices.Compact(words) {
			if len(w) >= leastWord && strings.Trim(w, "0123456789") != "" && Named(r.Message, w) {
				by.add(w, r)
			}
		}
	}
	for i := range s.rows {
		if s.rows[i].Bad {
			continue
		}
		for _, w := range wordsIn(s.rows[i].in[p].text) {
			delete(by, w)
		}
	}
	maps.DeleteFunc(by, func(w string, q *quorum) bool {
		return !q.of(leastBad) || among(s.rows, func(r *row) bool {
			return r.Bad && Named(r.Message, w) && !Named(r.in[p].text, w)
		})
	})
	words := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b].calls, by[a].calls), cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	if len(words) == 0 {
		return nil
	}
	return []hypothesis{{what: has, p: p, set: words[:min(len(words), maxSmall)]}}
}

// wordsShown are the words that a line tells: of enough calls, of several parties where several are
// known.
func (h *hypothesis) wordsShown(behind []*row, parties bool) (show []string) {
	by := tally{}
	for _, b := range behind {
		for _, w := range h.set {
			if Named(b.in[h.p].text, w) {
				by.add(w, b)
			}
		}
	}
	for _, w := range h.set {
		if q := by[w]; q != nil && q.met(parties) && shown(w) && len(show) < mostWords {
			show = append(show, "`"+w+"`")
		}
	}
	return show
}

// Named reports whether a message holds the name of a parameter, with no letter or digit
// of the same script beside it. An empty name stands in none.
func Named(message, p string) bool {
	for rest := message; p != ""; {
		before, after, found := strings.Cut(rest, p)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !isNamePart(last) && !isNamePart(next) {
			return true
		}
		rest = after
	}
	return false
}

// isNamePart leaves the scripts out that part words by no blank.
func isNamePart(r rune) bool {
	return r == '_' || (unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// Speaks reports whether a message holds the name of a parameter, or its words joined otherwise:
// max_results as maxResults, "max results" or MAX-RESULTS.
func Speaks(message, p string) bool {
	words := snake(p)
	if !strings.Contains(words, "_") {
		return Named(message, p)
	}
	said := snake(message)
	return Named(said, words) || Named(said, strings.ReplaceAll(words, "_", " "))
}

// told are the parameters that the messages of a kind of failure name, or of which each repeats what the call gave.
func (s *search) told(kind string) map[string]bool {
	if told, known := s.toldBy[kind]; known {
		return told
	}
	told := map[string]bool{}
	for i := range s.columns {
		p := s.columns[i].name
		told[p] = Speaks(kind, nameOf(p)) || s.repeats(kind, p)
	}
	s.toldBy[kind] = told
	return told
}

// repeats reports whether each message of a kind of failure repeats what the call gave for a parameter.
func (s *search) repeats(kind, p string) (all bool) {
	p, _ = base(p)
	for i := range s.rows {
		if r := &s.rows[i]; r.Bad && r.kind == kind {
			if all = slices.Contains(r.repeated, p); !all {
				return false
			}
		}
	}
	return all
}

// snake is a text with its names in small letters, their words joined by underscores.
func snake(s string) string {
	var b strings.Builder
	last := ' '
	for _, r := range s {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte('_')
		}
		if last = r; r == '-' {
			r = '_'
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
