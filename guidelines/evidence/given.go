package evidence

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"memoryd/guidelines/rules"
)

// as is a value that a good call gave as a parameter.
type as struct{ path, text string }

// use is the tool that a value was given to, and the parameter.
type use struct{ tool, path string }

// Limits on what is remembered of the values that a run gave.
const (
	maxGiven = 80 // bytes of a value
	telling  = 4  // characters of a number that names something whatever parameter gives it
)

// given are the hashes of a value that a call gives, as its parameter and as any; 0 where it names
// nothing. A short number names something as the same parameter only, not anywhere.
func given(l *rules.Leaf) (hashes [2]uint64) {
	isText := l.Kind == rules.Text && len(l.Text) > 0 && len(l.Text) <= maxGiven
	if !isText && l.Kind != rules.Number || strings.Contains(l.Path, "[]") {
		return hashes
	}
	hashes[0] = maphash.Comparable(seed, as{l.Path, l.Text})
	if isText || len(l.Text) >= telling {
		hashes[1] = maphash.String(seed, l.Text)
	}
	return hashes
}

// last says in which tools the run used the values of an input last: as the same parameter, else as
// any.
func (r *run) last(leaves []rules.Leaf) (list []rules.Used) {
	for i := range leaves {
		for _, hash := range given(&leaves[i]) {
			if in, known := r.given[hash]; known && hash != 0 {
				list = append(list, rules.Used{Path: leaves[i].Path, In: in})
				break
			}
		}
	}
	return list
}

// give notes the values that a good call gave to a tool.
func (r *run) give(tool string, leaves []rules.Leaf) {
	for i := range leaves {
		hashes := given(&leaves[i])
		in, named := r.names[use{tool, leaves[i].Path}]
		switch {
		case hashes[0] == 0, !named && len(r.names) == maxRunValues:
			continue
		case !named: // one text for all of the run
			in = tool + " " + leaves[i].Path
			r.names[use{tool, strings.Clone(leaves[i].Path)}] = in
		}
		for _, hash := range hashes {
			if _, known := r.given[hash]; hash != 0 && (known || len(r.given) < maxRunValues) {
				r.given[hash] = in
			}
		}
	}
}

// again reports whether a good call of the run was the same, and notes a good one.
func (r *run) again(call uint64, good bool) bool {
	before := r.made[call]
	if good && len(r.made) < maxRunValues {
		r.made[call] = true
	}
	return before
}

// newest are the places of the first n tools in the order of their last good answers, the newest first.
func (r *run) newest(n int) []uint8 {
	places := make([]uint8, n)
	for i := range places {
		places[i] = uint8(i) //nolint:gosec // below MaxBefore
	}
	slices.SortFunc(places, func(a, b uint8) int { return cmp.Compare(r.good[b], r.good[a]) })
	return places
}

// place is where a tool that answered stands among those of the run; false for one too many.
func (r *run) place(tool string) (at int, ok bool) {
	if at = slices.Index(r.tools, tool); at < 0 {
		if len(r.tools) >= maxRunTools {
			return 0, false
		}
		at = len(r.tools)
		r.tools, r.good = append(r.tools, tool), append(r.good, 0)
	}
	r.answers++
	r.good[at] = r.answers
	return at, true
}
