package evaluate

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/internal/reading"
)

// historyRules tells whether it was given a profile, and which.
type historyRules struct{ seen []*rules.Profile }

func (h *historyRules) Version() string { return "h" }

func (h *historyRules) JudgeRead(_ *memoryd.Call, _ *reading.Reading, p *rules.Profile) rules.Result {
	h.seen = append(h.seen, p)
	return rules.Result{Evaluation: memoryd.Evaluation{Score: 1, Rule: "h"}, Sure: true}
}

func TestProfilesAreLoadedOnceAndAgainWhenTheirTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newFakeStore(), &historyRules{}
		d := testEvaluator(t, s, nil, h, nil)
		judge := func() { d.Prejudge(t.Context(), []memoryd.Call{someCall(1, "out")}) }
		judge()
		judge()
		if h.seen[0] == nil || h.seen[0] != h.seen[1] {
			t.Error("the profile was not kept")
		}
		time.Sleep(profileTTL)
		judge()
		if h.seen[2] == h.seen[1] {
			t.Error("the profile is kept for ever")
		}
		s.down = true
		time.Sleep(profileTTL)
		judge()
		if h.seen[3] != h.seen[2] {
			t.Error("the old profile was thrown away while the store is down")
		}
	})
}

func TestProfilesAreBounded(t *testing.T) {
	d := testEvaluator(t, newFakeStore(), nil, &historyRules{}, func(c *Config) { c.ProfileTools = 3 })
	for i := range 10 {
		c := someCall(i, "out")
		c.Tool = fmt.Sprint("tool", i)
		d.Prejudge(t.Context(), []memoryd.Call{c})
	}
	if n := d.profiles.byTool.Len(); n != 3 {
		t.Errorf("%d profiles", n)
	}
	if !d.profiles.byTool.Contains(memoryd.ToolRef{Workspace: "w", Tool: "tool9"}) {
		t.Error("the one used last is gone")
	}
}

func TestTheModelSeesEarlierVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(1), nil)
		for i, score := range []float64{1, 0, 0.5, 1, 0} {
			c := someCall(100+i, fmt.Sprintf("earlier %d", i))
			c.Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: score, Summary: "obey me"}
			s.put(c)
		}
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		record(t.Context(), d, s, someCall(1, "out"))
		got := blockOf(t, m.prompts[0]).Earlier
		if len(got) != 2 || got[0]["output"] != "earlier 3" || got[0]["score"] != 1.0 || got[1]["output"] != "earlier 4" || got[1]["score"] != 0.0 {
			t.Errorf("got %v", got)
		}
		d.Stop()
	})
}

func TestPrejudgeHoldsPendingCallsBackFromTheSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(1), nil)
		d := testEvaluator(t, s, m, unsure, func(c *Config) { c.QueueSize = 2 })
		calls := []memoryd.Call{someCall(1, "a"), someCall(2, "b"), someCall(3, "c")}
		d.Prejudge(t.Context(), calls)
		for i, c := range calls {
			held := c.Evaluation.NotBefore.Equal(time.Now().Add(handover))
			if c.Evaluation.State != memoryd.Pending || held != (i < 2) {
				t.Errorf("call %d: got %+v", i, c.Evaluation)
			}
		}
		// A process that dies here leaves them to the next one.
		s.put(calls...)
		next := testEvaluator(t, s, m, unsure, nil)
		next.Start(t.Context())
		time.Sleep(handover + next.cfg.SweepInterval)
		for _, c := range calls {
			if e := s.call(c.Key).Evaluation; e.State != memoryd.Judged {
				t.Errorf("got %+v", e)
			}
		}
		next.Stop()
	})
}

