package evaluate

import (
	"context"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/internal/recordtest"
)

// The cost per call that the saving is measured against: one request for each
// call with a prompt of 576 tokens, the whole call and an answer of 110.
const (
	plainPrompt = 576
	plainAnswer = 110
)

// tokens is a rough count: four bytes each.
func tokens(n int) int { return (n + 3) / 4 }

// The measurement of what rules, cache, batches and cuts save on recorded calls.
// It needs recordings: see package recordtest.
func TestMeasureFrugality(t *testing.T) {
	var calls []memoryd.Call
	for _, file := range recordtest.Files(t) {
		for _, c := range recordtest.Read(t, file) {
			calls = append(calls, c.Call)
		}
	}
	plain := 0
	for _, c := range calls {
		plain += plainPrompt + tokens(len(c.Input)+len(c.Output)) + plainAnswer
	}
	for _, setup := range []struct {
		name, judge string
		most        float64 // share of the plain cost that must not be passed
	}{{"llm, cache only", JudgeLLM, 0.75}, {"cascade", JudgeCascade, 0.35}} {
		t.Run(setup.name, func(t *testing.T) {
			s, m := newFakeStore(), &scripted{}
			m.answer = func(context.Context, int, memoryd.Prompt) (string, error) { return reply(1), nil }
			d := testEvaluator(t, s, m, rules.New(), func(c *Config) {
				c.Judge, c.Workers, c.QueueSize = setup.judge, 1, 100_000
			})
			all := append([]memoryd.Call(nil), calls...)
			for i := 0; i < len(all); i += 20 {
				part := all[i:min(i+20, len(all))]
				d.Prejudge(t.Context(), part)
				s.put(part...)
				if i == 0 {
					d.Start(t.Context())
				}
				d.Await(t.Context(), part)
			}
			d.Stop()
			spent := 0
			for _, p := range m.prompts {
				spent += tokens(len(p.System)+len(p.User)) + 45
			}
			st := d.Stats()
			ruled := int64(0)
			for _, n := range st.RuleVerdicts {
				ruled += n
			}
			share := float64(spent) / float64(plain)
			t.Logf("%d calls: %d by rules, %d from the cache, %d by the model in %d requests; %d tokens, %.3f of %d",
				len(all), ruled, st.CacheHits, st.ModelVerdicts, st.Requests, spent, share, plain)
			if share > setup.most {
				t.Errorf("%.3f of the plain cost, want at most %.2f", share, setup.most)
			}
		})
	}
}
