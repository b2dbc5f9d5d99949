package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/store"
	"memoryd/store/mem"
)

var plannedTool = memoryd.ToolRef{Workspace: "w", Tool: "t"}

// more appends judged calls from..to.
func more(t *testing.T, s store.Store, from, to int) {
	t.Helper()
	moreOf(t, s, from, to, 500)
}

// moreOf is more for a history of at most kept calls.
func moreOf(t *testing.T, s store.Store, from, to, kept int) {
	t.Helper()
	b := store.Batch{Workspace: "w", Keep: kept}
	for i := from; i <= to; i++ {
		c := memoryd.Call{
			ToolRef: plannedTool, Input: json.RawMessage(fmt.Sprintf(`{"n":%d,"lang":"%s"}`, i, []string{"en", "xx"}[i%2])), Output: "o",
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: float64((i + 1) % 2), JudgedBy: "rules", Summary: "s"},
		}
		c.Key = memoryd.Identity{ToolRef: plannedTool, Input: c.Input, CreateTime: fmt.Sprint(i)}.Key()
		b.Calls = append(b.Calls, c)
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func forecast(t *testing.T, c *Cache, input string) Assessment {
	t.Helper()
	a, err := c.Assess(t.Context(), plannedTool, json.RawMessage(input), Caller{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func cacheOver(s Store) *Cache {
	return NewCache(s, configtest.Section[Config]("op.preflight_tool_call_op.params"), slog.New(slog.DiscardHandler), time.Now)
}

// TestWhatWasForgottenIsForecastNoMore takes a tool's calls away and writes others: the
// next forecast rests on those alone, also where a model of before was being learned.
func TestWhatWasForgottenIsForecastNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		f := cacheOver(s)
		defer f.Stop()
		more(t, s, 1, 60)
		if bad := forecast(t, f, `{"n":1,"lang":"xx"}`); bad.Judged != 60 || *bad.Risk < 0.6 {
			t.Fatalf("before: risk %v of %d calls", *bad.Risk, bad.Judged)
		}
		var keys []memoryd.CallKey
		calls, err := s.History(t.Context(), plannedTool, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			if calls[i].Evaluation.Score == 0 {
				keys = append(keys, calls[i].Key)
			}
		}
		lost := f.lost
		if _, err := s.DeleteCalls(t.Context(), plannedTool, keys); err != nil {
			t.Fatal(err)
		}
		f.Forget(plannedTool)
		f.keep(entry{ref: plannedTool, model: Learn(evidence.Merge(nil, calls), Options{})}, lost) // was being learned
		if after := forecast(t, f, `{"n":1,"lang":"xx"}`); after.Judged != 30 {
			t.Errorf("a forecast rests on %d calls, want the 30 that are left", after.Judged)
		}
	})
}

func TestAForecastFollowsTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		f := cacheOver(s)
		defer f.Stop()
		if got := forecast(t, f, `{"lang":"xx"}`); got.Risk != nil {
			t.Errorf("a risk out of nothing: %v", *got.Risk)
		}
		more(t, s, 1, 60)
		good, bad := forecast(t, f, `{"n":1,"lang":"en"}`), forecast(t, f, `{"n":1,"lang":"xx"}`)
		if *good.Risk > 0.4 || *bad.Risk < 0.6 {
			t.Errorf("risks %v and %v", *good.Risk, *bad.Risk)
		}
		if len(bad.SimilarBad) == 0 || bad.SimilarBad[0].Summary != "s" || bad.SimilarBad[0].Input == "" {
			t.Errorf("no similar call: %+v", bad.SimilarBad)
		}
		more(t, s, 61, 63)
		judged := func(want int) {
			t.Helper()
			if got := forecast(t, f, `{}`).Judged; got != want {
				t.Errorf("learned from %d calls, want %d", got, want)
			}
		}
		judged(60) // too little is new
		time.Sleep(time.Minute)
		judged(60) // time to learn anew, in the background
		synctest.Wait()
		judged(63)
		more(t, s, 64, 90)
		judged(63) // much is new: at once
		synctest.Wait()
		judged(90)
		if err := s.DeleteTool(t.Context(), plannedTool); err != nil {
			t.Fatal(err)
		}
		more(t, s, 1, 2)
		judged(2)
	})
}

