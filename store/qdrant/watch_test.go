package qdrant_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"
)

// watched describes a tool until it is watched.
func watched(t *testing.T, s *qdrant.Store, tool string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !s.Watched(t.Context(), ref(tool)); <-time.After(time.Millisecond) {
		if _, err := s.Tool(t.Context(), ref(tool)); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("%s is not watched", tool)
		}
	}
}

// Descriptions of many tools at once that were described before cost a few requests in
// all, and none of them counts.
func TestDescriptionsOfManyToolsShareALook(t *testing.T) {
	const tools, rounds = 40, 10
	server := qdranttest.New(t, versions[0])
	m := &meter{}
	m.reset()
	s := openFake(t, server, fakeConfig(), qdrant.WithInterceptor(m.intercept))
	for i := range tools {
		if _, err := add(t.Context(), s, 100, call(fmt.Sprint("t", i), i, 100)); err != nil {
			t.Fatal(err)
		}
		watched(t, s, fmt.Sprint("t", i))
	}
	server.Inject(func(method string) qdranttest.Fault {
		if path.Base(method) != "Upsert" {
			return qdranttest.Fault{Delay: 5 * time.Millisecond} // while a look is under way, others ask
		}
		return qdranttest.Fault{}
	})
	m.reset()
	for n := range rounds {
		var all sync.WaitGroup
		for i := range tools {
			all.Go(func() {
				c := call(fmt.Sprint("t", i), (n+1)*1000+i, 100)
				if _, err := add(t.Context(), s, 100, c); err != nil {
					t.Error(err)
				}
				if got, err := s.Tool(t.Context(), c.ToolRef); err != nil || got.Lifetime != int64(n+2) || got.Kept != n+2 {
					t.Errorf("%s: %+v, %v, want %d calls", c.Tool, got, err, n+2)
				}
			})
		}
		all.Wait()
	}
	t.Logf("%d adds with a description each: requests %v", tools*rounds, m.times)
	sum := 0
	for _, n := range m.times {
		sum += n
	}
	if m.times["Count"] > 0 || m.times["Scroll"] > tools*rounds/2 || sum > 2*tools*rounds {
		t.Errorf("%d descriptions and adds took %v", tools*rounds, m.times)
	}
}

// What a process stored itself, and found as it wrote it, it does not read again to tell a
// watched tool: an append asks for its call, its content, its tool and its workspace, and
// a description for the tool.
func TestWhatAProcessStoredIsNotReadAgain(t *testing.T) {
	const adds = 20
	m := &meter{}
	m.reset()
	s := openFake(t, qdranttest.New(t, versions[0]), fakeConfig(), qdrant.WithInterceptor(m.intercept))
	if _, err := add(t.Context(), s, 100, call("t", 0, 100)); err != nil {
		t.Fatal(err)
	}
	watched(t, s, "t")
	m.reset()
	for n := range adds {
		if _, err := add(t.Context(), s, 100, call("t", 1+n, 100)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Tool(t.Context(), ref("t")); err != nil || got.Lifetime != int64(n+2) {
			t.Fatalf("%+v, %v, want %d calls", got, err, n+2)
		}
	}
	if m.ids > 5*adds {
		t.Errorf("%d adds and descriptions read %d points by id", adds, m.ids)
	}
}

// A watched tool is told as one that is counted, whatever this process or another does to
// it, while what is known moves on and old things are forgotten.
func TestAWatchedToolIsToldAsACountedOne(t *testing.T) {
	const grace = 5 * time.Millisecond
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			server := qdranttest.New(t, versions[0])
			tryWatching(t, seed, 250, func(t *testing.T) *qdrant.Store { return openFake(t, server, fakeConfig(), qdrant.WithGrace(grace)) })
		})
	}
	t.Run("real", func(t *testing.T) {
		b := realBackend(t)
		tryWatching(t, rand.Uint64(), 100, func(t *testing.T) *qdrant.Store { return b.Beside(t, qdrant.WithGrace(5*grace)) })
	})
}

func tryWatching(t *testing.T, seed uint64, steps int, open func(t *testing.T) *qdrant.Store) {
	w := &watchTrial{t: t, rand: rand.New(rand.NewPCG(seed, 1)), stores: []*qdrant.Store{open(t), open(t)}}
	told := 0
	for range steps {
		w.step()
		if w.stores[0].Watched(t.Context(), ref("t")) {
			told++
		}
		got, gerr := w.stores[0].Described(t.Context(), ref("t"))
		for w.stores[0].Beginning() { // it would begin beside an append that takes longer than the grace
			<-time.After(time.Millisecond)
		}
		want, err := describedAnew(t, open)
		if (gerr == nil) != (err == nil) || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, after %v:\n%+v, %v, counted:\n%+v, %v", seed, w.did, got, gerr, want, err)
		}
	}
	if told < steps/4 {
		t.Errorf("the tool was watched at %d of %d descriptions", told, steps)
	}
}

