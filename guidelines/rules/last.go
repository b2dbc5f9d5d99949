package rules

import (
	"slices"
	"strings"
)

// unused is the last use of a value that no good call of the run gave before.
const unused = "-"

// otherUses, among uses that tell nothing, are those as another parameter where there is one as the
// same.
const otherUses = "*"

// MaxLast is how many uses of a value are compared, LongNumber how many characters a number has
// that may name something.
const (
	MaxLast    = 3
	LongNumber = 4
)

// lastUse is in which tool the run used the value of a parameter last, as "tool parameter", but for
// uses that tell nothing; unused for none, "" where that is not known.
func (r *row) lastUse(p string, through []string) string {
	v := r.in[p]
	if r.Since == 0 || v.kind != text && (v.kind != number || len(v.text) < LongNumber) {
		return ""
	}
	var uses []string
	if at := slices.IndexFunc(r.Last, func(u Used) bool { return u.Path == p }); at >= 0 {
		uses = r.Last[at].In
	}
	at := slices.IndexFunc(uses, func(use string) bool { return !slices.Contains(through, use) })
	if slices.Contains(through, otherUses) {
		at = max(0, slices.IndexFunc(uses, func(use string) bool { return strings.HasSuffix(use, " "+p) }))
	}
	if at < 0 || len(uses) == 0 {
		return unused
	}
	return uses[at]
}

// mixedUse is how many good calls, and how many bad ones, came after a use that may tell nothing.
const mixedUse = 2

// lasts are the hypotheses on what the run did last with a value: that a call went wrong after one
// use, or after none of those that good calls came after. All uses count, or first those as the same
// parameter, or none that good and bad calls came after.
func (s *search) lasts(c *column) (out []hypothesis) {
	out = lastsOf(c.name, s.uses(c.name, nil), nil)
	if len(out) == 0 {
		return nil
	}
	same := []string{otherUses}
	out = append(out, lastsOf(c.name, s.uses(c.name, same), same)...)
	var through []string
	for more := true; more; {
		n := len(through)
		for _, use := range s.uses(c.name, through).of(mixedUse, mixedUse) {
			if use != unused {
				through = append(through, use)
			}
		}
		more = len(through) > n
	}
	if len(through) > 0 {
		out = append(out, lastsOf(c.name, s.uses(c.name, through), through)...)
	}
	return out
}

// uses counts the calls after each last use of a value.
func (s *search) uses(p string, through []string) tallied {
	by := tallied{}
	for i := range s.rows {
		if use := s.rows[i].lastUse(p, through); use != "" {
			by.add(use, s.rows[i].Bad)
		}
	}
	return by
}

func lastsOf(p string, by tallied, through []string) (out []hypothesis) {
	if len(by) < 2 {
		return nil // all came after the same
	}
	if good := by.of(1, 0); len(good) > 0 && len(good) < len(by) && len(good) <= maxSet {
		out = append(out, hypothesis{what: lastNotIn, p: p, set: good, through: through, of: len(by)})
	}
	for _, use := range by.of(0, minCalls) {
		if use != unused {
			out = append(out, hypothesis{what: lastIs, p: p, set: []string{use}, through: through})
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
			by[r.lastUse(h.p, h.through)]++
		}
	}
	delete(by, "")
	delete(by, unused)
	var uses []string
	for use := range by {
		uses = append(uses, use)
	}
	slices.SortFunc(uses, func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(a, b)
	})
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

// anyOf joins with commas and "or".
func anyOf(list []string) string {
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " or " + list[n]
	}
	return strings.Join(list, "")
}
