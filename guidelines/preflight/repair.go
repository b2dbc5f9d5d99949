package preflight

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	tested "memoryd/guidelines/rules"
	"memoryd/internal/origin"
)

// fix is a change of the planned input that is known to repair such calls.
type fix struct {
	input json.RawMessage // nil for none
	path  string          // of what was changed
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
	if !m.sums.bear() {
		return fix{}
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

// apply replaces a value by another one.
func (m *Model) apply(v *view, leaf int, value string, of origin.Origin) fix {
	raw, l := bytes.TrimSpace(v.in.raw), &v.in.leaves[leaf]
	if _, may := origin.Show(origin.Suggestion, of, value, maxValue); !may || l.To <= l.From {
		return fix{}
	}
	return fix{input: slices.Concat(raw[:l.From], []byte(value), raw[l.To:]), path: l.Path}
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
