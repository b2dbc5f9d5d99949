package rules

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSet and maxForms bound what a parameter may vary over to be a closed set.
const (
	maxSet    = 8
	maxForms  = 4
	maxStates = 8
)

// Head is how an identifier begins, up to its first digit; "" for a text that is none.
func Head(s string) string {
	at := strings.IndexAny(s, "0123456789")
	if at < 4 || !IdentifierLike(s) || s[at-1] != '_' && s[at-1] != '-' || strings.ContainsAny(s[:at], "/.:") {
		return ""
	}
	return s[:at]
}

// opening is the mark that a text begins with, as often as it stands there, at most three times.
func opening(s string) string {
	n := 0
	for n < min(len(s), 3) && s[n] == s[0] && s[0] > ' ' && s[0] < utf8.RuneSelf && !unicode.IsLetter(rune(s[0])) && !isDigit(s[0]) {
		n++
	}
	return s[:n]
}

// propose lists what the calls might have broken; for hints, one call is enough that gave a
// value.
func (s *search) propose(cols []column) []hypothesis {
	out, rows := hypotheses(s.proposed), s.rows
	for i := range cols {
		c := &cols[i]
		if _, property := base(c.name); property == ofType {
			out = append(out, c.types(s.good)...)
			continue
		} else if s.hints && c.property() {
			continue
		}
		if out = append(out, c.alone(rows, s.hints)...); c.property() {
			continue
		}
		if s.where != "" {
			out = append(out, s.lasts(c.name)...)
			continue
		}
		for j := range cols {
			q := &cols[j]
			if i == j || q.property() || listOf(c.name) != listOf(q.name) || within(q.name, c.name) || within(c.name, q.name) {
				continue
			}
			out = append(out, c.beside(rows, q, i < j)...)
			if c.numeric && !s.hints {
				out = append(append(out, aboveWithouts(rows, c, q.name)...), limits(rows, c.name, q.name)...)
			}
		}
		from := s.sources(c.name)
		out = append(append(out, from...), s.states(c.name)...)
		out = append(out, s.inWorld(c.name, from)...)
		if !s.hints {
			out = append(out, s.lasts(c.name)...)
			out = append(out, s.named(c.name)...)
		}
	}
	if s.where != "" {
		return out
	}
	if out = append(out, orders(rows)...); s.hints {
		return out // of so many pairs, one call tells nothing
	}
	if among(rows, func(r *row) bool { return r.Bad && r.Again }) {
		out = append(out, hypothesis{what: again})
	}
	return append(append(out, s.renewals()...), s.strangers()...)
}

// inWorld are the hypotheses on what the workspace knew of a value. Where good calls of runs mostly copied it from the
// answers of one tool, the line names that. One call is no hint where most good calls were not compared.
func (s *search) inWorld(p string, sources []hypothesis) (out []hypothesis) {
	if s.hints && 2*s.comparable(&hypothesis{what: nowhere}) <= s.good {
		return nil
	}
	if among(s.rows, func(r *row) bool { return r.Bad && slices.Contains(r.Strange, p) }) {
		h := hypothesis{what: nowhere, p: p}
		if len(sources) > 0 && sources[0].tool != "" {
			h.set = []string{sources[0].tool}
		}
		out = append(out, h)
	}
	if !s.hints && among(s.rows, func(r *row) bool { return r.Bad && slices.Contains(r.Taken, p) }) {
		out = append(out, hypothesis{what: taken, p: p})
	}
	return out
}

// beside are the hypotheses on whether two parameters are given together, and how their values compare;
// those that say the same of both only for the first of the two. Of two that no good call gave, nothing shows that
// they go wrong together alone, nor how their values compare.
func (c *column) beside(rows []row, q *column, first bool) (out []hypothesis) {
	if first && c.spared && q.spared {
		out = append(out, hypothesis{what: neither, p: c.name, q: q.name})
		if together(rows, c.name, q.name) {
			out = append(out, hypothesis{what: apart, p: c.name, q: q.name})
		}
		if c.good > 0 || q.good > 0 {
			out = append(out, hypothesis{what: both, p: c.name, q: q.name})
		}
	}
	if c.varies && q.spared && q.good > 0 {
		out = append(out, hypothesis{what: alone, p: c.name, q: q.name})
	}
	if c.good == 0 || q.good == 0 || !c.comparable(q) {
		return out
	}
	if first {
		out = append(out, hypothesis{what: equal, p: c.name, q: q.name})
	}
	return append(out, hypothesis{what: notAfter, p: c.name, q: q.name}, hypothesis{what: isAfter, p: c.name, q: q.name})
}

