package evidence

import (
	"hash/maphash"
	"slices"
	"strings"

	"memoryd/guidelines/rules"
)

// value is a value that good calls gave: as the parameter at a place of the run's paths, or as any.
type value struct {
	hash uint64
	path uint8
}

// anyPath stands for all parameters.
const anyPath = maxRunPaths

// gave is which tool a good call gave a value to, and as what: their places.
type gave struct{ tool, path uint8 }

// Limits on what is remembered of the values that a run gave.
const (
	maxRunPaths = 64
	maxGiven    = 80 // bytes of a value
	telling     = 4  // characters of a number that names something whatever parameter gives it
)

// given is what is remembered of a value that a call gives; false for one that names nothing. A short
// number names something as the same parameter only, not anywhere.
func given(seed maphash.Seed, l *rules.Leaf) (hash uint64, anywhere, ok bool) {
	switch {
	case strings.Contains(l.Path, "[]"):
		return 0, false, false
	case l.Kind == rules.Text && len(l.Text) > 0 && len(l.Text) <= maxGiven:
		anywhere = true
	case l.Kind == rules.Number:
		anywhere = len(l.Text) >= telling
	default:
		return 0, false, false
	}
	return maphash.String(seed, l.Text), anywhere, true
}

// last says in which tools the run used the values of an input last: as the same parameter, else as
// any.
func (r *run) last(seed maphash.Seed, leaves []rules.Leaf) (list []rules.Used) {
	for i := range leaves {
		hash, anywhere, ok := given(seed, &leaves[i])
		if !ok {
			continue
		}
		g, known := gave{}, false
		if at := slices.Index(r.paths, leaves[i].Path); at >= 0 {
			g, known = r.given[value{hash, uint8(at)}] //nolint:gosec // below maxRunPaths
		}
		if !known && anywhere {
			g, known = r.given[value{hash, anyPath}]
		}
		if known {
			list = append(list, rules.Used{Path: leaves[i].Path, In: r.name(g)})
		}
	}
	return list
}

// name is a use as "tool parameter", one text for all of the run.
func (r *run) name(g gave) string {
	name, known := r.names[g]
	if !known {
		name = r.tools[g.tool] + " " + r.paths[g.path]
		r.names[g] = name
	}
	return name
}

// since are, of the first n tools of the run, those called since the last good call of one; see
// rules.Call.
func (r *run) since(tool string, n int) uint32 {
	last, mask := -1, uint32(rules.SinceKnown)
	if at := slices.Index(r.tools, tool); at >= 0 {
		last = r.good[at]
	}
	for i := range n {
		if r.good[i] > last {
			mask |= 1 << i
		}
	}
	return mask
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

// give notes the values that a good call gave to a tool.
func (r *run) give(seed maphash.Seed, tool uint8, leaves []rules.Leaf) {
	for i := range leaves {
		hash, anywhere, ok := given(seed, &leaves[i])
		if !ok {
			continue
		}
		path := slices.Index(r.paths, leaves[i].Path)
		if path < 0 && len(r.paths) < maxRunPaths {
			path = len(r.paths)
			r.paths = append(r.paths, strings.Clone(leaves[i].Path))
		}
		if path < 0 {
			continue
		}
		at := []value{{hash, uint8(path)}, {hash, anyPath}} //nolint:gosec // below maxRunPaths
		if !anywhere {
			at = at[:1]
		}
		for _, v := range at {
			if _, known := r.given[v]; known || len(r.given) < maxRunValues {
				r.given[v] = gave{tool, uint8(path)} //nolint:gosec // below maxRunPaths
			}
		}
	}
}