func TestVerdictKeysTellCallsApart(t *testing.T) {
	base := someCall(1, "out")
	key := evaluationKey("v", &base, memoryd.InputText(base.Input))
	same := base
	same.Input, same.TimeCost, same.CreateTime = []byte("{ \"query\" : \"q1\" }"), 7, "2026-01-01"
	if evaluationKey("v", &same, memoryd.InputText(same.Input)) != key {
		t.Error("white space or costs change the key")
	}
	for name, change := range map[string]func(*memoryd.Call){
		"workspace": func(c *memoryd.Call) { c.Workspace = "x" }, "tool": func(c *memoryd.Call) { c.Tool = "x" },
		"input": func(c *memoryd.Call) { c.Input = []byte(`{"query":"q2"}`) }, "output": func(c *memoryd.Call) { c.Output = "x" },
		"success": func(c *memoryd.Call) { c.Success = false },
		"border":  func(c *memoryd.Call) { c.Workspace, c.Tool = "ws", "earch" },
	} {
		c := base
		change(&c)
		if evaluationKey("v", &c, memoryd.InputText(c.Input)) == key {
			t.Errorf("another %s has the same key", name)
		}
	}
	if evaluationKey("w", &base, memoryd.InputText(base.Input)) == key {
		t.Error("another judge has the same key")
	}
}

func TestTheMemoryOfVerdictsIsBounded(t *testing.T) {
	s := newFakeStore()
	v := newEvaluationCache(s, &counters{})
	for i := range memoSize + 10 {
		if err := v.keep(context.Background(), [16]byte{byte(i), byte(i >> 8)}, memoryd.Evaluation{State: memoryd.Judged, Score: 1}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if v.recent.Len() != memoSize {
		t.Errorf("%d verdicts", v.recent.Len())
	}
	if e, ok := v.find(context.Background(), keys{}, time.Now()); !ok || e.e.JudgedBy != memoryd.JudgedByCache {
		t.Errorf("the store still knows it, got %+v", e)
	}
}

func TestASecondCorrectionOfAnotherProcessArrives(t *testing.T) {
	s := newFakeStore()
	v := newEvaluationCache(s, &counters{})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ks := keys{person: [16]byte{1}, judge: [16]byte{2}}
	said := func(score float64) memoryd.Evaluation { return memoryd.Evaluation{State: memoryd.Judged, Score: score} }
	if err := v.keep(t.Context(), ks.person, said(0), start); err != nil {
		t.Fatal(err)
	}
	if err := s.CacheVerdict(t.Context(), ks.person, said(1)); err != nil { // elsewhere
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]float64{personMemo - 1: 0, personMemo: 1} {
		fresh := newEvaluationCache(s, &counters{})
		fresh.recent.Add(ks.person, memo{said(0), start})
		if got, ok := fresh.find(t.Context(), ks, start.Add(after)); !ok || got.e.Score != want || !got.byPerson {
			t.Errorf("after %v: %+v, %v", after, got, ok)
		}
	}
}

// A tool that says what reads like a failure each time is known for it, in the next process too.
func TestDoubtsThatAreUsualAreKnownAfterARestart(t *testing.T) {
	said := []string{
		"He who hesitates has already lost the way", "The trouble with maps is that they age",
		"All that is lost may yet be found", "Every mistake is a teacher in disguise",
		"Silence is a source of great strength", "Rain falls on the wrong and the right alike",
		"A closed mouth catches no flies", "The night is darkest before dawn breaks",
	}
	s := newFakeStore()
	judge := func(d *Evaluator, i int, out string) float64 {
		calls := []memoryd.Call{someCall(i, out)}
		calls[0].Tool = "ask"
		d.Prejudge(t.Context(), calls)
		s.put(calls[0])
		return calls[0].Evaluation.Score
	}
	d := testEvaluator(t, s, nil, rules.New(), nil)
	const doubtful = "The question is too difficult"
	first := judge(d, 0, doubtful)
	for i := range 24 {
		judge(d, 1+i, said[i%len(said)])
	}
	live, again := judge(d, 25, doubtful), judge(testEvaluator(t, s, nil, rules.New(), nil), 26, doubtful)
	if first != 0 || live != 1 || again != 1 {
		t.Errorf("scores %v at first, %v later and %v by the next process, want 0, 1 and 1", first, live, again)
	}
}
