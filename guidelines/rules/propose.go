package rules

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/internal/origin"
)

// maxSet and maxForms bound what a parameter may vary over to be a closed set.
const (
	maxSet    = 8
	maxForms  = 4
	maxStates = 8
)

// column is what the calls gave for one parameter.
type column struct {
	name             string
	nums, badNums    []float64
	texts            tallied // the values but for numbers
	looked           [len(looks)]tallied
	good, bad        int // calls that gave it
	numeric, textual bool
}

// look is a way to look at texts.
type look uint8

const (
	whole look = iota
	forms      // how they are written
	heads      // how they begin
	marks      // the classes of their characters
)

// looks say what a look at a text sees.
var looks = [...]func(s string) []string{
	whole: func(s string) []string { return []string{s} },
	forms: func(s string) []string { return []string{Form(s)} },
	heads: func(s string) []string {
		if h := cmp.Or(Head(s), opening(s)); h != "" {
			return []string{h}
		}
		return nil
	},
	marks: marksIn,
}

// by counts the calls behind each text that a look sees.
func (c *column) by(l look) tallied {
	if l == whole {
		return c.texts
	}
	if c.looked[l] == nil {
		c.looked[l] = tallied{}
		for s, n := range c.texts {
			for _, seen := range looks[l](s) {
				c.looked[l].merge(seen, n.good, n.bad)
			}
		}
	}
	return c.looked[l]
}

// tallied counts the good and the bad calls behind each of some texts.
type tallied map[string]struct{ good, bad int }

func (t tallied) add(s string, bad bool) {
	if bad {
		t.merge(s, 0, 1)
	} else {
		t.merge(s, 1, 0)
	}
}

func (t tallied) merge(s string, good, bad int) {
	n := t[s]
	n.good, n.bad = n.good+good, n.bad+bad
	t[s] = n
}

