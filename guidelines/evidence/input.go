package evidence

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kind is the type of a JSON value.
type kind uint8

const (
	kindText kind = iota
	kindNumber
	kindBool
	kindNull
	kindObject
	kindArray
	kinds
)

// inputs is what the inputs of all calls hold, column by column.
type inputs struct {
	n       int
	paths   map[pathStep]int32
	columns []*column
	list    []token
}

type pathStep struct {
	parent int32
	name   string
}

// column is one parameter path over all calls.
type column struct {
	path  string
	kinds [kinds]set
	given set
	// Per call: the greatest number and count of elements; NaN where there is none.
	// nil until first needed.
	numbers, items []float64
	whole          bool
	// tokens are the places in inputs.list of its values.
	tokens map[string]int32
}

// token is a value of a column with the calls that have it.
type token struct {
	col   int32
	text  string
	calls []int32
}

// readInputs takes in the inputs of calls.
func readInputs(calls []Observation) *inputs {
	x := &inputs{n: len(calls), paths: map[pathStep]int32{}}
	root := x.child(-1, "")
	var read []step
	for i := range calls {
		if read = calls[i].steps; read == nil {
			read = stepsOf(calls[i].Input)
		}
		w := walker{inputs: x, steps: read, call: i, left: maxValues}
		w.value(root, 0)
	}
	return x
}

// walker takes one input in.
type walker struct {
	*inputs
	steps []step
	call  int
	left  int
}

// value takes the next value into col; it reports whether the input goes on.
func (w *walker) value(col int32, depth int) bool {
	if len(w.steps) == 0 {
		return false
	}
	s := &w.steps[0]
	if col < 0 || depth > maxDepth || w.left <= 0 {
		w.steps = w.steps[s.size:]
		return !s.broken
	}
	w.left--
	w.steps = w.steps[1:]
	switch s.kind {
	case kindObject:
		w.mark(col, w.call, kindObject)
		for range s.count {
			if len(w.steps) == 0 || !w.value(w.child(col, w.steps[0].name), depth+1) {
				return false
			}
		}
		return !s.broken
	case kindArray:
		for range min(s.count, maxElements) {
			if !w.value(w.child(col, "[]"), depth+1) {
				return false
			}
		}
		if s.broken {
			return false
		}
		w.mark(col, w.call, kindArray)
		w.columns[col].items = w.greatest(w.columns[col].items, w.call, float64(s.count))
	default:
		return !s.broken && w.scalar(col, s)
	}
	return true
}

func (w *walker) scalar(col int32, s *step) bool {
	switch s.kind {
	case kindText:
		w.text(col, w.call, s.text)
	case kindNumber:
		w.number(col, w.call, s.text)
	case kindNull:
		w.mark(col, w.call, kindNull)
	default:
		w.mark(col, w.call, kindBool)
		w.token(col, w.call, s.text)
	}
	return true
}

// child is the column of a member of col, -1 when there are too many.
func (x *inputs) child(parent int32, name string) int32 {
	step := pathStep{parent, name}
	if id, ok := x.paths[step]; ok {
		return id
	}
	if len(x.columns) >= maxPaths || len(name) > maxValueBytes {
		return -1
	}
	path := name
	switch {
	case parent > 0 && name == "[]":
		path = x.columns[parent].path + name
	case parent > 0:
		path = x.columns[parent].path + "." + name
	}
	id := int32(len(x.columns)) //nolint:gosec // bounded by maxPaths
	x.columns = append(x.columns, &column{path: path, given: newSet(x.n), whole: true})
	x.paths[step] = id
	return id
}

// mark notes that the call gives a value of kind k at col.
func (x *inputs) mark(col int32, call int, k kind) {
	c := x.columns[col]
	c.given.add(call)
	if c.kinds[k] == nil {
		c.kinds[k] = newSet(x.n)
	}
	c.kinds[k].add(call)
}

