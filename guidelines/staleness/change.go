package staleness

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"memoryd"
	"memoryd/internal/stats"
)

// A test is made after every so many new calls, over all of them and over the
// newest recent. least is how many calls both sides need, errorKinds how many
// kinds of error, the most frequent ones, are looked at.
const (
	every      = 5
	recent     = 20
	least      = 5
	errorKinds = 3
	families   = 4 // success, score, latency, errors
)

// changes tests the calls since against those before at the newest checkpoint.
func changes(cfg Config, before, since []Observation) []Reason {
	since = since[:min(len(since), cfg.After)/every*every]
	if len(before) < least || len(since) < least {
		return nil
	}
	level := cfg.FalseAlarms / (families * (4 + math.Log2(float64(cfg.After)/every)))
	found := map[Kind]Reason{}
	for _, window := range [][]Observation{since, since[max(0, len(since)-recent):]} {
		for _, r := range compare(before, window) {
			if old, known := found[r.Kind]; r.P <= level && (!known || r.P < old.P) {
				found[r.Kind] = r
			}
		}
	}
	var reasons []Reason
	for _, k := range []Kind{Success, Score, Latency, Errors} {
		if r, ok := found[k]; ok {
			reasons = append(reasons, r)
		}
	}
	return reasons
}

// compare makes the tests of one window.
func compare(before, now []Observation) []Reason {
	reasons := []Reason{
		rate(Success, "reported successful", before, now, all, func(o Observation) bool { return o.Sample.Success }),
		rate(Score, "scored 0", before, now, judged, func(o Observation) bool { return o.Sample.Score <= memoryd.ScoreFailure }),
		rate(Score, "scored 1", before, now, judged, func(o Observation) bool { return o.Sample.Score >= memoryd.ScoreSuccess }),
		latency(before, now),
	}
	for _, kind := range frequent(before, now) {
		r := rate(Errors, "had the error "+kind, before, now, all, func(o Observation) bool { return o.Error == kind })
		r.P = min(1, r.P*errorKinds)
		reasons = append(reasons, r)
	}
	return reasons
}

func all(Observation) bool      { return true }
func judged(o Observation) bool { return o.Sample.State == memoryd.Judged }

// rate tests a share with Fisher's exact test.
func rate(kind Kind, what string, before, now []Observation, counts, is func(Observation) bool) Reason {
	var t stats.Table
	t.With, t.WithBad = tally(now, counts, is)
	t.Without, t.WithoutBad = tally(before, counts, is)
	if t.With < least || t.Without < least {
		return Reason{Kind: kind, P: 1}
	}
	return Reason{
		Kind: kind, P: stats.FisherExact(t),
		Text: fmt.Sprintf("%d of %d calls %s, before %d of %d", t.WithBad, t.With, what, t.WithoutBad, t.Without),
	}
}

func tally(os []Observation, counts, is func(Observation) bool) (n, k int) {
	for _, o := range os {
		if counts(o) {
			n++
			if is(o) {
				k++
			}
		}
	}
	return n, k
}

// latency tests the times of calls that went well with the rank-sum test.
func latency(before, now []Observation) Reason {
	old, young := times(before), times(now)
	if len(old) < least || len(young) < least {
		return Reason{Kind: Latency, P: 1}
	}
	ranks := stats.RanksOf(append(slices.Clone(young), old...))
	var sum float64
	for _, r := range ranks.Rank[:len(young)] {
		sum += r
	}
	return Reason{
		Kind: Latency, P: ranks.P(len(young), sum),
		Text: fmt.Sprintf("median time %.3g s, before %.3g s", stats.Median(young), stats.Median(old)),
	}
}

func times(os []Observation) []float64 {
	var ts []float64
	for _, o := range os {
		if o.Sample.Success && stats.KnownTime(o.Sample.TimeCost) && (!judged(o) || o.Sample.Score > memoryd.ScoreFailure) {
			ts = append(ts, o.Sample.TimeCost)
		}
	}
	return ts
}

// frequent lists the kinds of error that occur most in both together.
func frequent(before, now []Observation) []string {
	count := map[string]int{}
	for _, os := range [][]Observation{before, now} {
		for _, o := range os {
			if o.Error != "" {
				count[o.Error]++
			}
		}
	}
	var kinds []string
	for k := range count {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	return kinds[:min(len(kinds), errorKinds)]
}
