package preflight

import (
	"slices"
	"testing"

	"memoryd/internal/origin"
)

func TestAnInputIsChangedToNothingThatMayNotStandInASuggestion(t *testing.T) {
	m := Learn(nil, Options{})
	for of, may := range map[origin.Origin]bool{origin.Run: true, origin.Shared: true, origin.Caller: true, origin.Message: false, origin.Answer: false, origin.Model: false, origin.Refused: false, origin.Private: false} {
		v := &view{in: m.read([]byte(`{"mode":"a"}`))}
		at := slices.IndexFunc(v.in.leaves, func(l leaf) bool { return l.Path == "mode" })
		if got := m.apply(v, at, `"b"`, of); (got.input != nil) != may {
			t.Errorf("a value of origin %d: %s", of, got.input)
		}
	}
}