func (x *inputs) number(col int32, call int, literal string) {
	x.mark(col, call, kindNumber)
	c := x.columns[col]
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return
	}
	if f != math.Trunc(f) || strings.ContainsAny(literal, ".eE") {
		c.whole = false
	}
	c.numbers = x.greatest(c.numbers, call, f)
	x.token(col, call, literal)
}

func (x *inputs) text(col int32, call int, s string) {
	x.mark(col, call, kindText)
	if len(s) <= maxValueBytes {
		x.token(col, call, s)
	}
}

// greatest notes v for the call unless a greater value stands there.
func (x *inputs) greatest(values []float64, call int, v float64) []float64 {
	if values == nil {
		values = make([]float64, x.n)
		for i := range values {
			values[i] = math.NaN()
		}
	}
	if !(values[call] >= v) {
		values[call] = v
	}
	return values
}

func (x *inputs) token(col int32, call int, text string) {
	c := x.columns[col]
	id, ok := c.tokens[text]
	if !ok {
		if c.tokens == nil {
			c.tokens = map[string]int32{}
		}
		id = int32(len(x.list)) //nolint:gosec // bounded by calls times maxValues
		c.tokens[text] = id
		x.list = append(x.list, token{col: col, text: text})
	}
	t := &x.list[id]
	if n := len(t.calls); n == 0 || t.calls[n-1] != int32(call) { //nolint:gosec // a place in the history
		t.calls = append(t.calls, int32(call)) //nolint:gosec // a place in the history
	}
}

// Parameter describes one path of the inputs.
type Parameter struct {
	Path string `json:"path"`
	// Types are the JSON types that occur, most frequent first; "integer" stands
	// for numbers that are all whole.
	Types []string `json:"types"`
	// Given counts the calls that give it, Of all calls.
	Given int `json:"given"`
	Of    int `json:"of"`
	// Good counts the good calls that give it.
	Good int `json:"good"`
	// Sole says that of several parties (see Cause.Sole) one alone gave it in good calls.
	Sole bool `json:"sole,omitempty"`
	// Distinct counts the different values of up to 64 bytes, and Top lists the
	// most frequent of them; a value's share says whether it is typical.
	Distinct int          `json:"distinct"`
	Top      []ValueCount `json:"top,omitempty"`
	// Worked are the values of up to 64 bytes that two or more good calls gave, most
	// frequent there first; none where good calls gave more than eight different ones.
	Worked []ValueCount `json:"worked,omitempty"`
	// Least and Greatest are the range of its numbers (in an array, of the
	// greatest element); both 0 when there are none.
	Least    float64 `json:"least"`
	Greatest float64 `json:"greatest"`
	// Form is the form of all its values in good calls, from ten calls on, in words of
	// this package: a date, an address, or the letters and digits of a code as in
	// "pattern AAA000"; "" when they have none in common.
	Form string `json:"form,omitempty"`
}

// ValueCount is a value and the number of calls that gave it.
type ValueCount struct {
	Value string `json:"value"`
	Calls int    `json:"calls"`
	Good  int    `json:"good"` // of these, good calls
	// Sole says that one party of several gave it.
	Sole bool `json:"sole,omitempty"`
}

// topValues is how many frequent values a Parameter lists, mostWorked of how many
// different ones in good calls those that worked are known.
const (
	topValues  = 4
	mostWorked = 8
)

