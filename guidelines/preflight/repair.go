package preflight

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	tested "memoryd/guidelines/rules"
	"memoryd/internal/errortext"
	"memoryd/internal/origin"
	"memoryd/internal/textsafe"
)

// fix is a change of the planned input that is known to repair such calls.
type fix struct {
	input json.RawMessage // nil for none
	path  string          // of what was changed
}

// maxMessage is how many bytes of a message are read.
const maxMessage = 400

// suggest finds a change of the planned input: what rules that calls bear out ask for, or the sum
// that a message of the run asks for.
func (m *Model) suggest(v *view) fix {
	if len(v.in.leaves) == 0 || v.in.leaves[0].Kind != tested.Object {
		return fix{}
	}
	if f := m.mend(v); f.input != nil {
		return f
	}
	asks := 0
	for i := len(v.run) - 1; i >= 0 && asks < 4; i-- {
		if c := &v.run[i]; c.failed {
			asks++
			if f := m.balance(v, c); f.input != nil {
				return f
			}
		}
	}
	return fix{}
}

var wholeNumber = regexp.MustCompile(`-?\d+(?:[.,]\d+)*`)

// numbersIn lists the numbers of a message.
func numbersIn(s string) []float64 {
	var out []float64
	for _, n := range wholeNumber.FindAllString(s, 8) {
		f, err := strconv.ParseFloat(strings.ReplaceAll(n, ",", ""), 64)
		if err == nil {
			out = append(out, f)
		}
	}
	return out
}

// balance repairs numbers whose sum was refused: where a message names two numbers
// of which one is the sum of what the call gave, the other is what the sum has to
// be, as long as the rest of the input stays.
func (m *Model) balance(v *view, c *runCall) fix {
	numbers := numbersIn(textsafe.Head(errortext.Unwrap(c.Output), maxMessage))
	if len(numbers) != 2 {
		return fix{}
	}
	refused := leavesOf(c.Input)
	paid, planned := sums(refused), sums(v.in.leaves)
	for _, path := range slices.Sorted(maps.Keys(planned)) {
		for k, n := range numbers {
			if total := numbers[1-k]; near(paid[path], n) && !near(total, n) && !near(planned[path], total) &&
				without(refused, path) == without(v.in.leaves, path) {
				return m.adjust(v, path, total-planned[path])
			}
		}
	}
	return fix{}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1, math.Abs(a)) }

// sums are those of the numbers that elements of lists give.
func sums(leaves []leaf) map[string]float64 {
	of := map[string]float64{}
	for i := range leaves {
		if l := &leaves[i]; l.Kind == tested.Number && strings.Contains(l.Path, "[]") {
			of[l.Path] += l.Number
		}
	}
	return of
}

// without is the identity of an input without the list that a path leads into.
func without(leaves []leaf, path string) uint64 {
	list, _, _ := strings.Cut(path, "[]")
	return identityOf(slices.DeleteFunc(slices.Clone(leaves), func(l leaf) bool {
		return l.Kind == tested.Object || strings.HasPrefix(l.Path, list)
	}))
}

// adjust adds to the last of the numbers at a path that stays above zero.
func (m *Model) adjust(v *view, path string, by float64) fix {
	for i, l := range slices.Backward(v.in.leaves) {
		if l.Path == path && l.Kind == tested.Number && l.Number+by >= 0 {
			return m.apply(v, i, plain(l.Number+by), origin.Run)
		}
	}
	return fix{}
}

// apply replaces a value by another one.
func (m *Model) apply(v *view, leaf int, value string, of origin.Origin) fix {
	raw, l := bytes.TrimSpace(v.in.raw), &v.in.leaves[leaf]
	if _, may := origin.Show(origin.Suggestion, of, value, maxValue); !may || l.To <= l.From {
		return fix{}
	}
	return fix{input: slices.Concat(raw[:l.From], []byte(value), raw[l.To:]), path: l.Path}
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