// together reports whether a good call gave both of two parameters: only then does it work.
func together(rows []row, p, q string) bool {
	both := func(one *row) bool { return one.get(p).kind != absent && one.get(q).kind != absent }
	return among(rows, func(r *row) bool { return !r.Bad && r.some(listOf(p), both) })
}

// alone are the hypotheses on one parameter.
func (c *column) alone(rows []row, hints bool) (out []hypothesis) {
	least := minCalls
	parameter, _ := base(c.name)
	program := partNames.of(parameter) == "command" // how long it is and what it is written with say nothing
	if hints {
		least = 1
	}
	if !c.property() {
		if list, _ := inList(c.name); list != "" || c.varies {
			out = append(out, hypothesis{what: without, p: c.name}, hypothesis{what: with, p: c.name})
		}
	}
	if c.numeric && len(c.nums) >= minGood && !program && !c.ofPaths(rows) {
		out = append(out, c.bounds()...)
	}
	if c.textual && c.good >= minGood {
		out = append(out, c.sets(rows)...)
		if !hints && !program {
			out = append(out, c.written(rows)...)
		}
	}
	if out = append(out, c.had(is, least, func(s string) bool { return s == "" || shown(s) })...); hints {
		return out
	}
	return append(out, c.had(begins, leastBad, func(s string) bool { return opening(s) == s || shown(strings.TrimRight(s, "_-")) })...)
}

// ofPaths reports whether it is how long paths are, which happens to be so.
func (c *column) ofPaths(rows []row) bool {
	p, property := base(c.name)
	return property == ofLength && !among(rows, func(r *row) bool {
		return !r.Bad && r.has(p, func(v value) bool {
			return v.kind == text && (!IdentifierLike(v.text) || !strings.Contains(v.text, "/"))
		})
	})
}

// had are the hypotheses that a text has what those of so many bad calls have, where it may be told.
func (c *column) had(w what, bad int, may func(string) bool) (out []hypothesis) {
	for _, s := range c.by(conditions[w].look).of(0, bad) {
		if may(s) {
			out = append(out, hypothesis{what: w, p: c.name, set: []string{s}})
		}
	}
	return out
}

// set is the hypothesis that a text is of no set that good calls had.
func (c *column) set(rows []row) []hypothesis {
	set := c.texts.of(1, 0)
	if len(set) > maxSmall || !c.closed(rows) {
		return nil
	}
	return []hypothesis{{what: notIn, p: c.name, set: set, of: len(c.texts)}}
}

// sets are the hypotheses that a text is of no set, or of no form, that good calls had.
func (c *column) sets(rows []row) []hypothesis {
	out := c.set(rows)
	if set := c.by(forms).of(1, 0); len(set) <= maxForms && 2*len(set) <= c.good && !ofWords(set) {
		out = append(out, hypothesis{what: notLike, p: c.name, set: set, of: len(c.by(forms))})
	}
	return out
}

// limits are the hypotheses that a number is more than what an earlier answer gave beside
// the value of another parameter.
func limits(rows []row, p, q string) (out []hypothesis) {
	for i := range rows {
		s, ok := rows[i].source(q)
		if !ok || !rows[i].Bad || rows[i].in[p].kind != number {
			continue
		}
		for f := range strings.FieldsSeq(s.State) {
			name, _, _ := strings.Cut(f, "=")
			if isNumber(f) && len(out) < maxStates && !slices.ContainsFunc(out, func(h hypothesis) bool { return h.set[0] == name }) {
				out = append(out, hypothesis{what: exceeds, p: p, q: q, set: []string{name}})
			}
		}
	}
	return out
}

