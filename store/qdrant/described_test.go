package qdrant_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"
)

// A process that remembers calls tells of a tool what one tells that knows nothing, whatever it
// or another does to it, while old things are forgotten.
func TestWhatIsRememberedOfAToolIsWhatThereIs(t *testing.T) {
	const grace = 5 * time.Millisecond
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			server := qdranttest.New(t, versions[0])
			tryDescribing(t, seed, 250, func(t *testing.T) *qdrant.Store { return openFake(t, server, fakeConfig(), qdrant.WithGrace(grace)) })
		})
	}
	t.Run("real", func(t *testing.T) {
		b := realBackend(t)
		tryDescribing(t, rand.Uint64(), 100, func(t *testing.T) *qdrant.Store { return b.Beside(t, qdrant.WithGrace(5*grace)) })
	})
}

func tryDescribing(t *testing.T, seed uint64, steps int, open func(t *testing.T) *qdrant.Store) {
	w := &trial{t: t, rand: rand.New(rand.NewPCG(seed, 1)), stores: []*qdrant.Store{open(t), open(t)}}
	for range steps {
		w.step()
		got, gerr := w.stores[0].Described(t.Context(), ref("t"))
		want, err := describedAnew(t, open)
		if (gerr == nil) != (err == nil) || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, after %v:\n%+v, %v, counted:\n%+v, %v", seed, w.did, got, gerr, want, err)
		}
	}
}

// describedAnew is what a process tells that knows nothing.
func describedAnew(t *testing.T, open func(t *testing.T) *qdrant.Store) (got store.Description, err error) {
	t.Run("anew", func(t *testing.T) { got, err = open(t).Described(t.Context(), ref("t")) })
	return got, err
}

// trial does things to a tool.
type trial struct {
	t      *testing.T
	rand   *rand.Rand
	stores []*qdrant.Store
	calls  []memoryd.Call
	did    []string
}

func (w *trial) step() {
	w.t.Helper()
	s := w.stores[w.rand.IntN(2)]
	var err error
	var did string
	switch n := w.rand.IntN(40); {
	case n < 20 || len(w.calls) == 0:
		did, err = "append", w.append(s, 6)
	case n == 20:
		did, err = "smaller history", w.append(s, 3)
	case n < 29:
		e := memoryd.Evaluation{State: memoryd.Judged, Score: float64(w.rand.IntN(2)), JudgedBy: "rules", JudgeVersion: "v1"}
		did = "settle"
		_, err = s.Settle(w.t.Context(), []store.Verdict{{ToolRef: ref("t"), Key: w.any().Key, Evaluation: e}})
	case n < 33:
		did, err = "override", w.override(s)
	case n < 35:
		did = "delete calls"
		_, err = s.DeleteCalls(w.t.Context(), ref("t"), []memoryd.CallKey{w.any().Key})
	case n == 35:
		did = "repeat with a smaller history"
		_, err = add(w.t.Context(), s, 4, w.calls[len(w.calls)-1])
	case n == 36 && w.rand.IntN(3) == 0:
		did, err, w.calls = "delete tool", s.DeleteTool(w.t.Context(), ref("t")), nil
	default:
		did, err = "sweep", s.Sweep(w.t.Context())
	}
	w.did = append(w.did, did)
	if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
		w.t.Fatalf("%s: %v", did, err)
	}
}

func (w *trial) append(s *qdrant.Store, keep int) error {
	n := len(w.did) + 1
	c := call("t", n/2, 10) // every other is a repeat
	c.Key[0], c.Key[1], c.Key[2] = byte(n), byte(n>>8), 7
	w.calls = append(w.calls, c)
	_, err := add(w.t.Context(), s, keep, c)
	return err
}

// any is one of the newest calls.
func (w *trial) any() *memoryd.Call {
	return &w.calls[len(w.calls)-1-w.rand.IntN(min(8, len(w.calls)))]
}

func (w *trial) override(s *qdrant.Store) error {
	c := w.any()
	v := store.Verdict{ToolRef: ref("t"), Key: c.Key, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: .5, JudgedBy: memoryd.PersonPrefix + "x"}}
	if w.rand.IntN(2) == 0 {
		v.Evaluation, v.Amendment = memoryd.PendingEvaluation(), memoryd.AmendmentOf(c)
	}
	_, err := s.Override(context.WithoutCancel(w.t.Context()), v)
	return err
}

// A call that got a verdict and was then let go and cleared away, all between two descriptions, has
// had that verdict.
func TestAVerdictOnACallThatIsClearedIsTold(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	open := func(t *testing.T) *qdrant.Store { return openFake(t, server, fakeConfig()) }
	s, other := open(t), open(t)
	c := call("t", 0, 1)
	if _, err := add(t.Context(), s, 3, c); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Tool(t.Context(), ref("t")); err != nil {
		t.Fatal(err)
	}
	judged := memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", JudgeVersion: "v1"}
	if _, err := other.Settle(t.Context(), []store.Verdict{{ToolRef: ref("t"), Key: c.Key, Evaluation: judged}}); err != nil {
		t.Fatal(err)
	}
	var more []memoryd.Call
	for n := range 70 { // who brings so many clears the history
		more = append(more, call("t", n+1, 1))
	}
	if _, err := add(t.Context(), other, 3, more...); err != nil {
		t.Fatal(err)
	}
	cleared(t, other)
	if n := other.Bodies(t.Context(), ref("t")); n != 3 {
		t.Fatalf("%d calls have bodies", n)
	}
	got, err := s.Tool(t.Context(), ref("t"))
	if err != nil || got.Lifetime != 71 || got.Revision != 72 {
		t.Errorf("got %+v, %v", got, err)
	}
}
