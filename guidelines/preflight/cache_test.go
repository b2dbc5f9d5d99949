package preflight

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
)

var plannedTool = memoryd.ToolRef{Workspace: "w", Tool: "t"}

// more appends judged calls from..to.
func more(t *testing.T, s store.Store, from, to int) {
	t.Helper()
	b := store.Batch{Workspace: "w", Keep: 500}
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
	a, err := c.Assess(t.Context(), plannedTool, json.RawMessage(input), "")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func cacheOver(s Store, priors Priors) *Cache {
	return NewCache(s, priors, DefaultConfig(), slog.New(slog.DiscardHandler), time.Now)
}

func TestAForecastFollowsTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		f := cacheOver(s, nil)
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

// samePrior gives all tools the same.
type samePrior struct{ prior Prior }

func (p samePrior) PriorFor(memoryd.ToolRef, []memoryd.Call) *Prior { return &p.prior }

func TestAToolWithFewCallsHasAPrior(t *testing.T) {
	s := mem.New()
	f := cacheOver(s, samePrior{Prior{Risk: 0.9, Weight: 10}})
	defer f.Stop()
	more(t, s, 2, 2)
	if a := forecast(t, f, `{"n":1}`); a.Risk == nil || *a.Risk < 0.5 || !a.Borrowed {
		t.Errorf("got %+v", a)
	}
}

func TestOnlySoManyModelsAreKept(t *testing.T) {
	c := cacheOver(mem.New(), nil)
	for i := range 3 {
		c.keep(entry{ref: memoryd.ToolRef{Tool: fmt.Sprint(i)}, model: &Model{calls: make([]learned, heldCalls/2)}})
	}
	if len(c.tools) != 2 || c.held != heldCalls || c.tools[memoryd.ToolRef{Tool: "0"}] != nil {
		t.Errorf("%d models of %d calls are held", len(c.tools), c.held)
	}
}
