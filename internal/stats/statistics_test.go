package stats_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"memoryd"
	"memoryd/internal/stats"
)

func sample(success bool, state memoryd.EvaluationState, score, seconds float64, tokens int64) memoryd.Sample {
	return memoryd.Sample{Success: success, State: state, Score: score, TimeCost: seconds, TokenCost: tokens}
}

func TestOfCountsOnlyWhatIsKnown(t *testing.T) {
	samples := []memoryd.Sample{
		sample(false, memoryd.Judged, 0, 4, 100),
		sample(true, memoryd.Judged, 1, 0, -1),
		sample(true, memoryd.Pending, 0, 2, 0),
		sample(true, memoryd.Failed, 0, 0, 50),
		sample(true, memoryd.Judged, 0.5, 3, -1),
	}
	got := stats.Of(samples, 3, memoryd.Counters{Lifetime: 9, Duplicates: 2, Pending: 1})
	type figures struct {
		total, recent, judged, recentJudged, timed, tokens int
		success, recentSuccess, score, recentScore         float64
		time, token                                        float64
		lifetime, duplicate, pending                       int64
	}
	have := figures{
		got.TotalCalls, got.RecentCalls, got.JudgedCalls, got.RecentJudgedCalls, got.TimedCalls, got.TokenCalls,
		got.SuccessRate, got.RecentSuccessRate, got.AvgScore, got.RecentAvgScore, got.AvgTimeCost, got.AvgTokenCost,
		got.LifetimeCalls, got.DuplicateCalls, got.PendingCalls,
	}
	want := figures{5, 3, 3, 1, 3, 3, 0.8, 1, 0.5, 0.5, 3, 50, 9, 2, 1}
	if have != want {
		t.Errorf("got  %+v\nwant %+v", have, want)
	}
	if got.SuccessRateCI95 == nil || got.AvgTimeCostCI95 == nil || got.AvgTimeCostCI95[0] < 0 {
		t.Errorf("intervals: %v %v", got.SuccessRateCI95, got.AvgTimeCostCI95)
	}
}

func TestNothingKnownHasNoInterval(t *testing.T) {
	got := stats.Of(nil, 20, memoryd.Counters{})
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "ci95") {
		t.Errorf("an interval over no calls: %s", raw)
	}
	if got.SuccessRate != 0 || got.AvgScore != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestTheWireNames(t *testing.T) {
	s := []memoryd.Sample{sample(true, memoryd.Judged, 1, 1, 1), sample(true, memoryd.Judged, 1, 2, 2)}
	raw, err := json.Marshal(stats.Of(s, 1, memoryd.Counters{}))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(`total_calls recent_calls success_rate recent_success_rate avg_score recent_avg_score
		avg_time_cost avg_token_cost lifetime_calls duplicate_calls pending_calls success_rate_ci95 recent_success_rate_ci95
		avg_score_ci95 recent_avg_score_ci95 avg_time_cost_ci95 avg_token_cost_ci95 judged_calls timed_calls token_calls`) {
		if _, ok := m[name]; !ok {
			t.Errorf("%s is missing in %s", name, raw)
		}
	}
}

func TestRecentLargerThanTheHistoryIsTheHistory(t *testing.T) {
	s := []memoryd.Sample{sample(true, memoryd.Judged, 1, 0, -1)}
	for _, recent := range []int{-1, 0, 1, 7} {
		if got := stats.Of(s, recent, memoryd.Counters{}).RecentCalls; got != min(1, max(0, recent)) {
			t.Errorf("recent %d: window of %d", recent, got)
		}
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
