package evaluate

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
)

func TestStopPutsWorkBackAndReleasesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(ctx context.Context, _ int, _ memoryd.Prompt) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}}
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.Workers = 2 })
		d.Start(t.Context())
		calls := []memoryd.Call{someCall(1, "a"), someCall(2, "b"), someCall(3, "c"), someCall(4, "d")}
		released := make(chan struct{})
		go func() {
			record(t.Context(), d, s, calls...)
			close(released)
		}()
		time.Sleep(time.Second)
		d.Stop()
		d.Stop()
		<-released
		for _, c := range calls {
			e := s.call(c.Key).Evaluation
			if e.State != memoryd.Pending || e.Attempts != 0 || e.NotBefore.After(time.Now()) || c.Evaluation.State != memoryd.Pending {
				t.Errorf("the store has %+v, the caller %+v", e, c.Evaluation)
			}
		}
		d.Start(t.Context()) // an evaluator starts once
		late := record(t.Context(), d, s, someCall(9, "x"))[0]
		if late.Evaluation.State != memoryd.Pending {
			t.Errorf("after Stop: got %+v", late.Evaluation)
		}
	})
}

func TestStartAndStopUnderLoad(t *testing.T) {
	for range 50 {
		s := newFakeStore()
		d := testEvaluator(t, s, always(reply(1), nil), unsure, func(c *Config) { c.Workers = 4 })
		var all sync.WaitGroup
		all.Go(func() { d.Start(t.Context()) })
		for i := range 4 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				record(ctx, d, s, someCall(2*i, "a"), someCall(2*i+1, "b"))
			})
		}
		all.Go(d.Stop)
		all.Go(d.Stop)
		all.Wait()
		for i := range 8 {
			if e := s.call(someCall(i, "").Key).Evaluation; e.State != memoryd.Judged && e.Attempts != 0 {
				t.Fatalf("call %d: got %+v", i, e)
			}
		}
	}
}

func TestStopBeforeStart(t *testing.T) {
	d := testEvaluator(t, newFakeStore(), always(reply(1), nil), unsure, nil)
	d.Stop()
	d.Start(t.Context())
	d.Stop()
}

func TestAnEndedContextOfStartEndsTheEvaluator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := testEvaluator(t, newFakeStore(), always(reply(1), nil), unsure, nil)
		ctx, cancel := context.WithCancel(t.Context())
		d.Start(ctx)
		cancel()
		synctest.Wait()
		d.Stop()
	})
}
