package evaluate

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/evaluate/rules"
)

// byText is a rules judge for tests: sure of "Error…", sure of "Fine…", unsure
// of the rest.
var byText = ruleFunc(func(c *memoryd.Call) (float64, bool) {
	switch {
	case strings.HasPrefix(c.Output, "Error"):
		return memoryd.ScoreFailure, true
	case strings.HasPrefix(c.Output, "Fine"):
		return memoryd.ScoreSuccess, true
	}
	return memoryd.ScorePartial, false
})

func TestJudgesAndTheirCalls(t *testing.T) {
	for name, c := range map[string]struct {
		judge    string
		model    bool
		describe string
		asked    int
		by       [3]string // who judges a sure failure, a sure success, an unsure call
	}{
		"auto without a model": {JudgeAuto, false, "rules", 0, [3]string{"rules", "rules", "rules"}},
		"auto with a model":    {JudgeAuto, true, "cascade (rules, then llm:test-model)", 1, [3]string{"rules", "rules", "llm:test-model"}},
		"rules":                {JudgeRules, true, "rules", 0, [3]string{"rules", "rules", "rules"}},
		"llm":                  {JudgeLLM, true, "llm:test-model", 3, [3]string{"llm:test-model", "llm:test-model", "llm:test-model"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := newFakeStore(), always(reply(0), nil)
				var model memoryd.Model
				if c.model {
					model = m
				}
				d := testEvaluator(t, s, model, byText, func(cfg *Config) { cfg.Judge = c.judge })
				d.Start(t.Context())
				if d.Describe() != c.describe {
					t.Errorf("got %q, want %q", d.Describe(), c.describe)
				}
				calls := record(t.Context(), d, s, someCall(1, "Error: no"), someCall(2, "Fine."), someCall(3, "Hm."))
				for i, call := range calls {
					e := call.Evaluation
					if e.State != memoryd.Judged || e.JudgedBy != c.by[i] || e.JudgeVersion == "" || e.JudgedAt.IsZero() {
						t.Errorf("call %d: got %+v", i+1, e)
					}
					if stored := s.call(call.Key).Evaluation; stored != e {
						t.Errorf("call %d: the store has %+v, the caller %+v", i+1, stored, e)
					}
				}
				if m.asked() != c.asked {
					t.Errorf("the model was asked %d times, want %d", m.asked(), c.asked)
				}
				d.Stop()
			})
		})
	}
}

func TestNewDeskRefuses(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"a model judge without a model": func(c *Config) { c.Judge = JudgeLLM },
		"an absent prompt file":         func(c *Config) { c.PromptFile = "absent.tmpl" },
	} {
		cfg := configtest.Section[Config]("evaluate")
		change(&cfg)
		if _, err := NewEvaluator(cfg, unsure, nil, newFakeStore(), slog.New(slog.DiscardHandler), time.Now); !memoryd.IsKind(err, memoryd.Invalid) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestTheVersionTellsJudgesApart(t *testing.T) {
	p := testPrompt(t)
	base := versionOf(configtest.Section[Config]("evaluate"), p, "m")
	if versionOf(configtest.Section[Config]("evaluate"), p, "m") != base {
		t.Error("the version is not stable")
	}
	other := configtest.Section[Config]("evaluate")
	other.MaxOutput++
	less := configtest.Section[Config]("evaluate")
	less.MaxContext--
	for name, v := range map[string]string{
		"context": versionOf(less, p, "m"),
		"model":   versionOf(configtest.Section[Config]("evaluate"), p, "n"), "prompt": versionOf(configtest.Section[Config]("evaluate"), "x", "m"), "settings": versionOf(other, p, "m"),
	} {
		if v == base {
			t.Errorf("another %s gives the same version", name)
		}
	}
	other = configtest.Section[Config]("evaluate")
	other.Workers, other.RetryMax = 7, time.Hour
	if versionOf(other, p, "m") != base {
		t.Error("settings that do not shape verdicts change the version")
	}
}

func TestARepeatTakesItsVerdictFromTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(0.5), nil)
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		first := record(t.Context(), d, s, someCall(1, "out"))[0].Evaluation
		again := someCall(1, "out")
		again.Key[15], again.TimeCost = 1, 9
		got := record(t.Context(), d, s, again)[0].Evaluation
		if got.JudgedBy != memoryd.JudgedByCache || got.Score != first.Score || got.Summary != first.Summary || got.JudgeVersion != first.JudgeVersion {
			t.Errorf("got %+v after %+v", got, first)
		}
		other := someCall(1, "out")
		other.Key[15], other.Workspace = 2, "other"
		if got := record(t.Context(), d, s, other)[0].Evaluation; got.JudgedBy == memoryd.JudgedByCache {
			t.Error("a verdict went from one workspace to another")
		}
		// Another process, the same store: the cache is shared.
		next := testEvaluator(t, s, m, unsure, nil)
		again.Key[15] = 3
		calls := []memoryd.Call{again}
		next.Prejudge(t.Context(), calls)
		if calls[0].Evaluation.JudgedBy != memoryd.JudgedByCache {
			t.Errorf("got %+v", calls[0].Evaluation)
		}
		if m.asked() != 2 {
			t.Errorf("the model was asked %d times, want 2", m.asked())
		}
		d.Stop()
	})
}

func TestEqualCallsInFlightShareOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		calls := make([]memoryd.Call, 20)
		for i := range calls {
			calls[i] = someCall(7, "out")
			calls[i].Key[15] = byte(i)
		}
		record(t.Context(), d, s, calls...)
		byModel := 0
		for _, c := range calls {
			switch c.Evaluation.JudgedBy {
			case "llm:test-model":
				byModel++
			case memoryd.JudgedByCache:
			default:
				t.Errorf("got %+v", c.Evaluation)
			}
		}
		if m.asked() != 1 || byModel != 1 {
			t.Errorf("%d requests, %d verdicts by the model; want one each", m.asked(), byModel)
		}
		if st := d.Stats(); st.Joined != 19 || st.CacheHits != 19 || st.Requests != 1 || st.PromptTokens != 100 || st.InHand != 0 {
			t.Errorf("got %+v", st)
		}
		d.Stop()
	})
}

func TestAwaitGoesOnWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) {
			time.Sleep(time.Minute)
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began := time.Now()
		call := record(ctx, d, s, someCall(1, "out"))[0]
		if waited := time.Since(began); waited != 30*time.Second || call.Evaluation.State != memoryd.Pending {
			t.Errorf("after %v got %+v", waited, call.Evaluation)
		}
		time.Sleep(time.Minute)
		if e := s.call(call.Key).Evaluation; e.State != memoryd.Judged || m.asked() != 1 {
			t.Errorf("in the background: got %+v after %d requests", e, m.asked())
		}
		d.Stop()
	})
}

func TestAnEndedContextStillHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(1), nil)
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		call := record(ctx, d, s, someCall(1, "out"))[0]
		synctest.Wait()
		if e := s.call(call.Key).Evaluation; e.State != memoryd.Judged {
			t.Errorf("got %+v", e)
		}
		d.Stop()
	})
}

func TestWhatAnEarlierRunLeftIsJudged(t *testing.T) {
	for name, model := range map[string]memoryd.Model{"by the model": always(reply(1), nil), "by the rules": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeStore()
				for i := range 700 {
					s.put(someCall(i, "out"))
				}
				d := testEvaluator(t, s, model, unsure, func(c *Config) { c.QueueSize = 100 })
				d.Start(t.Context())
				time.Sleep(time.Minute)
				for i := range 700 {
					if e := s.call(someCall(i, "").Key).Evaluation; e.State != memoryd.Judged {
						t.Fatalf("call %d: got %+v", i, e)
					}
				}
				d.Stop()
			})
		})
	}
}

func TestAFullQueueLeavesCallsToTheSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.QueueSize, c.Workers = 8, 2 })
		d.Start(t.Context())
		calls := make([]memoryd.Call, 40)
		for i := range calls {
			calls[i] = someCall(i, "out")
		}
		record(t.Context(), d, s, calls...)
		judged := 0
		for _, c := range calls {
			if c.Evaluation.State == memoryd.Judged {
				judged++
			} else if c.Evaluation.Attempts != 0 || c.Evaluation.LastError != "" {
				t.Errorf("a call that was not tried has %+v", c.Evaluation)
			}
		}
		if judged != 8 {
			t.Errorf("%d calls judged at once, want 8", judged)
		}
		time.Sleep(time.Minute)
		for _, c := range calls {
			if e := s.call(c.Key).Evaluation; e.State != memoryd.Judged {
				t.Errorf("got %+v", e)
			}
		}
		if m.most > 2 || m.asked() != 40 {
			t.Errorf("%d requests, up to %d at once", m.asked(), m.most)
		}
		d.Stop()
	})
}

func TestWhatTheSweepHasNoRoomForIsNotKeptForALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.QueueSize, c.Workers, c.SweepInterval = 8, 2, 5*time.Second })
		s.put(someCall(0, "out"), someCall(1, "out"))
		requests := make([]memoryd.Call, 8)
		for i := range requests {
			requests[i] = someCall(10+i, "out")
		}
		s.claimed = sync.OnceFunc(func() { // between the claim and the queue
			for i := range s.put(requests...) {
				d.take(t.Context(), &requests[i])
			}
		})
		d.Start(t.Context())
		time.Sleep(30 * time.Second)
		for i := range 2 {
			if e := s.call(someCall(i, "").Key).Evaluation; e.State != memoryd.Judged {
				t.Errorf("call %d: got %+v", i, e)
			}
		}
		d.Stop()
	})
}

func TestWorkspacesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.Workers = 1 })
		d.Start(t.Context())
		loud := make([]memoryd.Call, 1000)
		for i := range loud {
			loud[i] = someCall(i, "out")
			loud[i].Workspace = "loud"
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		record(ended, d, s, loud...)
		began := time.Now()
		if got := record(t.Context(), d, s, someCall(1, "out"))[0]; got.Evaluation.State != memoryd.Judged {
			t.Errorf("got %+v", got.Evaluation)
		}
		if waited := time.Since(began); waited > 3*time.Second {
			t.Errorf("one call waited %v behind another workspace's thousand", waited)
		}
		d.Stop()
	})
}

func TestRulesThatPanicDoNoHarm(t *testing.T) {
	panics := ruleFunc(func(*memoryd.Call) (float64, bool) { panic("hostile text") })
	d := testEvaluator(t, newFakeStore(), nil, panics, nil)
	calls := []memoryd.Call{someCall(1, "out")}
	d.Prejudge(t.Context(), calls)
	if e := calls[0].Evaluation; e.State != memoryd.Judged || e.Score != memoryd.ScorePartial || e.JudgedBy != memoryd.JudgedByRules {
		t.Errorf("got %+v", e)
	}
}

func TestTheRealRulesFit(t *testing.T) {
	d := testEvaluator(t, newFakeStore(), nil, rules.New(), nil)
	bad := someCall(1, "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: bad")
	done := someCall(2, "kept")
	done.Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: 0.5, JudgedBy: "person"}
	calls := []memoryd.Call{bad, done}
	d.Prejudge(t.Context(), calls)
	if e := calls[0].Evaluation; e.Score != memoryd.ScoreFailure || e.Rule == "" || e.JudgedBy != memoryd.JudgedByRules {
		t.Errorf("got %+v", e)
	}
	if calls[1].Evaluation != done.Evaluation {
		t.Errorf("a verdict was replaced by %+v", calls[1].Evaluation)
	}
	if n := d.Stats().RuleVerdicts[calls[0].Evaluation.Rule]; n != 1 {
		t.Errorf("the rule was counted %d times", n)
	}
}