// of lists the texts that at least so many good and bad calls gave.
func (t tallied) of(good, bad int) (out []string) {
	for s, n := range t {
		if n.good >= good && n.bad >= bad {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// tellable reports whether a line may name a parameter or a tool. Elements of lists have no
// name, their members have.
func tellable(name string) bool {
	name, property := base(name)
	if property != "" || !strings.HasSuffix(name, "[]") {
		name = strings.ReplaceAll(name, "[]", "")
	}
	if name == "" || strings.Contains(name, "[") {
		return property == ofTurn || property == ofPause
	}
	_, ok := origin.Show(origin.Recommendation, origin.Name, name, valueLimit)
	return ok
}

// columnsOf lists the parameters of calls.
func columnsOf(rows []row) []column {
	at := map[string]int{}
	var list []column
	for i := range rows {
		for name, v := range rows[i].in {
			k, known := at[name]
			if !known {
				if k = -1; tellable(name) {
					k = len(list)
					list = append(list, column{name: name, numeric: true, textual: true, texts: tallied{}})
				}
				at[name] = k
			}
			if k >= 0 {
				list[k].take(v, rows[i].Bad)
			}
		}
	}
	slices.SortFunc(list, func(a, b column) int {
		return cmp.Or(cmp.Compare(b.good+b.bad, a.good+a.bad), cmp.Compare(a.name, b.name))
	})
	n := 0
	return slices.DeleteFunc(list, func(c column) bool {
		if c.property() {
			return false
		}
		n++
		return n > maxPaths
	})
}

// property reports whether it is of a property, not of a parameter.
func (c *column) property() bool { return isProperty(c.name) }

func (c *column) take(v value, bad bool) {
	switch v.kind {
	case number:
		if bad {
			c.badNums = append(c.badNums, v.num)
		} else {
			c.nums = append(c.nums, v.num)
		}
	case text, truth:
		for s := range v.parts() {
			c.texts.add(s, bad)
		}
	case absent, other:
	}
	if bad {
		c.bad++
		return
	}
	c.good++
	c.numeric, c.textual = c.numeric && v.kind == number, c.textual && v.kind == text
}

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

// closed reports whether the values of good calls are a closed set: each came again, or
// stands in a message.
func (c *column) closed(rows []row) bool {
	good, listed := c.texts.of(1, 0), 0
	for _, s := range good {
		if slices.ContainsFunc(rows, func(r row) bool { return r.Bad && r.in[c.name].text != s && Named(r.Message, s) }) {
			listed++
		} else if c.texts[s].good < 2 {
			return false
		}
	}
	return listed == len(good) || 3*len(good) <= c.good
}

// propose lists what the calls might have broken; for hints, one call is enough that gave a
// value.
func (s *search) propose(cols []column) []hypothesis {
	out, rows := hypotheses(s.proposed), s.rows
	before := orders(rows)
	for i := range cols {
		c := &cols[i]
		if own, alone := c.ofValues(rows, s.good); alone || s.hints && c.property() {
			out = append(out, own...)
			continue
		}
		out = append(out, c.unevens(cols[i+1:])...)
		if out = append(out, c.alone(rows, s.hints)...); c.property() || c.member() || s.where != "" {
			continue
		}
		for j := range cols {
			q := &cols[j]
			if i == j || q.property() || q.member() {
				continue
			}
			out = append(out, c.beside(q, rows, i < j)...)
			if c.numeric {
				out = append(out, aboveWithouts(rows, c, q.name)...)
				out = append(out, limits(rows, c.name, q.name)...)
			}
		}
		out = append(out, sources(rows, c.name)...)
		if !s.hints {
			out = append(out, s.lasts(c.name)...)
			out = append(out, s.named(c.name)...)
			out = append(out, c.indexes(before)...)
		}
	}
	if s.where != "" {
		return out
	}
	if out = append(out, before...); s.hints {
		return out // of so many pairs, one call tells nothing
	}
	return append(append(out, s.renewals()...), s.strangers()...)
}

// beside are the hypotheses on whether two parameters are given together, and how their values compare;
// those that say the same of both only for the first of the two. One that no good call gave is to blame alone.
func (c *column) beside(q *column, rows []row, first bool) (out []hypothesis) {
	if c.good == 0 || q.good == 0 {
		return nil
	}
	if first && c.varies(rows) && q.varies(rows) {
		for _, w := range [...]what{apart, both, neither} {
			out = append(out, hypothesis{what: w, p: c.name, q: q.name})
		}
	}
	if !c.comparable(q) {
		return out
	}
	if first {
		out = append(out, hypothesis{what: equal, p: c.name, q: q.name})
	}
	return append(out, hypothesis{what: notAfter, p: c.name, q: q.name}, hypothesis{what: isAfter, p: c.name, q: q.name})
}

// varies reports whether some calls gave it and others did not.
func (c *column) varies(rows []row) bool { return c.good+c.bad < len(rows) }

// comparable reports whether values of two parameters may be equal, or one come after the other.
func (c *column) comparable(q *column) bool {
	if c.numeric && q.numeric {
		return true
	}
	other := q.by(forms)
	for f := range c.by(forms) {
		if n, is := other[f]; is && n.good+n.bad > 0 {
			return true
		}
	}
	return false
}

// member reports whether it is of a member of a list's elements: of those it is only known
// which are given.
func (c *column) member() bool {
	list, _ := inList(c.name)
	return list != ""
}

// alone are the hypotheses on one parameter.
func (c *column) alone(rows []row, hints bool) (out []hypothesis) {
	least, begun := minCalls, leastBad
	parameter, _ := base(c.name)
	program := partNames.of(parameter) == "command" // how long it is and what it is written with say nothing
	if hints {
		least, begun = 1, 1
	}
	if !c.property() {
		if c.member() || c.varies(rows) {
			out = append(out, hypothesis{what: without, p: c.name}, hypothesis{what: with, p: c.name})
		}
		if c.member() {
			return out
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
	out = append(out, c.had(is, least, func(s string) bool { return s != "" && shown(s) })...)
	return append(out, c.had(begins, begun, func(s string) bool { return opening(s) == s || shown(strings.TrimRight(s, "_-")) })...)
}

// ofPaths reports whether it is how long paths are, which happens to be so.
func (c *column) ofPaths(rows []row) bool {
	p, property := base(c.name)
	return property == ofLength && !slices.ContainsFunc(rows, func(r row) bool {
		return !r.Bad && r.in[p].kind == text && (!IdentifierLike(r.in[p].text) || !strings.Contains(r.in[p].text, "/"))
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
	if property != ofPause && property != ofLeast {
		out = append(out, hypothesis{what: above, p: c.name, bound: hi})
	}
	if property != ofTurn && property != ofMost {
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

// sources are the hypotheses on where the value of a parameter came from, and on what
// was said of it there.
func sources(rows []row, p string) []hypothesis {
	tools, states, old := map[string]int{}, map[string]int{}, false
	for i := range rows {
		s, ok := rows[i].source(p)
		switch {
		case !ok:
		case rows[i].Bad:
			old = old || s.Old
			for f := range strings.FieldsSeq(s.State) {
				if !isNumber(f) {
					states[f]++
				}
			}
		case s.Tool != "":
			tools[s.Tool]++
		}
	}
	var out []hypothesis
	if len(tools) > 0 {
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
		out = append(out, h)
		if old {
			h.what = outdated
			out = append(out, h)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(states)) {
		if states[f] >= minCalls && len(out) < maxStates {
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
