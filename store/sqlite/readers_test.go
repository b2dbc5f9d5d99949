package sqlite

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
)

// TestReadersSeeWholeHistories reads a tool while it is written, judged and
// trimmed, and checks that every answer is one unbroken run of numbers.
func TestReadersSeeWholeHistories(t *testing.T) {
	s := openTuned(t, settings(t.TempDir()), func(s *Store) { s.w.foldEvery = 64 })
	mustAppend(t, s, testBatch(30, "t", 0, 0))
	var stop atomic.Bool
	var readers, writers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			newest := int64(0)
			for !stop.Load() {
				newest = checkRun(t, s, newest)
			}
		})
	}
	for w := range 4 {
		writers.Go(func() {
			for n := range 150 {
				b := testBatch(10+10*(n/50%3), "t", 1+w*1000+n, 1+w*1000+n)
				b.Calls[0].Evaluation = memoryd.PendingEvaluation()
				if _, err := s.Append(t.Context(), b); err != nil {
					t.Error(err)
					return
				}
				judgeOne(t, s)
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()
	if tool, err := s.Tool(t.Context(), tref); err != nil || tool.Lifetime != 601 {
		t.Errorf("got %+v, %v", tool, err)
	}
}

// judgeOne claims a call and gives it a verdict.
func judgeOne(t *testing.T, s *Store) {
	calls, err := s.Claim(t.Context(), time.Unix(0, 0), time.Hour, 1)
	if err != nil {
		t.Error(err)
	}
	for _, c := range calls {
		e := memoryd.Evaluation{State: memoryd.Judged, Score: 0.5, Summary: fmt.Sprint(c.Seq)}
		if _, err := s.Settle(t.Context(), []store.Verdict{{ToolRef: c.ToolRef, Key: c.Key, Evaluation: e}}); err != nil {
			t.Error(err)
		}
	}
}

// checkRun reads history and samples once; numbers never go back.
func checkRun(t *testing.T, s *Store, newest int64) int64 {
	calls, err := s.History(t.Context(), tref, 0)
	if err != nil || len(calls) == 0 {
		t.Errorf("got %d calls, %v", len(calls), err)
		return newest
	}
	for i := range calls {
		if calls[i].Seq != calls[0].Seq+int64(i) {
			t.Errorf("number %d follows %d", calls[i].Seq, calls[max(0, i-1)].Seq)
		}
		if e := calls[i].Evaluation; e.State == memoryd.Judged && e.Summary != "" && e.Summary != fmt.Sprint(calls[i].Seq) {
			t.Errorf("call %d carries the verdict of call %s", calls[i].Seq, e.Summary)
		}
	}
	samples, err := s.samples(t.Context(), tref)
	if err != nil || len(samples) == 0 {
		t.Errorf("got %d samples, %v", len(samples), err)
		return newest
	}
	for i := range samples {
		if samples[i].Seq != samples[0].Seq+int64(i) {
			t.Errorf("sample %d has number %d", i, samples[i].Seq)
		}
	}
	if last := calls[len(calls)-1].Seq; last < newest || samples[len(samples)-1].Seq < last {
		t.Errorf("a reader went back from %d to %d, samples to %d", newest, last, samples[len(samples)-1].Seq)
	}
	return calls[len(calls)-1].Seq
}