// While a tool has few calls, each forecast knows all of them: a failure counts at once.
func TestAForecastOfAToolWithFewCallsKnowsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		f := cacheOver(s)
		defer f.Stop()
		for n := 1; n < 20; n += 3 {
			more(t, s, n, n+2)
			if got := forecast(t, f, `{}`).Judged; got != n+2 {
				t.Errorf("learned from %d calls, want %d", got, n+2)
			}
		}
	})
}

func TestOnlySoManyModelsAreKept(t *testing.T) {
	c := cacheOver(mem.New())
	for i := range 3 {
		c.keep(entry{ref: memoryd.ToolRef{Tool: fmt.Sprint(i)}, model: &Model{calls: make([]learned, heldCalls/2)}}, 0)
	}
	if c.tools.Len() != 2 || c.held != heldCalls || c.tools.Contains(memoryd.ToolRef{Tool: "0"}) {
		t.Errorf("%d models of %d calls are held", c.tools.Len(), c.held)
	}
}

// TestAFailureOnOneReplicaIsKnownOnTheOther records through one replica and asks the
// other at once.
func TestAFailureOnOneReplicaIsKnownOnTheOther(t *testing.T) {
	s := mem.New()
	a, b := cacheOver(s), cacheOver(s)
	defer a.Stop()
	defer b.Stop()
	more(t, s, 1, 60)
	const input = `{"n":1,"lang":"en"}`
	ask := func(c *Cache, run string) Assessment {
		t.Helper()
		got, err := c.Assess(t.Context(), plannedTool, json.RawMessage(input), Caller{Run: run})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	before := ask(b, "r")
	failed := memoryd.Call{
		ToolRef: plannedTool, Input: json.RawMessage(input), Output: "Error: no", Success: true, Metadata: json.RawMessage(`{"trajectory_id":"r"}`),
		Evaluation: memoryd.Evaluation{State: memoryd.Judged, JudgedBy: "rules"},
	}
	failed.Key = memoryd.Identity{ToolRef: plannedTool, Input: failed.Input, Output: failed.Output, CreateTime: "x"}.Key()
	if _, err := s.Append(t.Context(), store.Batch{Workspace: "w", Keep: 500, Calls: []memoryd.Call{failed}}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*Cache{"the one that knew": b, "one that never heard of the tool": a} {
		after := ask(c, "r")
		if *after.Risk < 0.9 || len(after.Warnings) == 0 || after.Warnings[0].Severity != Note {
			t.Errorf("%s: risk %.3f, before %.3f, warnings %+v", name, *after.Risk, *before.Risk, after.Warnings)
		}
		bySession, err := c.Assess(t.Context(), plannedTool, json.RawMessage(input), Caller{Run: "no call names it", Session: "r"})
		if err != nil || *bySession.Risk != *after.Risk {
			t.Errorf("%s: risk %v where the session names the run (%v)", name, bySession.Risk, err)
		}
		if other := ask(c, "another"); len(other.Warnings) > 0 && other.Warnings[0].Rule == RepeatsFailure.name() {
			t.Errorf("%s: another run is told of this one: %+v", name, other.Warnings)
		}
	}
}

// TestAFailureOfNoNamedRunIsKnownAtOnce has an input fail on one replica after the
// other one learned the tool; nobody names a run.
func TestAFailureOfNoNamedRunIsKnownAtOnce(t *testing.T) {
	s := mem.New()
	a, b := cacheOver(s), cacheOver(s)
	defer a.Stop()
	defer b.Stop()
	more(t, s, 1, 60)
	const input = `{"n":1001,"lang":"en"}`
	before := []Assessment{forecast(t, a, input), forecast(t, b, input)}
	batch := store.Batch{Workspace: "w", Keep: 500}
	for i := range 3 {
		c := memoryd.Call{ToolRef: plannedTool, Input: json.RawMessage(`{"lang":"en", "n":1001}`), Output: "Error: no", Success: true, Evaluation: memoryd.Evaluation{State: memoryd.Judged, JudgedBy: "rules"}}
		c.Key = memoryd.Identity{ToolRef: plannedTool, Input: c.Input, Output: c.Output, CreateTime: fmt.Sprint("x", i)}.Key()
		batch.Calls = append(batch.Calls, c)
	}
	if _, err := s.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	for i, c := range []*Cache{a, b} {
		for range 2 { // the second is answered from what the first one read
			after := forecast(t, c, input)
			if *before[i].Risk > 0.5 || *after.Risk < 0.8 || after.Judged != 60 || len(after.Warnings) == 0 || after.Warnings[0].Rule != OnlyFailed.name() {
				t.Errorf("replica %d: risk %.3f, before %.3f, of %d calls, warnings %+v", i, *after.Risk, *before[i].Risk, after.Judged, after.Warnings)
			}
		}
	}
}

// slow is a store whose whole histories are read slowly.
type slow struct{ *mem.Store }

func (s slow) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	if limit == 0 {
		time.Sleep(time.Minute)
	}
	return s.Store.History(ctx, ref, limit)
}

// TestAFirstForecastDoesNotWaitForTheWholeHistory: it learns from the newest calls,
// and later ones from all.
func TestAFirstForecastDoesNotWaitForTheWholeHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		c := cacheOver(slow{s})
		defer c.Stop()
		more(t, s, 1, 400)
		began := time.Now()
		first, second := forecast(t, c, `{"lang":"xx"}`), forecast(t, c, `{"lang":"xx"}`)
		if first.Judged != firstCalls || second.Judged != firstCalls || time.Since(began) > 0 {
			t.Errorf("learned from %d and %d calls in %v", first.Judged, second.Judged, time.Since(began))
		}
		time.Sleep(2 * time.Minute)
		if third := forecast(t, c, `{"lang":"xx"}`); third.Judged != 400 {
			t.Errorf("learned from %d calls", third.Judged)
		}
	})
}

