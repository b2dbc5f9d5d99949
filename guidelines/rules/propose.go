package rules

import (
	"cmp"
	"math"
	"regexp"
	"slices"
)

// maxSet and maxForms bound what a parameter may vary over to be a closed set.
const (
	maxSet   = 8
	maxForms = 4
)

// column is what the calls gave for one parameter.
type column struct {
	name         string
	nums         []float64 // of good calls
	texts, forms []string  // of good calls, each once
	good, bad    int       // calls that gave it
	numeric      bool      // all good calls and one bad one or more gave a number
	textual      bool
	badNums      []float64
}

// names are parameters that may stand in a line.
var names = regexp.MustCompile(`^[\pL_][\pL\pN_.-]{0,39}$`)

// read lists the parameters of calls.
func read(calls []row) []column {
	at := map[string]int{}
	var list []column
	for i := range calls {
		for name, v := range calls[i].in {
			k, known := at[name]
			if !known {
				if !names.MatchString(name) {
					continue
				}
				k = len(list)
				at[name] = k
				list = append(list, column{name: name, numeric: true, textual: true})
			}
			list[k].take(v, calls[i].bad)
		}
	}
	slices.SortFunc(list, func(a, b column) int {
		return cmp.Or(cmp.Compare(b.good+b.bad, a.good+a.bad), cmp.Compare(a.name, b.name))
	})
	return list[:min(len(list), maxPaths)]
}

func (c *column) take(v value, bad bool) {
	if bad {
		c.bad++
		if v.kind == number {
			c.badNums = append(c.badNums, v.num)
		}
		return
	}
	c.good++
	c.numeric, c.textual = c.numeric && v.kind == number, c.textual && v.kind == text
	switch v.kind {
	case number:
		c.nums = append(c.nums, v.num)
	case text:
		if len(c.texts) <= maxSet && !slices.Contains(c.texts, v.text) {
			c.texts = append(c.texts, v.text)
		}
		if f := form(v.text); len(c.forms) <= maxForms && !slices.Contains(c.forms, f) {
			c.forms = append(c.forms, f)
		}
	}
}

// propose lists what the calls might have broken.
func propose(calls []row) []hypothesis {
	cols := read(calls)
	var out []hypothesis
	for i := range cols {
		c := &cols[i]
		out = append(out, hypothesis{what: without, p: c.name}, hypothesis{what: with, p: c.name})
		if c.numeric && len(c.nums) >= minGood {
			out = append(out, c.bounds(calls, cols)...)
		}
		if c.textual && c.good >= minGood {
			slices.Sort(c.texts)
			if len(c.texts) <= maxSet && 2*len(c.texts) <= c.good && worked(calls, c.name, c.texts) {
				out = append(out, hypothesis{what: notIn, p: c.name, set: c.texts})
			}
			if len(c.forms) <= maxForms && 2*len(c.forms) <= c.good && !slices.ContainsFunc(c.texts, func(s string) bool { return !plainForm.MatchString(s) }) {
				out = append(out, hypothesis{what: notLike, p: c.name, set: c.forms})
			}
		}
		for j := range cols {
			if i < j {
				out = append(out, hypothesis{what: apart, p: c.name, q: cols[j].name}, hypothesis{what: both, p: c.name, q: cols[j].name})
			}
			if i != j {
				out = append(out, hypothesis{what: notAfter, p: c.name, q: cols[j].name})
			}
		}
	}
	return append(out, orders(calls)...)
}

// bounds are the hypotheses on a number.
func (c *column) bounds(calls []row, cols []column) []hypothesis {
	hi, lo := slices.Max(c.nums), slices.Min(c.nums)
	var out []hypothesis
	if slices.ContainsFunc(c.badNums, func(n float64) bool { return n > hi }) {
		out = append(out, hypothesis{what: above, p: c.name, bound: hi})
	}
	if slices.ContainsFunc(c.badNums, func(n float64) bool { return n < lo }) {
		out = append(out, hypothesis{what: below, p: c.name, bound: lo})
	}
	if step := stepOf(c.nums); step > 1 {
		out = append(out, hypothesis{what: offStep, p: c.name, bound: step})
	}
	for k := range cols {
		q := cols[k].name
		most, n := math.Inf(-1), 0
		for i := range calls {
			if v := calls[i].in[c.name]; !calls[i].bad && v.kind == number && calls[i].in[q].kind == absent {
				most, n = max(most, v.num), n+1
			}
		}
		if q != c.name && n >= minGood && most < hi {
			out = append(out, hypothesis{what: aboveWithout, p: c.name, q: q, bound: most})
		}
	}
	return out
}

// stepOf is the greatest number that divides all of some; 1 where there is none.
func stepOf(nums []float64) float64 {
	step := 0.0
	for _, n := range nums {
		if n != math.Trunc(n) || math.Abs(n) > 1e12 {
			return 1
		}
		for a, b := step, math.Abs(n); ; a, b = b, math.Mod(a, b) {
			if b == 0 {
				step = a
				break
			}
		}
	}
	return step
}

// orders are the tools that good calls came after.
func orders(calls []row) []hypothesis {
	var out []hypothesis
	for i := range calls {
		for _, tool := range calls[i].before {
			if names.MatchString(tool) && len(out) < maxPaths && !slices.ContainsFunc(out, func(h hypothesis) bool { return h.tool == tool }) {
				out = append(out, hypothesis{what: notBefore, tool: tool})
			}
		}
	}
	return out
}
