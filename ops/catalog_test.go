package ops_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"memoryd/ops"
)

type namedOp string

func (n namedOp) Name() string                          { return string(n) }
func (n namedOp) Run(context.Context, *ops.State) error { return nil }

func TestAssemble(t *testing.T) {
	built := 0
	catalog := ops.Catalog{
		"good": func(ops.Spec) (ops.Op, error) { built++; return namedOp("good"), nil },
		"bad":  func(ops.Spec) (ops.Op, error) { return nil, errors.New("params: x: unknown key") },
	}
	specs := map[string]ops.Spec{"g": {Backend: "good"}, "b": {Backend: "bad"}, "n": {Backend: "nothing"}}
	tests := map[string]struct {
		flow []string
		want string // of the error; "" means none
	}{
		"one op":          {[]string{"g"}, ""},
		"no op":           {nil, "flow.f: no op"},
		"unknown entry":   {[]string{"x"}, `flow.f: unknown op "x" (the op section has b, g, n)`},
		"unknown backend": {[]string{"n"}, `flow.f: op.n.backend: unknown "nothing" (known: bad, good)`},
		"bad params":      {[]string{"g", "b"}, "flow.f: op.b: params: x: unknown key"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := catalog.Assemble(map[string][]string{"f": tc.flow}, specs)
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	built = 0
	flows, err := catalog.Assemble(map[string][]string{"f": {"g"}, "h": {"g", "g"}}, specs)
	if err != nil || len(flows) != 2 || built != 1 {
		t.Errorf("%v; %d flows, the shared op was built %d times", err, len(flows), built)
	}
}