// wide is a window that knows the calls which a history of two hundred let go.
type wide []memoryd.Call

func (w wide) Observations(context.Context, memoryd.ToolRef) ([]evidence.Observation, error) {
	reader, list := evidence.NewObserver(), []evidence.Observation{}
	for i := range w {
		ob := reader.Observe(&w[i])
		ob.Trim()
		list = append(list, ob)
	}
	return list, nil
}

func (wide) Shared(context.Context, string) (bool, error) { return false, nil }

func (wide) World(context.Context, string) (*evidence.World, error) { return evidence.NewWorld(), nil }

// TestWhatTheHistoryLetGoIsLearnedFromTheWindow: in the background, each call once.
func TestWhatTheHistoryLetGoIsLearnedFromTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, all := mem.New(), mem.New()
		more(t, all, 1, 500)
		calls, err := all.History(t.Context(), plannedTool, 0)
		if err != nil {
			t.Fatal(err)
		}
		moreOf(t, s, 1, 500, 200)
		c := cacheOver(s)
		c.Use(wide(calls))
		defer c.Stop()
		if first := forecast(t, c, `{"lang":"xx"}`); first.Judged != firstCalls {
			t.Errorf("the first forecast learned from %d calls", first.Judged)
		}
		forecast(t, c, `{"lang":"xx"}`)
		synctest.Wait()
		if later := forecast(t, c, `{"lang":"xx"}`); later.Judged != 500 {
			t.Errorf("learned from %d calls, want 500", later.Judged)
		}
	})
}

// TestAPanicWhileLearningLeavesWhatThereIs has the store panic in the background.
func TestAPanicWhileLearningLeavesWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &brittle{Store: mem.New()}
		c := cacheOver(s)
		defer c.Stop()
		more(t, s.Store, 1, 60)
		forecast(t, c, `{}`)
		s.isBroken = true
		more(t, s.Store, 61, 90)
		for range 3 {
			if got := forecast(t, c, `{}`); got.Judged != 60 {
				t.Errorf("learned from %d calls", got.Judged)
			}
			synctest.Wait()
		}
	})
}

type brittle struct {
	*mem.Store
	isBroken bool
}

func (s *brittle) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	if s.isBroken && limit == 0 {
		panic("foreign text")
	}
	return s.Store.History(ctx, ref, limit)
}
