package ops_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"memoryd/ops"
)

// diary is a tracer that writes down what it hears.
type diary struct{ lines []string }

type pageKey struct{}

func (d *diary) Op(ctx context.Context, flow, op string, st *ops.State) (context.Context, func(error)) {
	d.lines = append(d.lines, fmt.Sprintf("%s/%s of %s", flow, op, st.Workspace))
	return context.WithValue(ctx, pageKey{}, op), func(err error) {
		d.lines = append(d.lines, fmt.Sprintf("%s: %v", op, err))
	}
}

// step is an op that does what run says.
type step struct {
	name string
	run  func(ctx context.Context) error
}

func (s step) Name() string                                { return s.name }
func (s step) Run(ctx context.Context, _ *ops.State) error { return s.run(ctx) }

func TestATracerFollowsEachOpThatRuns(t *testing.T) {
	seen := func(want string) func(context.Context) error {
		return func(ctx context.Context) error {
			if got := ctx.Value(pageKey{}); got != want {
				t.Errorf("op %s runs within the context of %v", want, got)
			}
			return nil
		}
	}
	d := &diary{}
	broken := errors.New("broken")
	p := ops.Pipeline{Label: "flow", Tracer: d, Ops: []ops.Op{
		step{"one", seen("one")}, step{"two", seen("two")}, step{"three", func(context.Context) error { return broken }}, step{"four", seen("four")},
	}}
	if err := p.Run(t.Context(), &ops.State{Workspace: "w"}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	want := []string{"flow/one of w", "one: <nil>", "flow/two of w", "two: <nil>", "flow/three of w", "three: broken"}
	if !slices.Equal(d.lines, want) {
		t.Errorf("got  %q\nwant %q", d.lines, want)
	}
}

func TestATracerHearsOfAnOpThatPanics(t *testing.T) {
	d := &diary{}
	p := ops.Pipeline{Label: "flow", Tracer: d, Ops: []ops.Op{step{"one", func(context.Context) error { panic("no") }}}}
	func() {
		defer func() {
			if recover() != "no" {
				t.Error("the panic was swallowed")
			}
		}()
		_ = p.Run(t.Context(), &ops.State{Workspace: "w"})
	}()
	if want := []string{"flow/one of w", "one: the op panicked"}; !slices.Equal(d.lines, want) {
		t.Errorf("got %q", d.lines)
	}
}
