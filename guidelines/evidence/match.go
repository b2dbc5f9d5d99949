package evidence

import (
	"math"
	"slices"
	"strconv"

	"memoryd"
)

// Match tells which facts hold for one input.
type Match struct {
	inputs *inputs
	column map[string]int32
}

// MatchOf reads an input in the way in which the history is mined.
func MatchOf(input []byte) Match {
	m := Match{inputs: readInputs([]memoryd.Call{{Input: input}}), column: map[string]int32{}}
	for id, c := range m.inputs.columns {
		if _, known := m.column[c.path]; !known || c.given.count() > 0 {
			m.column[c.path] = int32(id) //nolint:gosec // bounded by maxPaths
		}
	}
	return m
}

func (m Match) given(path string) *column {
	id, ok := m.column[path]
	if !ok || m.inputs.columns[id].given.count() == 0 {
		return nil
	}
	return m.inputs.columns[id]
}

// Holds reports whether f is true of the input.
func (m Match) Holds(f Fact) bool {
	c := m.given(f.Path)
	if f.Kind == Missing {
		return c == nil
	}
	if c == nil {
		return false
	}
	switch f.Kind {
	case Present:
		return true
	case TypeIs:
		return slices.ContainsFunc(kindsOf(c), func(k kind) bool { return k.String() == f.Value })
	case ValueIs, IsEmpty:
		return m.has(f.Path, f.Value)
	}
	return c.within(f)
}

// within compares a number, a length or a count with a bound.
func (c *column) within(f Fact) bool {
	for _, b := range []struct {
		least, most FactKind
		values      []float64
	}{{AtLeast, AtMost, c.numbers}, {ItemsMin, ItemsMax, c.items}} {
		if len(b.values) == 0 || math.IsNaN(b.values[0]) {
			continue
		}
		switch f.Kind {
		case b.least:
			return b.values[0] >= f.Number
		case b.most:
			return b.values[0] <= f.Number
		}
	}
	return false
}

func kindsOf(c *column) []kind {
	var ks []kind
	for k, s := range c.kinds {
		if s != nil {
			ks = append(ks, kind(k)) //nolint:gosec // below kinds
		}
	}
	return ks
}

// has reports whether the input has the value at path; numbers are equal
// when they are the same number.
func (m Match) has(path, text string) bool {
	want, err := strconv.ParseFloat(text, 64)
	for _, t := range m.inputs.list {
		if m.inputs.columns[t.col].path != path {
			continue
		}
		if t.text == text {
			return true
		}
		if got, bad := strconv.ParseFloat(t.text, 64); err == nil && bad == nil && got == want {
			return true
		}
	}
	return false
}
