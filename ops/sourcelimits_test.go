package ops

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
)

// counted is a store that counts how often histories are read.
type counted struct {
	store.Store
	reads int
}

func (c *counted) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	c.reads++
	return c.Store.ListCalls(ctx, ref, p)
}

// An add reads the history of its tool to hold its source to a share; where there are no keys,
// there are no sources to tell apart.
func TestWithoutKeysAnAddReadsNoHistory(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		s := &counted{Store: mem.New()}
		limits := newSourceLimits(s, func() bool { return keyed })
		for i := range 4 {
			calls := []memoryd.Call{{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Key: memoryd.CallKey{byte(i + 1)}, Hash: "h", CreateTime: "2026-01-02 03:04:05", Output: fmt.Sprint(i), Evaluation: memoryd.PendingEvaluation(),
			}}
			keep := limits.admit(t.Context(), calls, 100)
			appended, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: calls, Keep: keep})
			if err != nil || keep != 100 {
				t.Fatalf("%v, keeps %d", err, keep)
			}
			limits.added(t.Context(), calls, appended, keep)
		}
		if (s.reads > 0) != keyed {
			t.Errorf("with keys %v: %d readings", keyed, s.reads)
		}
	}
}

// Runs of writers have to say what a list of them says.
func TestWritersCountAsAListOfThem(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var w writers
		var list []string
		for range 60 {
			source, n := []string{"", "a", "b"}[random.IntN(3)], 1+random.IntN(3)
			w = slices.Clone(w).with(source, n)
			list = append(list, slices.Repeat([]string{source}, n)...)
			keep := 5 + random.IntN(40)
			before := w.calls()
			newest := w.newest(keep)
			if w.calls() != before {
				t.Fatal("the writers were changed")
			}
			w, list = newest, list[max(0, len(list)-keep):]
			if w.calls() != len(list) {
				t.Fatalf("seed %d: %d calls, want %d", seed, w.calls(), len(list))
			}
			for _, source := range []string{"", "a", "b"} {
				want := len(slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s != source }))
				if got := w.of(source); got != want {
					t.Fatalf("seed %d: %d calls of %q, want %d", seed, got, source, want)
				}
			}
		}
	}
}