// parameters describes the columns in order of first appearance, without the
// root of an object.
func (x *inputs) parameters(good set, who *parties) []Parameter {
	values := make([][]ValueCount, len(x.columns))
	forms := make([]formed, len(x.columns))
	for _, t := range x.list {
		by, worked := backers{}, 0
		for _, i := range t.calls {
			by.add(who.of[i])
			if good.has(int(i)) {
				worked++
			}
		}
		values[t.col] = append(values[t.col], ValueCount{t.text, len(t.calls), worked, who.sole(by)})
		forms[t.col].note(t, worked)
	}
	var ps []Parameter
	for id, c := range x.columns {
		given := c.given.count()
		if given == 0 || id == 0 && c.kinds[kindObject] != nil {
			continue
		}
		p := Parameter{Path: c.path, Types: c.types(), Given: given, Of: x.n, Good: c.given.countAnd(good), Distinct: len(values[id])}
		slices.SortFunc(values[id], func(a, b ValueCount) int {
			return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Value, b.Value))
		})
		p.Top = slices.Clone(values[id][:min(topValues, len(values[id]))])
		p.Worked = worked(values[id])
		p.Form = forms[id].shared(p)
		p.Least, p.Greatest = bounds(c.numbers)
		if p.Sole = who.alone(c.given); p.Good > 0 {
			p.Sole = who.alone(c.given.and(good))
		}
		ps = append(ps, p)
	}
	return ps
}

// worked are the values that good calls gave, where these are a choice of few.
func worked(values []ValueCount) []ValueCount {
	var of []ValueCount
	different := 0
	for _, v := range values {
		if v.Good > 0 {
			different++
		}
		if v.Good > 1 {
			of = append(of, v)
		}
	}
	if different > mostWorked {
		return nil
	}
	slices.SortStableFunc(of, func(a, b ValueCount) int { return cmp.Compare(b.Good, a.Good) })
	return of
}

// formed collects the form of the values of a parameter in good calls.
type formed struct {
	form   string
	calls  int
	values int
	mixed  bool
}

const leastFormed = 10 // calls that show a form

// note takes in a value that so many good calls gave.
func (f *formed) note(t token, calls int) {
	if calls == 0 || f.mixed {
		return
	}
	form := formOf(t.text)
	f.mixed = form == "" || f.calls > 0 && form != f.form
	f.form, f.calls, f.values = form, f.calls+calls, f.values+1
}

// shared is the form that all have; it tells something of different values only, all
// of which were looked at.
func (f *formed) shared(p Parameter) string {
	if f.mixed || f.calls < max(leastFormed, p.Good) || f.values < 3 || p.Types[0] != "string" {
		return ""
	}
	return f.form
}

var knownForms = []struct {
	name string
	re   *regexp.Regexp
}{
	{"date as YYYY-MM-DD", regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)},
	{"date with time as YYYY-MM-DD HH:MM:SS", regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`)},
	{"date with time as YYYY-MM-DDTHH:MM:SS", regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$`)},
	{"full URL", regexp.MustCompile(`^https?://\S+$`)},
	{"e-mail address", regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[a-z]+$`)},
}

// formOf is the form of a text: one that has a name, or capital letters and digits
// of a short code as A and 0.
func formOf(s string) string {
	for _, k := range knownForms {
		if k.re.MatchString(s) {
			return k.name
		}
	}
	if len(s) < 3 || len(s) > 8 {
		return ""
	}
	code := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return 'A'
		case r >= '0' && r <= '9':
			return '0'
		}
		return -1
	}, s)
	if len(code) != len(s) || !strings.Contains(code, "A") {
		return ""
	}
	return "pattern " + code
}

func (c *column) types() []string {
	type count struct {
		name  string
		calls int
	}
	var counts []count
	for k, s := range c.kinds {
		if s == nil {
			continue
		}
		name := kind(k).String() //nolint:gosec // below kinds
		if name == "number" && c.whole {
			name = "integer"
		}
		counts = append(counts, count{name, s.count()})
	}
	slices.SortStableFunc(counts, func(a, b count) int { return cmp.Compare(b.calls, a.calls) })
	names := make([]string, len(counts))
	for i, n := range counts {
		names[i] = n.name
	}
	return names
}

func bounds(values []float64) (least, greatest float64) {
	least, greatest = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			least, greatest = min(least, v), max(greatest, v)
		}
	}
	if least > greatest {
		return 0, 0
	}
	return least, greatest
}
