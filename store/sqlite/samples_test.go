package sqlite

import (
	"context"
	"slices"
	"sync"
	"testing"

	"memoryd"
	"memoryd/store"

	"pgregory.net/rapid"
)

func TestTheSampleCacheHoldsTheToolsAskedForLast(t *testing.T) {
	c := newSampleCache(6)
	three := []memoryd.Sample{{Seq: 1}, {Seq: 2}, {Seq: 3, State: memoryd.Pending}}
	c.put(1, slices.Clone(three))
	c.put(2, slices.Clone(three))
	if _, ok := c.get(1); !ok {
		t.Fatal("tool 1 is gone")
	}
	c.put(3, slices.Clone(three)) // tool 2 was asked for longest ago
	for tool, want := range map[uint32]bool{1: true, 2: false, 3: true} {
		if _, ok := c.get(tool); ok != want {
			t.Errorf("tool %d: held is %v", tool, ok)
		}
	}
	c.push(3, 3, []memoryd.Sample{{Seq: 4, State: memoryd.Pending}})
	c.judge(3, 4, &memoryd.Evaluation{State: memoryd.Judged, Score: 1}, nil)
	c.judge(3, 1, &memoryd.Evaluation{State: memoryd.Failed}, nil) // let go
	got, _ := c.get(3)
	want := []memoryd.Sample{{Seq: 3, State: memoryd.Pending}, {Seq: 4, State: memoryd.Judged, Score: 1}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.put(4, make([]memoryd.Sample, 7)) // more than all
	if c.held > 6 {
		t.Errorf("%d samples of %d tools are held", c.held, c.tools.Len())
	}
}

// The samples of a tool are what was put and pushed, less what was dropped, also
// when a push drops of what it brings.
func TestTheSampleCacheFollowsAHistory(t *testing.T) {
	states := []memoryd.EvaluationState{memoryd.Pending, memoryd.Judged, memoryd.Failed}
	rapid.Check(t, func(t *rapid.T) {
		c, seq := newSampleCache(1000), int64(0)
		some := func(most int) (list []memoryd.Sample) {
			for range rapid.IntRange(0, most).Draw(t, "samples") {
				seq++
				list = append(list, memoryd.Sample{
					Seq: seq, Success: rapid.Bool().Draw(t, "success"), State: rapid.SampledFrom(states).Draw(t, "state"),
					Score: rapid.Float64().Draw(t, "score"), TimeCost: rapid.Float64().Draw(t, "time"), TokenCost: rapid.Int64().Draw(t, "tokens"),
				})
			}
			return list
		}
		want := some(5)
		c.put(7, slices.Clone(want))
		for range rapid.IntRange(1, 20).Draw(t, "pushes") {
			newer := some(8)
			all := slices.Concat(want, newer)
			dropped := rapid.IntRange(0, len(all)).Draw(t, "dropped")
			c.push(7, seq+1-int64(len(all)-dropped), newer)
			want = all[dropped:]
			if len(want) > 0 {
				i := rapid.IntRange(0, len(want)-1).Draw(t, "judged")
				want[i].State, want[i].Score = memoryd.Judged, 0.3
				c.judge(7, want[i].Seq, &memoryd.Evaluation{State: memoryd.Judged, Score: 0.3}, nil)
			}
			if got, ok := c.get(7); !ok || !slices.Equal(got, want) || c.held != len(want) {
				t.Fatalf("got %+v (%d held), want %+v", got, c.held, want)
			}
		}
	})
}

// waiting is a context that tells when somebody waits for its end, or for something else: here, for a
// connection to read with.
type waiting struct {
	context.Context
	begun func()
}

func (w waiting) Done() <-chan struct{} {
	w.begun()
	return w.Context.Done()
}

// TestColdSamplesKeepNobodyFromWriting was written for a reading of the file with
// the writer's lock held: every append to a tool out of the cache stalled all
// commits.
func TestColdSamplesKeepNobodyFromWriting(t *testing.T) {
	cfg := settings(t.TempDir())
	cfg.SampleCache = 0
	s := openTuned(t, cfg, nil)
	mustAppend(t, s, testBatch(5, "t", 1, 5))
	var lent []*conn
	for range cap(s.readers) {
		lent = append(lent, <-s.readers)
	}
	got := make(chan []memoryd.Sample, 1)
	waits := make(chan struct{})
	go func() {
		samples, err := s.samples(waiting{t.Context(), sync.OnceFunc(func() { close(waits) })}, tref)
		if err != nil {
			t.Error(err)
		}
		got <- samples
	}()
	<-waits
	// Commits go on, also of the tool that is being read: one goes, a pending one
	// comes and is judged, and one of the old ones is corrected.
	newer := testBatch(5, "t", 6, 7)
	newer.Calls[1].Evaluation = memoryd.PendingEvaluation()
	mustAppend(t, s, newer)
	mustAppend(t, s, testBatch(5, "other", 1, 3))
	failed := memoryd.Evaluation{State: memoryd.Judged}
	if _, err := s.Settle(t.Context(), []store.Verdict{{ToolRef: tref, Key: newer.Calls[1].Key, Evaluation: failed}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range lent {
		s.readers <- c
	}
	calls, err := s.History(t.Context(), tref, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]memoryd.Sample, len(calls))
	for i := range calls {
		want[i] = calls[i].Sample()
	}
	if samples := <-got; !slices.Equal(samples, want) || len(want) != 5 || want[4].Score != 0 {
		t.Errorf("got %+v, want %+v", samples, want)
	}
}
