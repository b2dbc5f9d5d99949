package evaluate

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
)

func modelError(reason string, temporary bool, after time.Duration) error {
	return &memoryd.ModelError{Reason: reason, Temporary: temporary, RetryAfter: after, Err: errors.New("http://10.0.0.7/v1 said so")}
}

// Each fault of the model: what the caller is told at once, and what has become
// of the call after the model recovered.
func TestFaultsOfTheModel(t *testing.T) {
	const garbage = "I think it went well!"
	for name, c := range map[string]struct {
		fault  string
		err    error
		state  memoryd.EvaluationState
		reason string
		asked  int // requests of the first try
		later  memoryd.EvaluationState
	}{
		"rate limited":        {"", modelError("rate_limited", true, 90*time.Second), memoryd.Pending, "rate_limited", 1, memoryd.Judged},
		"server fails":        {"", modelError("server", true, 0), memoryd.Pending, "server", 1, memoryd.Judged},
		"network fails":       {"", modelError("network", true, 0), memoryd.Pending, "network", 1, memoryd.Judged},
		"an untyped error":    {"", errors.New("dial tcp: refused"), memoryd.Pending, "network", 1, memoryd.Judged},
		"the queue is full":   {"", memoryd.Errorf(memoryd.Overloaded, "full"), memoryd.Pending, "rate_limited", 1, memoryd.Judged},
		"garbage":             {garbage, nil, memoryd.Pending, "bad_reply", 2, memoryd.Judged},
		"an empty answer":     {"", nil, memoryd.Pending, "bad_reply", 2, memoryd.Judged},
		"no choices":          {"", modelError("bad_reply", true, 0), memoryd.Pending, "bad_reply", 1, memoryd.Judged},
		"the key is rejected": {"", modelError("credentials", false, 0), memoryd.Pending, "credentials", 1, memoryd.Judged},
		"the quota is spent":  {"", modelError("quota", false, 0), memoryd.Pending, "quota", 1, memoryd.Judged},
		"a wrong model name":  {"", modelError("unknown_model", false, 0), memoryd.Pending, "unknown_model", 1, memoryd.Judged},
		"filtered":            {"", modelError("filtered", false, 0), memoryd.Failed, "filtered", 1, memoryd.Failed},
		"refused":             {"", modelError("refused", false, 0), memoryd.Failed, "refused", 1, memoryd.Failed},
		"S14: rejected":       {"", modelError("rejected", false, 0), memoryd.Pending, "rejected", 1, memoryd.Judged},
		"S14: redirected":     {"", modelError("endpoint", false, 0), memoryd.Pending, "endpoint", 1, memoryd.Judged},
		"too long":            {"", modelError("too_long", false, 0), memoryd.Failed, "too_long", 2, memoryd.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeStore()
				var mended atomic.Bool
				m := &scripted{}
				m.answer = func(context.Context, int, memoryd.Prompt) (string, error) {
					if !mended.Load() {
						return c.fault, c.err
					}
					return reply(1), nil
				}
				d := testEvaluator(t, s, m, unsure, nil)
				d.Start(t.Context())
				call := record(t.Context(), d, s, someCall(1, strings.Repeat("long ", 1000)))[0]
				e := call.Evaluation
				if e.State != c.state || !strings.HasPrefix(e.LastError, c.reason+": ") || e.Attempts != 1 || m.asked() != c.asked {
					t.Errorf("got %+v after %d requests", e, m.asked())
				}
				if strings.Contains(e.LastError+e.Evaluation, "10.0.0.7") {
					t.Error("the inner error is shown to callers")
				}
				if e.State == memoryd.Pending && !e.NotBefore.After(time.Now()) {
					t.Error("no time for the next try")
				}
				if m, ok := errors.AsType[*memoryd.ModelError](c.err); ok && m.RetryAfter > 0 && m.RetryAfter > time.Until(e.NotBefore) {
					t.Errorf("next try in %v, the server asked for %v", time.Until(e.NotBefore), m.RetryAfter)
				}
				mended.Store(true)
				time.Sleep(time.Hour)
				if e := s.call(call.Key).Evaluation; e.State != c.later {
					t.Errorf("later: got %+v", e)
				}
				d.Stop()
			})
		})
	}
}

func TestAModelThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(ctx context.Context, n int, _ memoryd.Prompt) (string, error) {
			if n > 1 {
				return reply(1), nil
			}
			<-ctx.Done()
			return "", ctx.Err()
		}}
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.RequestTimeout = 20 * time.Second })
		d.Start(t.Context())
		call := record(t.Context(), d, s, someCall(1, "out"))[0]
		if e := call.Evaluation; e.State != memoryd.Pending || !strings.HasPrefix(e.LastError, "timeout: ") {
			t.Errorf("got %+v", e)
		}
		time.Sleep(time.Minute)
		if e := s.call(call.Key).Evaluation; e.State != memoryd.Judged || e.Attempts != 1 {
			t.Errorf("later: got %+v", e)
		}
		d.Stop()
	})
}

func TestTheModelIsToldWhyItIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(_ context.Context, n int, p memoryd.Prompt) (string, error) {
			if n == 1 {
				return `{"score": 1} {"score": 0}`, nil
			}
			return reply(0.5), nil
		}}
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		if e := record(t.Context(), d, s, someCall(1, "out"))[0].Evaluation; e.State != memoryd.Judged || e.Score != 0.5 || e.Attempts != 0 {
			t.Errorf("got %+v", e)
		}
		if again := m.prompts[1]; !strings.HasSuffix(again.User, wantSingle(errAmbiguous)) || again.System != m.prompts[0].System {
			t.Errorf("got %q", again.User)
		}
		if d.Stats().Reasked != 1 {
			t.Errorf("got %+v", d.Stats())
		}
		d.Stop()
	})
}

func TestATooLongCallIsShownShorter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(_ context.Context, n int, p memoryd.Prompt) (string, error) {
			if len(p.User) > 900 {
				return "", modelError("too_long", false, 0)
			}
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		if e := record(t.Context(), d, s, someCall(1, strings.Repeat("long ", 1000)))[0].Evaluation; e.State != memoryd.Judged {
			t.Errorf("got %+v", e)
		}
		d.Stop()
	})
}

func TestBackoffDoublesWithJitterAndNeverGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		var at []time.Time
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) {
			at = append(at, time.Now())
			return "", modelError("server", true, 0)
		}}
		d := testEvaluator(t, s, m, unsure, func(c *Config) {
			c.RetryMin, c.RetryMax, c.SweepInterval = 10*time.Second, 10*time.Minute, time.Second
		})
		d.Start(t.Context())
		call := record(t.Context(), d, s, someCall(1, "out"))[0]
		time.Sleep(24 * time.Hour)
		d.Stop()
		if len(at) < 24*6 || len(at) > 24*13 {
			t.Errorf("%d tries in a day", len(at))
		}
		for i := 1; i < len(at); i++ {
			most := min(10*time.Minute, 10*time.Second<<min(i-1, 10))
			if gap := at[i].Sub(at[i-1]); gap < most/2 || gap > most+2*time.Second {
				t.Fatalf("wait %d was %v, want %v to %v", i, gap, most/2, most)
			}
		}
		if e := s.call(call.Key).Evaluation; e.State != memoryd.Pending || e.Attempts != len(at) {
			t.Errorf("got %+v after %d tries", e, len(at))
		}
	})
}

func TestUnusableAnswersEndAfterMaxAttempts(t *testing.T) {
	for choice, want := range map[string]memoryd.EvaluationState{markFailed: memoryd.Failed, takeRules: memoryd.Judged} {
		t.Run(choice, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := newFakeStore(), always("no idea", nil)
				d := testEvaluator(t, s, m, unsure, func(c *Config) { c.MaxAttempts, c.OnUnjudgeable = 3, choice })
				d.Start(t.Context())
				call := record(t.Context(), d, s, someCall(1, "out"))[0]
				time.Sleep(time.Hour)
				e := s.call(call.Key).Evaluation
				if e.State != want || e.Attempts != 3 || m.asked() != 6 || !strings.Contains(e.LastError, errNoScoreFound.Error()) {
					t.Errorf("got %+v after %d requests", e, m.asked())
				}
				if want == memoryd.Judged && e.JudgedBy != memoryd.JudgedByRules {
					t.Errorf("got %+v", e)
				}
				d.Stop()
			})
		})
	}
}

