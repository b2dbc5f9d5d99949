package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"memoryd/internal/origin"
)

// column is what the calls gave for one parameter.
type column struct {
	name             string
	nums, badNums    []float64
	texts            tallied // the values but for numbers
	looked           [len(looks)]tallied
	good, bad        int // calls that gave it
	numeric, textual bool
	varies, spared   bool // some calls, or elements of lists, did without it, and some good ones
	grows            bool // good calls gave ever larger numbers, as of things that are numbered as they are made
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

// tellable reports whether a line may name a parameter or a tool.
func tellable(name string) bool {
	name, property := base(name)
	name = strings.ReplaceAll(name, "[]", "")
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
	of := func(name string) *column {
		k, known := at[name]
		if !known {
			if k = -1; tellable(name) {
				k = len(list)
				list = append(list, column{name: name, numeric: true, textual: true, texts: tallied{}})
			}
			at[name] = k
		}
		if k < 0 {
			return nil
		}
		return &list[k]
	}
	for i := range rows {
		r := &rows[i]
		for name, v := range r.in {
			if c := of(name); c != nil && listOf(name) == "" {
				c.take(v, r.Bad)
				c.count(r.Bad)
			}
		}
		for _, all := range r.elements {
			counted := map[string]bool{}
			for _, e := range all {
				for name, v := range e.gives {
					if c := of(name); c != nil {
						c.take(v, r.Bad)
						if !counted[name] {
							counted[name] = true
							c.count(r.Bad)
						}
					}
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b column) int {
		return cmp.Or(cmp.Compare(b.good+b.bad, a.good+a.bad), cmp.Compare(a.name, b.name))
	})
	for k := range list {
		list[k].without(rows)
		list[k].grows = records(list[k].nums) >= leastGrown
	}
	n := 0
	return slices.DeleteFunc(list, func(c column) bool {
		if c.property() {
			return false
		}
		if !c.varies && !c.numeric && !c.textual && len(c.texts) == 0 { // each call gives an object, a list or a long text
			return true
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
		c.texts.add(v.text, bad)
	case absent, other:
	}
	if !bad {
		c.numeric, c.textual = c.numeric && v.kind == number, c.textual && v.kind == text
	}
}

// leastGrown is how many numbers of the later half are larger than all before, from which on they grow: of numbers
// in no order it is .7 (the natural logarithm of 2).
const leastGrown = 3

// records counts the numbers of the later half that are larger than all before them.
func records(nums []float64) (n int) {
	most := math.Inf(-1)
	for i, v := range nums {
		if v > most && 2*i >= len(nums) {
			n++
		}
		most = max(most, v)
	}
	return n
}

// count counts a call that gave a value, or several in a list.
func (c *column) count(bad bool) {
	if bad {
		c.bad++
	} else {
		c.good++
	}
}

// closed reports whether the values of good calls are a closed set: each came again, or
// stands in a message.
func (c *column) closed(rows []row) bool {
	good, listed := c.texts.of(1, 0), 0
	for _, s := range good {
		if among(rows, func(r *row) bool {
			return r.Bad && Named(r.Message, s) && !r.has(c.name, func(v value) bool { return v.text == s })
		}) {
			listed++
		} else if c.texts[s].good < 2 {
			return false
		}
	}
	return listed == len(good) || 3*len(good) <= c.good
}

// without notes whether calls did without it.
func (c *column) without(rows []row) {
	for i := range rows {
		r := &rows[i]
		if r.some(listOf(c.name), func(one *row) bool { return one.get(c.name).kind == absent }) {
			c.varies, c.spared = true, c.spared || !r.Bad
		}
	}
}

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
