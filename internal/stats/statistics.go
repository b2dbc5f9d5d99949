// Package stats computes the figures that answers and guidelines show from samples of a
// tool's calls, each with the number of calls behind it and a 95 % interval. It also has the
// few statistical tests for evidence. All functions are pure.
package stats

import (
	"memoryd"
)

// Statistics describes the stored history of one tool. A rate or a mean over no calls is 0
// without an interval; the count shows that.
type Statistics struct {
	// TotalCalls counts the stored calls.
	TotalCalls int `json:"total_calls"`
	// RecentCalls counts those in the recent window.
	RecentCalls int `json:"recent_calls"`

	// SuccessRate is the share of calls that callers reported as successful.
	SuccessRate           float64   `json:"success_rate"`
	SuccessRateCI95       *Interval `json:"success_rate_ci95,omitempty"`
	RecentSuccessRate     float64   `json:"recent_success_rate"`
	RecentSuccessRateCI95 *Interval `json:"recent_success_rate_ci95,omitempty"`

	// AvgScore is the mean score of judged calls.
	AvgScore           float64   `json:"avg_score"`
	AvgScoreCI95       *Interval `json:"avg_score_ci95,omitempty"`
	JudgedCalls        int       `json:"judged_calls"`
	RecentAvgScore     float64   `json:"recent_avg_score"`
	RecentAvgScoreCI95 *Interval `json:"recent_avg_score_ci95,omitempty"`
	RecentJudgedCalls  int       `json:"recent_judged_calls"`

	// AvgTimeCost is the mean in seconds over the calls with a known time. A time_cost of 0, the
	// default of the wire format, means unknown.
	AvgTimeCost     float64   `json:"avg_time_cost"`
	AvgTimeCostCI95 *Interval `json:"avg_time_cost_ci95,omitempty"`
	TimedCalls      int       `json:"timed_calls"`

	// AvgTokenCost is the mean over the calls with a known token_cost: 0 or more. In the wire format,
	// -1 means unknown.
	AvgTokenCost     float64   `json:"avg_token_cost"`
	AvgTokenCostCI95 *Interval `json:"avg_token_cost_ci95,omitempty"`
	TokenCalls       int       `json:"token_calls"`

	// LifetimeCalls counts all calls ever accepted.
	LifetimeCalls int64 `json:"lifetime_calls"`
	// DuplicateCalls counts the exact repeats among them.
	DuplicateCalls int64 `json:"duplicate_calls"`
	// PendingCalls counts the stored calls without a verdict.
	PendingCalls int64 `json:"pending_calls"`
}

// Of computes the statistics of samples, which must be sorted oldest first. The newest recent
// samples are the recent window. c provides the lifetime figures.
func Of(samples []memoryd.Sample, recent int, c memoryd.Counters) Statistics {
	all := sumsOf(samples)
	window := sumsOf(samples[max(0, len(samples)-max(0, recent)):])
	return Statistics{
		TotalCalls:  all.calls,
		RecentCalls: window.calls,

		SuccessRate:           Share(all.successes, all.calls),
		SuccessRateCI95:       Wilson(all.successes, all.calls),
		RecentSuccessRate:     Share(window.successes, window.calls),
		RecentSuccessRateCI95: Wilson(window.successes, window.calls),

		AvgScore:           meanOf(all.scores),
		AvgScoreCI95:       boundedMeanInterval(all.scores),
		JudgedCalls:        len(all.scores),
		RecentAvgScore:     meanOf(window.scores),
		RecentAvgScoreCI95: boundedMeanInterval(window.scores),
		RecentJudgedCalls:  len(window.scores),

		AvgTimeCost:     meanOf(all.times),
		AvgTimeCostCI95: notNegative(meanInterval(all.times)),
		TimedCalls:      len(all.times),

		AvgTokenCost:     meanOf(all.tokens),
		AvgTokenCostCI95: notNegative(meanInterval(all.tokens)),
		TokenCalls:       len(all.tokens),

		LifetimeCalls:  c.Lifetime,
		DuplicateCalls: c.Duplicates,
		PendingCalls:   c.Pending,
	}
}

// sums are the raw figures of some samples; a value that a call does not know
// is not in its list.
type sums struct {
	calls, successes      int
	scores, times, tokens []float64
}

func sumsOf(samples []memoryd.Sample) sums {
	n := len(samples)
	room := make([]float64, 3*n)
	s := sums{calls: n, scores: room[:0:n], times: room[n : n : 2*n], tokens: room[2*n : 2*n]}
	for _, c := range samples {
		if c.Success {
			s.successes++
		}
		if c.State == memoryd.Judged {
			s.scores = append(s.scores, c.Score)
		}
		if KnownTime(c.TimeCost) {
			s.times = append(s.times, c.TimeCost)
		}
		if KnownTokens(c.TokenCost) {
			s.tokens = append(s.tokens, float64(c.TokenCost))
		}
	}
	return s
}

// KnownTime reports whether a time_cost in seconds was measured. 0 means that it was not;
// impossible values, stored before there was a limit, count as not measured.
func KnownTime(seconds float64) bool { return seconds > 0 && seconds <= memoryd.MaxCost }

// KnownTokens reports whether a token_cost was measured: -1 means that it was
// not.
func KnownTokens(tokens int64) bool { return tokens >= 0 && tokens <= memoryd.MaxCost }

// Share is k of n; 0 where there are none.
func Share(k, n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(k) / float64(n)
}

// notNegative cuts an interval of a quantity that cannot be below 0.
func notNegative(i *Interval) *Interval {
	if i != nil {
		i[0] = max(0, i[0])
	}
	return i
}