// A bad answer after many refusals is not yet the end: the refusals were not the
// call's fault.
func TestRefusalsOfTheServerDoNotUseUpTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(_ context.Context, n int, _ memoryd.Prompt) (string, error) {
			switch {
			case n <= 10:
				return "", modelError("rate_limited", true, 0)
			case n <= 12:
				return "no idea", nil
			}
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.MaxAttempts = 3 })
		d.Start(t.Context())
		call := record(t.Context(), d, s, someCall(1, "out"))[0]
		time.Sleep(24 * time.Hour)
		if e := s.call(call.Key).Evaluation; e.State != memoryd.Judged || e.Attempts != 11 {
			t.Errorf("got %+v", e)
		}
		d.Stop()
	})
}

func TestOnModelFailureRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always("", modelError("credentials", false, 0))
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.OnModelFailure = takeRules })
		d.Start(t.Context())
		e := record(t.Context(), d, s, someCall(1, "out"))[0].Evaluation
		if e.State != memoryd.Judged || e.JudgedBy != memoryd.JudgedByRules || !strings.HasPrefix(e.LastError, "credentials: ") {
			t.Errorf("got %+v", e)
		}
		d.Stop()
	})
}

func TestAPanicIsAFailedTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(_ context.Context, n int, _ memoryd.Prompt) (string, error) {
			if n == 1 {
				panic("a defect")
			}
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.Workers = 1 })
		d.Start(t.Context())
		call := record(t.Context(), d, s, someCall(1, "out"))[0]
		if e := call.Evaluation; e.State != memoryd.Pending || !strings.HasPrefix(e.LastError, "internal: ") {
			t.Errorf("got %+v", e)
		}
		time.Sleep(time.Minute)
		if e := s.call(call.Key).Evaluation; e.State != memoryd.Judged {
			t.Errorf("later: got %+v", e)
		}
		d.Stop()
	})
}

func TestAStoreThatFailsLosesNoVerdictAndPaysOnce(t *testing.T) {
	for name, failures := range map[string]int{"for a moment": 2, "for longer": writeTries} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := newFakeStore(), always(reply(1), nil)
				d := testEvaluator(t, s, m, unsure, nil)
				d.Start(t.Context())
				s.mu.Lock()
				s.failNext = failures
				s.mu.Unlock()
				call := record(t.Context(), d, s, someCall(1, "out"))[0]
				if observer := call.Evaluation.State; (observer == memoryd.Judged) != (s.call(call.Key).Evaluation.State == memoryd.Judged) {
					t.Errorf("the caller was told %q, the store has %+v", observer, s.call(call.Key).Evaluation)
				}
				time.Sleep(5 * time.Minute)
				if e := s.call(call.Key).Evaluation; e.State != memoryd.Judged || m.asked() != 1 {
					t.Errorf("later: got %+v after %d requests", e, m.asked())
				}
				d.Stop()
			})
		})
	}
}

func TestAStoreThatIsDownStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(1), nil)
		d := testEvaluator(t, s, m, unsure, nil)
		s.put(someCall(1, "out"))
		s.down = true
		d.Start(t.Context())
		time.Sleep(time.Minute)
		s.mu.Lock()
		s.down = false
		s.mu.Unlock()
		time.Sleep(time.Minute)
		if e := s.call(someCall(1, "").Key).Evaluation; e.State != memoryd.Judged {
			t.Errorf("got %+v", e)
		}
		if d.Stats().LedgerErrors == 0 {
			t.Error("the errors were not counted")
		}
		d.Stop()
	})
}
