package ops

import (
	"context"
	"fmt"
	"math/rand/v2"
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
			keep, over := limits.admit(t.Context(), calls[0].Source(), calls, 100)
			appended, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: calls, Keep: keep})
			if err != nil || keep != 100 {
				t.Fatalf("%v, keeps %d", err, keep)
			}
			limits.added(t.Context(), calls[0].Source(), calls, appended, keep, over)
		}
		if (s.reads > 0) != keyed {
			t.Errorf("with keys %v: %d readings", keyed, s.reads)
		}
	}
}

// Three sources that flood a history by turns never push out what another has below its share.
func TestNoSourcePushesOthersOutOfAHistory(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := mem.New()
		limits := newSourceLimits(s, func() bool { return true })
		ref := memoryd.ToolRef{Workspace: "w", Tool: "t"}
		keep := 8 + random.IntN(40)
		number := 0
		for range 60 {
			source, n := []string{"a", "b", "c"}[random.IntN(3)], 1+random.IntN(keep/4)
			before := heldBy(t, s, ref)
			var calls []memoryd.Call
			for range n {
				number++
				c := memoryd.Call{ToolRef: ref, Hash: fmt.Sprint(number), Output: "o", Evaluation: memoryd.PendingEvaluation()}
				c.Key = memoryd.Identity{ToolRef: ref, Output: c.Hash, CreateTime: "2026-01-02 03:04:05"}.Key()
				c.Metadata = memoryd.WithSource(nil, source)
				calls = append(calls, c)
			}
			now, over := limits.admit(t.Context(), calls[0].Source(), calls, keep)
			appended, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: calls, Keep: now})
			if err != nil {
				t.Fatal(err)
			}
			limits.added(t.Context(), calls[0].Source(), calls, appended, keep, over)
			after := heldBy(t, s, ref)
			if all := after["a"] + after["b"] + after["c"]; all > keep {
				t.Fatalf("seed %d: %d calls of %d are kept", seed, all, keep)
			}
			for other, had := range before {
				if other != source && after[other] < had && after[source] > keep/2 {
					t.Fatalf("seed %d: %s has %v of %d, and pushed out those of %s: before %v", seed, source, after, keep, other, before)
				}
			}
		}
	}
}

func heldBy(t *testing.T, s store.Store, ref memoryd.ToolRef) map[string]int {
	t.Helper()
	calls, err := s.History(t.Context(), ref, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for i := range calls {
		n[calls[i].Source()]++
	}
	return n
}
