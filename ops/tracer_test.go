package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"memoryd"
)

// diary is a tracer that writes down what it hears.
type diary struct{ lines []string }

type pageKey struct{}

func (d *diary) Op(ctx context.Context, flow, op string, about memoryd.Subject) (context.Context, func(error)) {
	d.lines = append(d.lines, fmt.Sprintf("%s/%s of %s", flow, op, about.Workspace))
	return context.WithValue(ctx, pageKey{}, op), func(err error) {
		d.lines = append(d.lines, fmt.Sprintf("%s: %v", op, err))
	}
}

// says is an op that does what run says.
func says(name string, run func(ctx context.Context) error) step {
	return step{name, func(ctx context.Context, in any) (any, error) { return in, run(ctx) }}
}

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
	f := Flow[ListTools, ListTools]{name: "flow", tracer: d, steps: []step{
		says("one", seen("one")), says("two", seen("two")), says("three", func(context.Context) error { return broken }), says("four", seen("four")),
	}}
	if _, err := f.Run(t.Context(), ListTools{Workspace: "w"}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	want := []string{"flow/one of w", "one: <nil>", "flow/two of w", "two: <nil>", "flow/three of w", "three: broken"}
	if !slices.Equal(d.lines, want) {
		t.Errorf("got  %q\nwant %q", d.lines, want)
	}
}

func TestARefusalIsNoErrorToATracer(t *testing.T) {
	d := &diary{}
	f := Flow[ListTools, ListTools]{name: "flow", tracer: d, steps: []step{says("one", func(context.Context) error { return refuse("no") })}}
	if _, err := f.Run(t.Context(), ListTools{}); err == nil {
		t.Error("the refusal was swallowed")
	}
	if want := []string{"flow/one of ", "one: <nil>"}; !slices.Equal(d.lines, want) {
		t.Errorf("got %q", d.lines)
	}
}

func TestATracerHearsOfAnOpThatPanics(t *testing.T) {
	d := &diary{}
	f := Flow[ListTools, ListTools]{name: "flow", tracer: d, steps: []step{says("one", func(context.Context) error { panic("no") })}}
	func() {
		defer func() {
			if recover() != "no" {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = f.Run(t.Context(), ListTools{Workspace: "w"})
	}()
	if want := []string{"flow/one of w", "one: the op panicked"}; !slices.Equal(d.lines, want) {
		t.Errorf("got %q", d.lines)
	}
}
