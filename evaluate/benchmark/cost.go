package benchmark

import (
	"time"

	"memoryd"
	"memoryd/evaluate"
)

// spending is what judging cost.
type spending struct {
	requests, prompt, completion int64
	cacheHits, modelVerdicts     int64
	rules, failures              map[string]int64
	plain                        int64
	took                         time.Duration
}

// plainPrompt is the prompt, in tokens, of the plain judge that a saving is
// measured against: one request for each call, with the whole output.
const plainPrompt = 576

// plainTokens is what the plain judge would pay for a call, at four bytes a
// token, its answer not counted.
func plainTokens(c *memoryd.Call) int64 { return plainPrompt + int64(len(c.Output)+3)/4 }

// spent takes in what was counted between two moments.
func (s *spending) spent(before, after evaluate.Stats) {
	s.requests += after.Requests - before.Requests
	s.prompt += after.PromptTokens - before.PromptTokens
	s.completion += after.CompletionTokens - before.CompletionTokens
	s.cacheHits += after.CacheHits - before.CacheHits
	s.modelVerdicts += after.ModelVerdicts - before.ModelVerdicts
	s.rules = sum(s.rules, difference(after.RuleVerdicts, before.RuleVerdicts))
	s.failures = sum(s.failures, difference(after.Failures, before.Failures))
}

func (s *spending) add(o *spending) {
	s.requests += o.requests
	s.prompt += o.prompt
	s.completion += o.completion
	s.cacheHits += o.cacheHits
	s.modelVerdicts += o.modelVerdicts
	s.rules = sum(s.rules, o.rules)
	s.failures = sum(s.failures, o.failures)
	s.plain += o.plain
	s.took += o.took
}

func sum(a, b map[string]int64) map[string]int64 {
	total := map[string]int64{}
	for _, m := range []map[string]int64{a, b} {
		for name, n := range m {
			total[name] += n
		}
	}
	return total
}

func difference(after, before map[string]int64) map[string]int64 {
	d := map[string]int64{}
	for name, n := range after {
		if n != before[name] {
			d[name] = n - before[name]
		}
	}
	return d
}

// figures gives the cost of judging the calls.
func (s *spending) figures(calls int) Cost {
	c := Cost{
		Calls: calls, Requests: s.requests, PromptTokens: s.prompt, CompletionTokens: s.completion,
		CacheHits: s.cacheHits, ModelVerdicts: s.modelVerdicts, Rules: s.rules, Failures: s.failures,
	}
	for _, n := range s.rules {
		c.RuleHits += n
	}
	if calls > 0 {
		c.TokensPerCall = float64(s.prompt+s.completion) / float64(calls)
		c.PlainTokensPerCall = float64(s.plain) / float64(calls)
		c.ShareOfPlain = c.TokensPerCall / c.PlainTokensPerCall
		c.SecondsPerCall = s.took.Seconds() / float64(calls)
	}
	return c
}
