package evaluate

import (
	"context"
	"fmt"
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

func TestACallsCostHoldsItsFailedTries(t *testing.T) {
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
		if e := s.call(call.Key).Evaluation; e.Cost != (memoryd.Cost{}) {
			t.Errorf("a pending call has %+v", e)
		}
		time.Sleep(time.Hour)
		e := s.call(call.Key).Evaluation
		if want := (memoryd.Cost{Requests: 5, PromptTokens: 500, CompletionTokens: 50}); e.State != memoryd.Judged || e.Cost != want {
			t.Errorf("got %+v, want cost %+v", e, want)
		}
		if len(d.costs.open) != 0 {
			t.Errorf("open bills: %v", d.costs.open)
		}
		d.Stop()
	})
}

func TestACallThatIsGivenUpHasItsCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		d := testEvaluator(t, s, always("no idea", nil), unsure, func(c *Config) { c.MaxAttempts = 2 })
		d.Start(t.Context())
		call := record(t.Context(), d, s, someCall(1, "out"))[0]
		time.Sleep(time.Hour)
		if e := s.call(call.Key).Evaluation; e.State != memoryd.Failed || e.Cost.Requests != 4 || e.Cost.PromptTokens != 400 {
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

func TestEveryRequestIsOnSomeCallsBill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), &scripted{}
		m.answer = func(_ context.Context, n int, _ memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			switch n % 5 {
			case 3:
				return "", modelError("server", true, 0)
			case 4:
				return "garbage", nil
			}
			return reply(1), nil
		}
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.Workers = 2 })
		d.Start(t.Context())
		var calls []memoryd.Call
		for i := range 13 {
			calls = append(calls, someCall(i, fmt.Sprint("output ", i)))
		}
		calls = record(t.Context(), d, s, calls...)
		time.Sleep(time.Hour)
		for _, c := range calls {
			if e := s.call(c.Key).Evaluation; e.State != memoryd.Judged || e.Cost.Requests == 0 {
				t.Errorf("got %+v", e)
			}
		}
		wantAllCosts(t, s, d)
		d.Stop()
	})
}

func TestACostSurvivesAStoreThatWasDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		d := testEvaluator(t, s, always(reply(1), nil), unsure, nil)
		d.Start(t.Context())
		s.mu.Lock()
		s.failNext = writeTries
		s.mu.Unlock()
		record(t.Context(), d, s, someCall(1, "out"))
		time.Sleep(10 * time.Minute)
		wantAllCosts(t, s, d)
		d.Stop()
	})
}

func TestBillsAreBounded(t *testing.T) {
	b := newCosts()
	for i := range maxBills + 10 {
		b.add(jobID{key: memoryd.CallKey{byte(i), byte(i >> 8), byte(i >> 16)}}, memoryd.Cost{Requests: 1})
	}
	b.add(jobID{workspace: "free"}, memoryd.Cost{})
	if len(b.open) != maxBills {
		t.Errorf("%d bills", len(b.open))
	}
}
