package guidelines

import (
	"context"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/statistics"
)

// AuthorRules is the author of a guideline that no model had a part in.
const AuthorRules = "rules"

// Rules writes guidelines from the evidence alone. The same calls give the same
// bytes.
type Rules struct{ cfg Config }

// NewRules makes a Rules.
func NewRules(cfg Config) *Rules { return &Rules{cfg} }

// Write composes the guideline of tool from its kept calls, oldest first; the
// newest recent of them are the recent window. It fails only when ctx has ended.
func (x *Rules) Write(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int) (content, author string, err error) {
	if err := ctx.Err(); err != nil {
		return "", "", context.Cause(ctx)
	}
	f := x.find(tool, calls, recent)
	return f.draft().render(x.cfg.MaxWords) + statisticsSection(f.stats), AuthorRules, nil
}

// find computes everything that a guideline is worded from.
func (x *Rules) find(tool memoryd.Tool, calls []memoryd.Call, recent int) *findings {
	return &findings{
		tool: tool, recent: recent, minCalls: x.cfg.MinCalls,
		stats: statisticsOf(tool, calls, recent), evidence: evidence.Mine(calls), goodCost: goodCosts(calls),
	}
}

// statisticsOf computes what the wire shows of the same calls.
func statisticsOf(tool memoryd.Tool, calls []memoryd.Call, recent int) statistics.Statistics {
	samples := make([]memoryd.Sample, len(calls))
	for i := range calls {
		samples[i] = calls[i].Sample()
	}
	return statistics.Of(samples, recent, tool.Counters)
}

// findings is everything that the sections are worded from.
type findings struct {
	tool     memoryd.Tool
	recent   int
	minCalls int
	stats    statistics.Statistics
	evidence evidence.Evidence
	goodCost map[evidence.Resource]typical
}

// typical is a median over the calls that know it.
type typical struct {
	median float64
	calls  int
}

// goodCosts is what the calls that scored 1 cost.
func goodCosts(calls []memoryd.Call) map[evidence.Resource]typical {
	var times, tokens []float64
	for i := range calls {
		c := &calls[i]
		if c.Evaluation.State != memoryd.Judged || c.Evaluation.Score < memoryd.ScoreSuccess {
			continue
		}
		if statistics.KnownTime(c.TimeCost) {
			times = append(times, c.TimeCost)
		}
		if statistics.KnownTokens(c.TokenCost) {
			tokens = append(tokens, float64(c.TokenCost))
		}
	}
	return map[evidence.Resource]typical{
		evidence.Time:   {statistics.Median(times), len(times)},
		evidence.Tokens: {statistics.Median(tokens), len(tokens)},
	}
}

// draft words all sections.
func (f *findings) draft() draft {
	d := draft{}
	f.core(d)
	f.successes(d)
	f.issues(d)
	f.practices(d)
	return d
}

// enough reports whether there are enough judged calls to look for patterns.
func (f *findings) enough() bool { return f.evidence.Judged >= f.minCalls }