// bounds are the hypotheses on a number.
func (c *column) bounds() []hypothesis {
	hi, lo, step := slices.Max(c.nums), slices.Min(c.nums), stepOf(c.nums)
	var out []hypothesis
	_, property := base(c.name)
	if property == ofTwice {
		if hi == 0 && slices.ContainsFunc(c.badNums, func(n float64) bool { return n > 0 }) {
			out = append(out, hypothesis{what: above, p: c.name})
		}
		return out
	}
	next := c.grows && slices.ContainsFunc(c.badNums, func(n float64) bool { return n > hi && n <= 2*hi })
	if property != ofPause && !next { // which would have been the next
		out = append(out, hypothesis{what: above, p: c.name, bound: hi})
	}
	if property != ofTurn {
		out = append(out, hypothesis{what: below, p: c.name, bound: lo})
	}
	// What lies beyond the bounds says nothing of steps.
	off := func(n float64) bool { return n > lo && n < hi && math.Mod(n, step) != 0 }
	if step > 1 && slices.ContainsFunc(c.badNums, off) {
		out = append(out, hypothesis{what: offStep, p: c.name, bound: step})
	}
	return out
}

// aboveWithouts is the hypothesis that a number needs another parameter beyond a bound.
func aboveWithouts(rows []row, c *column, q string) []hypothesis {
	most, n := math.Inf(-1), 0
	for i := range rows {
		if v := rows[i].in[c.name]; !rows[i].Bad && v.kind == number && rows[i].in[q].kind == absent {
			most, n = max(most, v.num), n+1
		}
	}
	if n < minGood || len(c.nums) < minGood || most > slices.Max(c.nums) {
		return nil
	}
	return []hypothesis{{what: aboveWithout, p: c.name, q: q, bound: most}}
}

// stepOf is the greatest number that divides all of some different ones; 1 where there is
// none.
func stepOf(nums []float64) float64 {
	step := 0.0
	if len(slices.Compact(slices.Sorted(slices.Values(nums)))) < minGood {
		return 1
	}
	for _, n := range nums {
		if n != math.Trunc(n) || math.Abs(n) > 1e12 {
			return 1
		}
		step = divisor(step, n)
	}
	return step
}

// divisor is the greatest that two whole numbers have in common.
func divisor(a, b float64) float64 {
	for b != 0 {
		a, b = b, math.Mod(a, b)
	}
	return math.Abs(a)
}

// sources are the hypotheses on where the value of a parameter came from.
func (s *search) sources(p string) []hypothesis {
	tools, old := map[string]int{}, false
	for i := range s.rows {
		from, ok := s.rows[i].source(p)
		switch {
		case !ok:
		case s.rows[i].Bad:
			old = old || from.Old
		case from.Tool != "":
			tools[from.Tool]++
		}
	}
	if len(tools) == 0 {
		return nil
	}
	best, all := "", 0
	for _, t := range slices.Sorted(maps.Keys(tools)) {
		if all += tools[t]; tools[t] > tools[best] && tellable(t) {
			best = t
		}
	}
	h := hypothesis{what: unseen, p: p, tool: best}
	if 4*tools[best] < 3*all {
		h.tool = "" // others give it too
		if tools[best] >= minCalls {
			h.set = []string{best}
		}
	}
	out := []hypothesis{h}
	if old {
		h.what = outdated
		out = append(out, h)
	}
	return out
}

// states are the hypotheses on what was said of the value of a parameter where it came from. Of one that is no hint,
// something else was said of values that worked.
func (s *search) states(p string) (out []hypothesis) {
	bad, worked := map[string]int{}, map[string]bool{}
	for i := range s.rows {
		from, _ := s.rows[i].source(p)
		for f := range strings.FieldsSeq(from.State) {
			field, _, _ := strings.Cut(f, "=")
			if !s.rows[i].Bad {
				worked[field] = true
			} else if !isNumber(f) {
				bad[f]++
			}
		}
	}
	for _, f := range slices.Sorted(maps.Keys(bad)) {
		field, _, _ := strings.Cut(f, "=")
		if bad[f] >= minCalls && (worked[field] || s.hints) && len(out) < maxStates {
			out = append(out, hypothesis{what: inState, p: p, set: []string{f}})
		}
	}
	return out
}

// orders are the tools that good calls came after.
func orders(rows []row) []hypothesis {
	var out []hypothesis
	for i := range rows {
		for _, tool := range rows[i].Before {
			if len(out) < maxPaths && !slices.ContainsFunc(out, func(h hypothesis) bool { return h.tool == tool }) && tellable(tool) {
				out = append(out, hypothesis{what: notBefore, tool: tool})
			}
		}
	}
	return out
}
