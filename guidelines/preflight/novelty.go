package preflight

import (
	"strings"

	"memoryd"
)

// aspect is a way to cut an input for novelty.
type aspect uint8

const (
	anyWord  aspect = iota // words
	argument               // runs between blanks
	start                  // how a text starts
	opening                // the form of that, capitals told from small letters
	place                  // folders, by each prefix of a path
	step                   // how each part between separators of commands starts
	shape                  // the form of runs between blanks
	aspects
)

// novelty knows what fully successful calls were made of.
type novelty struct {
	good [aspects]map[uint64]bool
}

func newNovelty(calls []learned) *novelty {
	n := &novelty{}
	for a := range aspects {
		n.good[a] = map[uint64]bool{}
		for i := range calls {
			if calls[i].score < memoryd.ScoreSuccess {
				continue
			}
			for _, s := range calls[i].pieces[a] {
				n.good[a][s] = true
			}
		}
	}
	return n
}

// of is the share of the input's pieces that no successful call had, as the mean
// over the aspects.
func (n *novelty) of(p planned) float64 {
	var sum float64
	for a := range aspects {
		fresh := 0
		for _, s := range p.pieces[a] {
			if !n.good[a][s] {
				fresh++
			}
		}
		sum += float64(fresh) / float64(max(1, len(p.pieces[a]))) / float64(aspects)
	}
	return sum
}

// pieces lists the pieces of an input, each once.
func pieces(leaves []leaf) (out [aspects][]uint64) {
	var seen [aspects]map[uint64]bool
	for a := range aspects {
		seen[a] = map[uint64]bool{}
	}
	each(leaves, func(a aspect, path, s string) {
		if h := uint64(seed.add(path).add(s)); !seen[a][h] {
			seen[a][h] = true
			out[a] = append(out[a], h)
		}
	})
	return out
}

// each gives the pieces of an input with the path before them.
func each(leaves []leaf, give func(a aspect, path, s string)) {
	for _, l := range leaves {
		at := l.path
		switch l.kind {
		case object, list:
			continue
		case number, word:
			give(argument, at, l.text)
			continue
		case text:
		}
		for _, w := range wordsOf(l.text) {
			give(anyWord, at, w)
		}
		if f := strings.Fields(l.text); len(f) > 0 {
			give(opening, at, casedSkeleton(f[0]))
		}
		fields := strings.Fields(strings.ToLower(l.text))
		for i, f := range fields {
			give(argument, at, f)
			prefixes(f, func(p string) { give(place, at, p) })
			give(shape, at, skeleton(f))
			if i == 0 {
				give(start, at, f)
			}
		}
		for _, s := range strings.FieldsFunc(strings.ToLower(l.text), func(r rune) bool { return r == '|' || r == ';' || r == '&' || r == '\n' }) {
			if f := strings.Fields(s); len(f) > 0 {
				give(step, at, f[0])
			}
		}
	}
}

// mostPrefixes is how deep into a path is looked.
const mostPrefixes = 4

// prefixes gives the folders of a text that is a path.
func prefixes(s string, give func(string)) {
	s = strings.Trim(s, "'\"`(){}[],;")
	for n, at := 0, 0; n < mostPrefixes; n++ {
		next := strings.IndexByte(s[min(len(s), at+1):], '/')
		if next < 0 {
			if n > 0 || strings.HasPrefix(s, "/") {
				give(s)
			}
			return
		}
		at += 1 + next
		give(s[:at])
	}
}
