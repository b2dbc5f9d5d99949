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

// refusal is a failed call and which of its values the message is about. No word of the
// message is understood: it is searched for the values of the call.
type refusal struct {
	leaves []leaf
	leaf   int    // -1 when the message does not tell
	text   string // the message, in lower case
}

// maxMessage is how many bytes of a message are compared with values.
const maxMessage = 400

// refusalOf finds the value that a message is about: one that it repeats.
func refusalOf(output string, leaves []leaf) *refusal {
	r := &refusal{leaves: leaves, text: strings.ToLower(textsafe.Head(errortext.Unwrap(output), maxMessage))}
	r.leaf = slices.IndexFunc(leaves, func(l leaf) bool { return isID(&l) && tested.Named(r.text, strings.ToLower(l.Text)) })
	return r
}

// blamed is the value that the message is about, nil when it does not tell.
func (r *refusal) blamed() *leaf {
	if r.leaf < 0 {
		return nil
	}
	return &r.leaves[r.leaf]
}

// gives is the place of the same value at the same path, -1 for none.
func (p *planned) gives(l *leaf) int {
	return slices.IndexFunc(p.leaves, func(o leaf) bool { return o.Path == l.Path && o.Text == l.Text })
}

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
			if f := m.balance(v, c.refusal()); f.input != nil {
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
func (m *Model) balance(v *view, r *refusal) fix {
	numbers := numbersIn(r.text)
	if len(numbers) != 2 {
		return fix{}
	}
	for i := range r.leaves {
		path := r.leaves[i].Path
		if r.leaves[i].Kind != tested.Number || !strings.Contains(path, "[]") ||
			slices.ContainsFunc(r.leaves[:i], func(l leaf) bool { return l.Path == path }) {
			continue
		}
		for k, paid := range numbers {
			if !near(sumOf(r.leaves, path), paid) || near(paid, numbers[1-k]) {
				continue
			}
			total := numbers[1-k]
			if near(sumOf(v.in.leaves, path), total) || !m.sameBut(v.in.leaves, r.leaves, path) {
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
