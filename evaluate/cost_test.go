package evaluate

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
)

func TestNonsenseOfAServerCostsNothing(t *testing.T) {
	for tokens, want := range map[int]int64{-3: 0, 0: 0, 5: 5, 2 * maxTokens: maxTokens} {
		if c := costOf(memoryd.Usage{PromptTokens: tokens, CompletionTokens: tokens}); c != (memoryd.Cost{Requests: 1, PromptTokens: want, CompletionTokens: want}) {
			t.Errorf("%d tokens: got %+v", tokens, c)
		}
	}
}

// costs adds up what the stored calls cost.
func (s *fakeStore) costs() (sum memoryd.Cost) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		sum = sum.Add(c.Evaluation.Cost)
	}
	return sum
}

// wantAllCosts checks that the calls' costs add up to all that was asked for.
func wantAllCosts(t *testing.T, s *fakeStore, d *Evaluator) {
	t.Helper()
	sum, st := s.costs(), d.Stats()
	if math.Abs(sum.Requests-float64(st.Requests)) > 1e-9 || sum.PromptTokens != st.PromptTokens || sum.CompletionTokens != st.CompletionTokens {
		t.Errorf("the calls cost %+v together, the model was asked %d times for %d and %d tokens", sum, st.Requests, st.PromptTokens, st.CompletionTokens)
	}
}

func TestACallCostsWhatTheTryThatJudgedItDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(_ context.Context, n int, _ memoryd.Prompt) (string, error) {
			switch n {
			case 1:
				return "", modelError("server", true, 0)
			case 2, 3, 4:
				return "no idea", nil // a try with its second question, and the next one's first
			}
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		call := record(t.Context(), d, s, someCall(1, "out"))[0]
		time.Sleep(time.Hour)
		e := s.call(call.Key).Evaluation
		if want := (memoryd.Cost{Requests: 2, PromptTokens: 200, CompletionTokens: 20}); e.State != memoryd.Judged || e.Cost != want {
			t.Errorf("got %+v, want cost %+v", e, want)
		}
		d.Stop()
	})
}

func TestACallThatIsGivenUpCostsItsLastTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		d := testEvaluator(t, s, always("no idea", nil), unsure, func(c *Config) { c.MaxAttempts = 2 })
		d.Start(t.Context())
		call := record(t.Context(), d, s, someCall(1, "out"))[0]
		time.Sleep(time.Hour)
		if e := s.call(call.Key).Evaluation; e.State != memoryd.Failed || e.Cost.Requests != 2 || e.Cost.PromptTokens != 200 {
			t.Errorf("got %+v", e)
		}
		d.Stop()
	})
}

func TestRulesCacheAndJoinedCallsCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, byText, nil)
		d.Start(t.Context())
		paid, joined, ruled := someCall(1, "out"), someCall(1, "out"), someCall(2, "Error: no")
		joined.Key[15] = 1
		calls := record(t.Context(), d, s, paid, joined, ruled)
		again := someCall(1, "out")
		again.Key[15] = 2
		calls = append(calls, record(t.Context(), d, s, again)...)
		for i, want := range []float64{1, 0, 0, 0} {
			if c := calls[i].Evaluation.Cost; c.Requests != want || (want == 0) != (c == memoryd.Cost{}) {
				t.Errorf("call %d by %s costs %+v", i, calls[i].Evaluation.JudgedBy, c)
			}
		}
		wantAllCosts(t, s, d)
		d.Stop()
	})
}
