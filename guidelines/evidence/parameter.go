package evidence

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"memoryd/internal/stats"
)

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
	// Distinct counts the different values of up to 64 bytes, and Top lists the
	// most frequent of them; a value's share says whether it is typical.
	Distinct int          `json:"distinct"`
	Top      []ValueCount `json:"top,omitempty"`
	// Least and Greatest are the range of its numbers (in an array, of the
	// greatest element); both 0 when there are none.
	Least    float64 `json:"least"`
	Greatest float64 `json:"greatest"`
	// MedianWords is the median count of words of its texts, 0 without texts.
	MedianWords float64 `json:"median_words"`
}

// ValueCount is a value and the number of calls that gave it.
type ValueCount struct {
	Value string `json:"value"`
	Calls int    `json:"calls"`
}

// topValues is how many frequent values a Parameter lists.
const topValues = 4

// parameters describes the columns in order of first appearance, without the
// root of an object.
func (x *inputs) parameters(good set) []Parameter {
	values := make([][]ValueCount, len(x.columns))
	for _, t := range x.list {
		if t.kind == tokenValue {
			values[t.col] = append(values[t.col], ValueCount{t.text, len(t.calls)})
		}
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
		p.Least, p.Greatest = bounds(c.numbers)
		p.MedianWords = medianOf(c.words)
		ps = append(ps, p)
	}
	return ps
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

// medianOf is the median of the values that are there, 0 when none is.
func medianOf(values []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(known) == 0 {
		return 0
	}
	return stats.Median(known)
}
