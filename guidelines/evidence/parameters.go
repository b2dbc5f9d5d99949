package evidence

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"memoryd/guidelines/rules"
)

// Parameter describes one path of the inputs: "a.b" is member b of a, "a[]" any element of
// the array a, "" an input that is plain text.
type Parameter struct {
	Path string `json:"path"`
	// Types are the JSON types that occur, those of most good calls first; "integer" means that
	// all numbers are whole.
	Types []string `json:"types"`
	// Given counts the calls that give it, of the Of calls in all.
	Given int `json:"given"`
	Of    int `json:"of"`
	// Good counts the good calls that give it.
	Good int `json:"good"`
	// Sole reports that one of several parties alone gave it in good calls.
	Sole bool `json:"sole,omitempty"`
	// Distinct counts the different values of up to 64 bytes, and Top lists the
	// most frequent of them.
	Distinct int          `json:"distinct"`
	Top      []ValueCount `json:"top,omitempty"`
	// Least and Greatest are the range of its numbers in good calls, to whose ends two parties went where there are several;
	// both are 0 if there are none.
	Least    float64 `json:"least"`
	Greatest float64 `json:"greatest"`
	// Form is the common form of all its values in good calls, from ten calls on: a date, an
	// address, or the letters and digits of a code as in "pattern AAA000"; "" if there is
	// none.
	Form string `json:"form,omitempty"`
}

// ValueCount is a value and the number of calls that gave it.
type ValueCount struct {
	Value string `json:"value"`
	Calls int    `json:"calls"`
	Good  int    `json:"good"` // good calls among them
	// Runs counts the runs of the good calls.
	Runs int `json:"runs"`
	// Sole reports that one of several parties alone gave it.
	Sole bool `json:"sole,omitempty"`
}

// topValues is how many frequent values a Parameter lists, maxPaths how many parameters
// are described.
const (
	topValues = 4
	maxPaths  = 256
)

// column collects what the calls gave at one path.
type column struct {
	path         string
	types        map[string]ValueCount
	given, good  int
	last         int // 1 + the call that was counted last
	parties, fit backers
	values       map[string]*valueSeen
	ends         map[uint64]ends // of the numbers of each party
}

// ends are those of a range.
type ends struct{ least, greatest float64 }

// endsOf are how far at least two parties went, where there are several.
func endsOf(by map[uint64]ends, who *parties) ends {
	if len(by) == 0 || who.known > 1 && len(by) < 2 {
		return ends{}
	}
	var least, greatest []float64
	for _, e := range by {
		least, greatest = append(least, e.least), append(greatest, e.greatest)
	}
	slices.Sort(least)
	slices.Sort(greatest)
	second := min(who.known, 2) - min(who.known, 1)
	return ends{least[second], greatest[len(greatest)-1-second]}
}

type valueSeen struct {
	ValueCount

	last int
	by   backers
	runs map[uint64]bool
}

// columnsOf collects what the calls gave by path, in order of first appearance.
func columnsOf(obs []Observation, who *parties) (at map[string]*column, order []*column) {
	at = map[string]*column{}
	for i := range obs {
		for _, l := range obs[i].values() {
			c := at[l.Path]
			if c == nil {
				if len(order) >= maxPaths || len(l.Path) > 4*maxValueBytes || l.Path == "" && l.Kind != rules.Text {
					continue
				}
				c = &column{path: l.Path, types: map[string]ValueCount{}, values: map[string]*valueSeen{}, ends: map[uint64]ends{}}
				at[l.Path] = c
				order = append(order, c)
			}
			c.take(i, &obs[i], &l, who.of[i])
		}
	}
	return at, order
}