// describedAnew is what a process tells that knows nothing.
func describedAnew(t *testing.T, open func(t *testing.T) *qdrant.Store) (got store.Description, err error) {
	t.Run("anew", func(t *testing.T) { got, err = open(t).Described(t.Context(), ref("t")) })
	return got, err
}

// watchTrial does things to a tool.
type watchTrial struct {
	t      *testing.T
	rand   *rand.Rand
	stores []*qdrant.Store
	calls  []memoryd.Call
	did    []string
}

func (w *watchTrial) step() {
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

func (w *watchTrial) append(s *qdrant.Store, keep int) error {
	n := len(w.did) + 1
	c := call("t", n/2, 10) // every other is a repeat
	c.Key[0], c.Key[1], c.Key[2] = byte(n), byte(n>>8), 7
	w.calls = append(w.calls, c)
	_, err := add(w.t.Context(), s, keep, c)
	return err
}

// any is one of the newest calls.
func (w *watchTrial) any() *memoryd.Call {
	return &w.calls[len(w.calls)-1-w.rand.IntN(min(8, len(w.calls)))]
}

func (w *watchTrial) override(s *qdrant.Store) error {
	c := w.any()
	v := store.Verdict{ToolRef: ref("t"), Key: c.Key, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: .5, JudgedBy: memoryd.PersonPrefix + "x"}}
	if w.rand.IntN(2) == 0 {
		v.Evaluation, v.Amendment = memoryd.PendingEvaluation(), memoryd.AmendmentOf(c)
	}
	_, err := s.Override(context.WithoutCancel(w.t.Context()), v)
	return err
}

// A look goes by what it knows only as long as that is sure: what arrives while a copy is
// away may be overlooked by a quorum, and is counted.
func TestNothingIsWatchedByAQuorum(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	m := &meter{}
	m.reset()
	s := openFake(t, server, fakeConfig(), qdrant.WithInterceptor(m.intercept))
	if _, err := add(t.Context(), s, 100, call("t", 1, 100)); err != nil {
		t.Fatal(err)
	}
	watched(t, s, "t")
	counts := func() int {
		m.reset()
		if got, err := s.Tool(t.Context(), ref("t")); err != nil || got.Lifetime != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		return m.times["Count"]
	}
	if n := counts(); n != 0 {
		t.Errorf("a watched tool was counted by %d requests", n)
	}
	s.CopyAway()
	if n := counts(); n == 0 {
		t.Error("a tool was not counted while a copy was away")
	}
}

// What others do while a watch begins, at each of its requests, is told as if it had begun
// before or after that.
func TestWhatHappensWhileAWatchBegins(t *testing.T) {
	const requests, grace = 40, 5 * time.Millisecond
	judged := memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", JudgeVersion: "v1"}
	step := 1
	if testing.Short() {
		step = 4
	}
	for at := 0; at < requests; at += step {
		server := qdranttest.New(t, versions[0])
		open := func(t *testing.T) *qdrant.Store { return openFake(t, server, fakeConfig(), qdrant.WithGrace(grace)) }
		s, other := open(t), open(t)
		for n := range 4 {
			if _, err := add(t.Context(), s, 3, call("t", n, 1)); err != nil {
				t.Fatal(err)
			}
		}
		for began := time.Now(); time.Since(began) < s.SettledFor(t.Context()); { // the first are settled
			<-time.After(time.Millisecond)
		}
		s.HoldLow(t.Context())
		var n atomic.Int64
		var happened atomic.Bool
		server.Inject(func(string) qdranttest.Fault {
			if n.Add(1) != int64(at+1) {
				return qdranttest.Fault{}
			}
			defer happened.Store(true)
			for _, i := range []int{1, 3} {
				if _, err := other.Settle(t.Context(), []store.Verdict{{ToolRef: ref("t"), Key: call("t", i, 1).Key, Evaluation: judged}}); err != nil {
					t.Error(err)
				}
			}
			if _, err := add(t.Context(), other, 3, call("t", 9, 1)); err != nil {
				t.Error(err)
			}
			return qdranttest.Fault{}
		})
		for !happened.Load() {
			if _, err := s.Tool(t.Context(), ref("t")); err != nil {
				t.Fatal(err)
			}
		}
		for known := false; !known; {
			known = s.Watched(t.Context(), ref("t"))
			got, gerr := s.Described(t.Context(), ref("t"))
			want, err := describedAnew(t, open)
			if err != nil || gerr != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("at request %d:\n%+v, %v, counted:\n%+v, %v", at, got, gerr, want, err)
			}
		}
	}
}

// A call that got a verdict and was then let go and cleared away, all between two looks, has
// had that verdict.
func TestAVerdictOnACallThatIsClearedIsTold(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	open := func(t *testing.T) *qdrant.Store { return openFake(t, server, fakeConfig()) }
	s, other := open(t), open(t)
	c := call("t", 0, 1)
	if _, err := add(t.Context(), s, 3, c); err != nil {
		t.Fatal(err)
	}
	watched(t, s, "t")
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
	if err != nil || !s.Watched(t.Context(), ref("t")) || got.Lifetime != 71 || got.Revision != 72 {
		t.Errorf("got %+v, %v", got, err)
	}
}
