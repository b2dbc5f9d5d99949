package survey

import (
	"log/slog"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
)

func TestASurveyCountsWhatWentWrongAndSeesChanges(t *testing.T) {
	s := mem.New()
	view := New(s, slog.New(slog.DiscardHandler), time.Now)
	t.Cleanup(view.Stop)
	ref := memoryd.ToolRef{Workspace: "w", Tool: "book"}
	add := func(n byte, score float64, summary string) {
		t.Helper()
		c := memoryd.Call{
			Key: memoryd.CallKey{n}, ToolRef: ref, Input: []byte(`{}`), Success: true, TimeCost: 2, TokenCost: 5, Time: time.Unix(int64(n), 0),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: score, Summary: summary, JudgedBy: "rules", Rule: "r"},
		}
		if _, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: []memoryd.Call{c}, Keep: 10}); err != nil {
			t.Fatal(err)
		}
	}
	add(1, 1, "Succeeded")
	add(2, 0, "Failed: amount 12 of 'a'")
	add(3, 0, "Failed: amount 99 of 'b'")
	until := func(failed int) *Snapshot {
		t.Helper()
		for range 200 {
			view.Changed(ref)
			if got := view.Of(t.Context(), "w"); !got.Reading && got.Overview("").Failed == failed {
				return got
			}
		}
		t.Fatalf("the survey never counted %d failures", failed)
		return nil
	}
	got := until(2)
	o := got.Overview("calls")
	if o.Tools != 1 || o.Good != 1 || o.SecondsBad != 4 || o.TokensBad != 10 || len(o.Causes) != 1 || o.Causes[0].Calls != 2 || o.Causes[0].Text != "Failed: amount … of …" {
		t.Errorf("the overview is %+v", o)
	}
	page, total := got.Find(Filter{Verdict: "failed"}, Place{}, 1)
	if total != 2 || len(page) != 1 || page[0].Key != (memoryd.CallKey{3}) {
		t.Errorf("the newest of %d failed calls are %+v", total, page)
	}
	if page, _ = got.Find(Filter{Verdict: "failed"}, Place{page[0].Time, page[0].Key}, 5); len(page) != 1 || page[0].Key != (memoryd.CallKey{2}) {
		t.Errorf("the page after holds %+v", page)
	}
	add(4, 0, "Failed: amount 7 of 'c'")
	until(3)
}

func TestAnOverviewThatIsNotReadYetComparesNothing(t *testing.T) {
	view := New(mem.New(), slog.New(slog.DiscardHandler), time.Now)
	view.Stop() // so that nothing is read
	got := view.Of(t.Context(), "w")
	if o := got.Overview("calls"); !got.Reading || o.Effect.Basis != "not_enough" {
		t.Errorf("partial %v, an effect on the basis %q", got.Reading, o.Effect.Basis)
	}
}
