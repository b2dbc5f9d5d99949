package rules

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// unused is the last use of a value that no good call of the run gave before.
const unused = "-"

// there begins a use that stands for a value which no good call of the run needs to give before.
const there = "= "

// lastUse is in which tool the run used the value of a parameter last, as "tool parameter"; unused
// for none, "" where that is not known.
func (r *row) lastUse(p string) string {
	v := r.in[p]
	if len(r.Newest) < len(r.Before) || v.kind != text && v.kind != number {
		return ""
	}
	if at := slices.IndexFunc(r.Last, func(u Used) bool { return u.Path == p }); at >= 0 {
		return r.Last[at].In
	}
	return unused
}

// lasts are the hypotheses on what the run did last with a value: that a call went wrong after one
// use, or after none of those that good calls came after.
func (s *search) lasts(p string) (out []hypothesis) {
	by := tallied{}
	for i := range s.rows {
		if use := s.rows[i].lastUse(p); use != "" {
			by.add(use, s.rows[i].Bad)
		}
	}
	if values := s.always(p); by[unused].bad > 0 && len(values) > 0 && len(values) <= maxSet {
		good := slices.DeleteFunc(by.of(1, 0), func(use string) bool { return use == unused })
		if slices.ContainsFunc(good, func(use string) bool { return use != s.own+" "+p }) { // that a value works again says nothing of it
			out = append(out, hypothesis{what: lastNotIn, p: p, set: append(good, values...), of: len(by) + len(s.column(p).texts)})
		}
	}
	if good := by.of(1, 0); len(good) > 0 && len(good) < len(by) && len(good) <= maxSet {
		out = append(out, hypothesis{what: lastNotIn, p: p, set: good, of: len(by)})
	}
	for _, use := range by.of(0, minCalls) {
		if use != unused && len(by) > 1 {
			out = append(out, hypothesis{what: lastIs, p: p, set: []string{use}})
		}
	}
	return out
}

// always lists, as uses, the values that mostly worked where the run had not used them before:
// they are there from the start. What else went wrong with them has other causes.
func (s *search) always(p string) (out []string) {
	good, bad := tally{}, map[string]int{}
	for i := range s.rows {
		if r := &s.rows[i]; r.lastUse(p) == unused {
			if r.Bad {
				bad[r.in[p].text]++
			} else {
				good.add(r.in[p].text, r)
			}
		}
	}
	for _, v := range slices.Sorted(maps.Keys(good)) {
		if good[v].met(s.parties) && good[v].calls > bad[v] {
			out = append(out, there+v)
		}
	}
	return out
}

func isThere(use string) bool { return strings.HasPrefix(use, there) }

// valuesThere are the values that a line tells as those that are always there.
func (h *hypothesis) valuesThere() (out []string) {
	for _, use := range h.set {
		if v, is := strings.CutPrefix(use, there); is && shown(v) {
			out = append(out, strconv.Quote(v))
		}
	}
	return out
}

// usesShown are the uses that a line on what the run did last names, the most frequent first: those
// of good calls, or of bad ones where values that were not used before worked.
func (h *hypothesis) usesShown(rows []row) []string {
	bad := h.what == lastIs || slices.Contains(h.set, unused)
	by := map[string]int{}
	for i := range rows {
		if r := &rows[i]; r.Bad == bad && h.holds(r) == bad {
			by[r.lastUse(h.p)]++
		}
	}
	delete(by, "")
	delete(by, unused)
	uses := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(by[b]-by[a], strings.Compare(a, b)) })
	var shown []string
	for _, use := range uses {
		tool, as, _ := strings.Cut(use, " ")
		switch {
		case len(shown) == mostUses || !tellable(tool) || !tellable(as):
		case as != h.p:
			shown = append(shown, "`"+tool+"` (as `"+as+"`)")
		default:
			shown = append(shown, "`"+tool+"`")
		}
	}
	return shown
}

// mostUses is how many uses a line names.
const mostUses = 3