func (c *column) take(i int, ob *Observation, l *rules.Leaf, party uint64) {
	ok := ob.Good()
	if c.last != i+1 {
		c.last = i + 1
		c.given++
		c.parties.add(party)
		kind := typeOf(l)
		n := c.types[kind]
		n.Calls++
		if ok {
			n.Good++
			c.good++
			c.fit.add(party)
		}
		c.types[kind] = n
	}
	if l.Kind == rules.Number && ok {
		e, known := c.ends[party]
		if !known {
			e = ends{l.Number, l.Number}
		}
		c.ends[party] = ends{min(e.least, l.Number), max(e.greatest, l.Number)}
	}
	if !l.Scalar() || len(l.Text) > maxValueBytes || l.Kind == rules.Text && strings.HasSuffix(l.Text, "…") {
		return
	}
	v := c.values[l.Text]
	if v == nil {
		v = &valueSeen{ValueCount: ValueCount{Value: l.Text}, runs: map[uint64]bool{}}
		c.values[l.Text] = v
	}
	if v.last == i+1 {
		return
	}
	v.last = i + 1
	v.Calls++
	v.by.add(party)
	if ok {
		v.Good++
		v.runs[ob.Run] = true
	}
}

// typeOf names the type as JSON does.
func typeOf(l *rules.Leaf) string {
	switch l.Kind {
	case rules.Text:
		return "string"
	case rules.Number:
		if strings.ContainsAny(l.Text, ".eE") {
			return "number"
		}
		return "integer"
	case rules.Object:
		return "object"
	case rules.Array:
		return "array"
	case rules.Word:
	}
	if l.Scalar() {
		return "boolean"
	}
	return "null"
}

func (c *column) parameter(calls int, who *parties) Parameter {
	if n, some := c.types["number"]; some { // others were whole by chance
		whole := c.types["integer"]
		c.types["number"] = ValueCount{Calls: n.Calls + whole.Calls, Good: n.Good + whole.Good}
		delete(c.types, "integer")
	}
	p := Parameter{Path: c.path, Given: c.given, Of: calls, Good: c.good, Distinct: len(c.values), Sole: who.sole(c.parties)}
	for t := range c.types {
		p.Types = append(p.Types, t)
	}
	slices.SortFunc(p.Types, func(a, b string) int {
		x, y := c.types[a], c.types[b]
		return cmp.Or(y.Good-x.Good, y.Calls-x.Calls, strings.Compare(a, b))
	})
	if c.good > 0 {
		p.Sole = who.sole(c.fit)
	}
	within := endsOf(c.ends, who)
	p.Least, p.Greatest = within.least, within.greatest
	for _, v := range c.values {
		v.Sole, v.Runs = who.sole(v.by), len(v.runs)
		at, _ := slices.BinarySearchFunc(p.Top, v.ValueCount, func(a, b ValueCount) int {
			return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Value, b.Value))
		})
		if at < topValues {
			p.Top = slices.Insert(p.Top, at, v.ValueCount)
			p.Top = p.Top[:min(topValues, len(p.Top))]
		}
	}
	if p.Types[0] == "string" {
		p.Form = c.formShared()
	}
	return p
}

const leastFormed = 10 // calls that show a form

// formShared is the form that all values of good calls have; it tells something of
// different values only, all of which were looked at.
func (c *column) formShared() string {
	form, calls, values := "", 0, 0
	for _, v := range c.values {
		if v.Good == 0 {
			continue
		}
		f := formOf(v.Value)
		if f == "" || form != "" && f != form {
			return ""
		}
		form, calls, values = f, calls+v.Good, values+1
	}
	if calls < max(leastFormed, c.good) || values < 3 {
		return ""
	}
	return form
}

// codeForm is a short code of capital letters and digits.
var (
	codeForm = regexp.MustCompile(`^[A-Z0-9]{3,8}$`)
	mailForm = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[a-z]+$`)
)

// formOf is the form of a text: one that has a name, or the letters and digits of a short
// code as A and 0.
func formOf(s string) string {
	form, date := rules.Form(s), rules.DateForm(s)
	switch {
	case strings.Contains(date, "HH"):
		return "time as " + date
	case date != "":
		return "date as " + date
	case mailForm.MatchString(s):
		return "e-mail address"
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		return "full URL"
	case codeForm.MatchString(s) && strings.Contains(form, "A"):
		return "pattern " + form
	}
	return ""
}
