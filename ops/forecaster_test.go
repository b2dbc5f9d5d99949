package ops

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/store"
	"memoryd/store/mem"
)

var planned = memoryd.ToolRef{Workspace: "w", Tool: "t"}

// more appends judged calls from..to.
func more(t *testing.T, s store.Store, from, to int) {
	t.Helper()
	b := store.Batch{Workspace: "w", Keep: 500}
	for i := from; i <= to; i++ {
		c := memoryd.Call{
			ToolRef: planned, Input: json.RawMessage(fmt.Sprintf(`{"n":%d,"lang":"%s"}`, i, []string{"en", "xx"}[i%2])), Output: "o",
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: float64((i + 1) % 2), JudgedBy: "rules", Summary: "s"},
		}
		c.Key = memoryd.Identity{ToolRef: planned, Input: c.Input, CreateTime: fmt.Sprint(i)}.Key()
		b.Calls = append(b.Calls, c)
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func forecast(t *testing.T, f *Forecaster, input string) *Forecast {
	t.Helper()
	got, err := Deps{Forecaster: f}.preflight(t.Context(), PreflightRequest{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Input: json.RawMessage(input),
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAForecastFollowsTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		f := NewForecaster(s, nil, slog.New(slog.DiscardHandler), time.Now)
		defer f.Stop()
		if got := forecast(t, f, `{"lang":"xx"}`); got.Assessment.Risk != nil {
			t.Errorf("a risk out of nothing: %v", *got.Assessment.Risk)
		}
		more(t, s, 1, 60)
		good, bad := forecast(t, f, `{"n":1,"lang":"en"}`), forecast(t, f, `{"n":1,"lang":"xx"}`)
		if *good.Assessment.Risk > 0.4 || *bad.Assessment.Risk < 0.6 {
			t.Errorf("risks %v and %v", *good.Assessment.Risk, *bad.Assessment.Risk)
		}
		if len(bad.Bad) == 0 || bad.Bad[0].Summary != "s" || bad.Bad[0].Input == "" {
			t.Errorf("no similar call: %+v", bad.Bad)
		}
		more(t, s, 61, 63)
		judged := func(want int) {
			t.Helper()
			if got := forecast(t, f, `{}`).Assessment.Judged; got != want {
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
		if err := s.DeleteTool(t.Context(), planned); err != nil {
			t.Fatal(err)
		}
		more(t, s, 1, 2)
		judged(2)
	})
}

// samePrior gives all tools the same.
type samePrior struct{ prior preflight.Prior }

func (p samePrior) PriorFor(memoryd.ToolRef, []memoryd.Call) *preflight.Prior { return &p.prior }

func TestAToolWithFewCallsHasAPrior(t *testing.T) {
	s := mem.New()
	f := NewForecaster(s, samePrior{preflight.Prior{Risk: 0.9, Weight: 10}}, slog.New(slog.DiscardHandler), time.Now)
	defer f.Stop()
	more(t, s, 2, 2)
	if a := forecast(t, f, `{"n":1}`).Assessment; a.Risk == nil || *a.Risk < 0.5 || !a.Borrowed {
		t.Errorf("got %+v", a)
	}
}

func TestOnlySoManyLessonsAreKept(t *testing.T) {
	f := NewForecaster(mem.New(), nil, slog.New(slog.DiscardHandler), time.Now)
	for i := range 3 {
		f.keep(kept{ref: memoryd.ToolRef{Tool: fmt.Sprint(i)}, lesson: &lesson{calls: heldCalls / 2}})
	}
	if len(f.tools) != 2 || f.held != heldCalls || f.tools[memoryd.ToolRef{Tool: "0"}] != nil {
		t.Errorf("%d lessons of %d calls are held", len(f.tools), f.held)
	}
}
