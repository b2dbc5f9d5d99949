package preflight

import (
	"bytes"
	"encoding/json"
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
	leaves := leavesOf(c.Input)
	for i := range leaves {
		path := leaves[i].Path
		if leaves[i].Kind != tested.Number || !strings.Contains(path, "[]") ||
			slices.ContainsFunc(leaves[:i], func(l leaf) bool { return l.Path == path }) {
			continue
		}
		for k, paid := range numbers {
			if !near(sumOf(leaves, path), paid) || near(paid, numbers[1-k]) {
				continue
			}
			total := numbers[1-k]
			if near(sumOf(v.in.leaves, path), total) || !m.sameBut(v.in.leaves, leaves, path) {
				return fix{}
			}
			return m.adjust(v, path, total-sumOf(v.in.leaves, path))
		}
	}
	return fix{}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1, math.Abs(a)) }

func sumOf(leaves []leaf, path string) (sum float64) {
	for i := range leaves {
		if leaves[i].Kind == tested.Number && leaves[i].Path == path {
			sum += leaves[i].Number
		}
	}
	return sum
}

// sameBut reports whether two inputs give the same but for the list, or the object,
// that a path leads into.
func (m *Model) sameBut(a, b []leaf, path string) bool {
	top, _, _ := strings.Cut(path, "[]")
	top, _, _ = strings.Cut(top, ".")
	rest := func(leaves []leaf) uint64 {
		var other []leaf
		for i := range leaves {
			p := leaves[i].Path
			if leaves[i].Kind != tested.Object && p != top && !strings.HasPrefix(p, top+"[]") && !strings.HasPrefix(p, top+".") {
				other = append(other, leaves[i])
			}
		}
		return identityOf(other)
	}
	return rest(a) == rest(b)
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

// apply replaces a value by another one, unless what comes out failed already.
func (m *Model) apply(v *view, leaf int, value string, of origin.Origin) fix {
	raw, l := bytes.TrimSpace(v.in.raw), &v.in.leaves[leaf]
	if _, may := origin.Show(origin.Suggestion, of, value, maxValue); !may || l.To <= l.From {
		return fix{}
	}
	out := slices.Concat(raw[:l.From], []byte(value), raw[l.To:])
	if !json.Valid(out) || m.hasFailed(v, out) {
		return fix{}
	}
	return fix{input: out, path: l.Path}
}

// hasFailed reports whether an input failed in this run, or wherever it was tried.
func (m *Model) hasFailed(v *view, input []byte) bool {
	identity := identityOf(leavesOf(input))
	for i := range v.run {
		if v.run[i].failed && identityOf(leavesOf(v.run[i].Input)) == identity {
			return true
		}
	}
	failed := 0
	for _, place := range m.byInput[identity] {
		if m.calls[place].failed() {
			failed++
		}
	}
	return failed > 0 && failed == len(m.byInput[identity])
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
