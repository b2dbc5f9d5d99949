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

// novelty is the share of an input's pieces that no fully successful call had, as
// the mean over the aspects. It holds, by aspect and piece, the folds in which
// successes had it.
type novelty [aspects][]uint8

func newNovelty(h *history) *novelty {
	var n novelty
	for a := range n {
		n[a] = make([]uint8, len(h.read.parts.keys))
		for i, call := range h.judged {
			if h.calls[call].score < memoryd.ScoreSuccess {
				continue
			}
			for _, p := range h.read.pieces[a].of(int(call)) {
				n[a][p] |= 1 << h.fold[i]
			}
		}
	}
	return &n
}

// without is the novelty of a call of the history among the successes of the
// other folds.
func (n *novelty) without(h *history, call int32, fold uint8) float64 {
	var sum float64
	for a := range n {
		pieces, fresh := h.read.pieces[a].of(int(call)), 0
		for _, p := range pieces {
			if n[a][p]&^(1<<fold) == 0 {
				fresh++
			}
		}
		sum += share(fresh, len(pieces))
	}
	return sum
}

func share(fresh, all int) float64 {
	return float64(fresh) / float64(max(1, all)) / float64(aspects)
}

// familiar are the pieces of successful calls: what stays of a novelty.
type familiar [aspects]map[uint64]struct{}

func (n *novelty) trained(h *history) *familiar {
	var good familiar
	for a := range n {
		good[a] = map[uint64]struct{}{}
		for p, folds := range n[a] {
			if folds != 0 {
				good[a][h.read.parts.keys[p]] = struct{}{}
			}
		}
	}
	return &good
}

// novelty is that of an input.
func (g *familiar) novelty(in *planned) float64 {
	var sum float64
	for a := range g {
		fresh := 0
		for _, p := range in.pieces[a] {
			if _, known := g[a][p]; !known {
				fresh++
			}
		}
		sum += share(fresh, len(in.pieces[a]))
	}
	return sum
}

func (c *collector) piece(a aspect, h hash) { c.pieces[a].put(c.parts.number(uint64(h))) }

// piecesOf notes the pieces of a text in lower case, but for its words.
func (c *collector) piecesOf(at hash, lower string) {
	r := &c.room
	if len(r.plain) > 0 {
		r.form = appendCasedSkeleton(r.form[:0], r.plain[0])
		c.piece(opening, at.bytes(r.form))
	}
	for i, f := range r.fields {
		c.piece(argument, at.add(f))
		prefixes(f, func(p string) { c.piece(place, at.add(p)) })
		c.piece(shape, at.bytes(c.skeleton(f)))
		if i == 0 {
			c.piece(start, at.add(f))
		}
	}
	for s := range strings.FieldsFuncSeq(lower, func(r rune) bool { return r == '|' || r == ';' || r == '&' || r == '\n' }) {
		for f := range strings.FieldsSeq(s) {
			c.piece(step, at.add(f))
			break
		}
	}
}

// mostPrefixes is how deep into a path is looked.
const mostPrefixes = 4

// prefixes gives the folders of a text that is a path.
func prefixes(s string, give func(string)) {
	if strings.IndexByte(s, '/') < 0 {
		return
	}
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
