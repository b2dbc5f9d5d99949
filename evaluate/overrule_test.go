package evaluate

import (
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
)

func corrected(score float64) memoryd.Evaluation {
	return memoryd.Evaluation{
		State: memoryd.Judged, Score: score, Summary: "A person's summary.", Evaluation: "A person's reason.",
		JudgedBy: "person:ann", Overruled: &memoryd.Overruled{State: memoryd.Judged, Score: 1},
	}
}

// overrule does what the override operation does: it stores the correction, then
// tells the evaluator.
func (s *fakeStore) overrule(t *testing.T, d *Evaluator, c memoryd.Call, e memoryd.Evaluation) {
	t.Helper()
	s.mu.Lock()
	for i := range s.calls {
		if s.calls[i].Key == c.Key {
			s.calls[i].Evaluation = e
		}
	}
	s.mu.Unlock()
	if err := d.Overruled(t.Context(), c, e); err != nil {
		t.Fatal(err)
	}
}

func TestAPersonsVerdictHoldsForEqualCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(1), nil)
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		first := record(t.Context(), d, s, someCall(1, "out"))[0]
		s.overrule(t, d, first, corrected(0))
		// The same evaluator, another process, and one with another judge.
		other := testEvaluator(t, s, m, unsure, nil)
		changed := testEvaluator(t, s, m, unsure, func(c *Config) { c.MaxOutput = 100 })
		if changed.version == d.version {
			t.Fatal("the same judge")
		}
		for i, evaluator := range []*Evaluator{d, other, changed} {
			again := someCall(1, "out")
			again.Key[15] = byte(i + 1)
			calls := []memoryd.Call{again}
			evaluator.Prejudge(t.Context(), calls)
			e := calls[0].Evaluation
			if e.State != memoryd.Judged || e.Score != 0 || e.Summary != "A person's summary." || e.JudgedBy != memoryd.JudgedByCache || e.Overruled != nil {
				t.Errorf("evaluator %d: got %+v", i, e)
			}
		}
		different := someCall(1, "another output")
		different.Key[15] = 9
		if e := record(t.Context(), d, s, different)[0].Evaluation; e.Score != 1 || e.JudgedBy != "llm:test-model" {
			t.Errorf("another call: got %+v", e)
		}
		d.Stop()
	})
}

func TestACorrectionThatIsWithdrawnHoldsForNoEqualCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(1), nil)
		d, other := testEvaluator(t, s, m, unsure, nil), testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		first := record(t.Context(), d, s, someCall(1, "out"))[0]
		s.overrule(t, d, first, corrected(0))
		verdict := func(of *Evaluator) memoryd.Evaluation {
			calls := []memoryd.Call{someCall(1, "out")}
			of.Prejudge(t.Context(), calls)
			return calls[0].Evaluation
		}
		if e := verdict(other); e.Score != 0 {
			t.Fatalf("got %+v", e)
		}
		if err := d.Withdrawn(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		time.Sleep(personMemo) // another process asks the store again
		for i, of := range []*Evaluator{d, other, d} {
			if e := verdict(of); e.State != memoryd.Judged || e.Score != 1 || e.Summary == "A person's summary." {
				t.Errorf("%d: got %+v", i, e)
			}
		}
		d.Stop()
	})
}

// What the rules know bounds a model, not a person.
func TestAPersonMayGoAboveTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		d := testEvaluator(t, s, always(reply(0), nil), unsure, nil)
		d.Start(t.Context())
		c := someCall(1, "out")
		c.Success = false
		s.overrule(t, d, record(t.Context(), d, s, c)[0], corrected(1))
		c.Key[15] = 1
		if e := record(t.Context(), d, s, c)[0].Evaluation; e.Score != 1 || e.Summary != "A person's summary." {
			t.Errorf("got %+v", e)
		}
		d.Stop()
	})
}

// A correction that comes while an equal call waits spares the model.
func TestAWaitingCallTakesThePersonsVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := always("", modelError("server", true, time.Minute))
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		waiting := record(t.Context(), d, s, someCall(1, "out"))[0]
		equal := someCall(1, "out")
		equal.Key[15] = 1
		equal.Evaluation.NotBefore = time.Now().Add(time.Hour) // the sweep does not take it first
		s.put(equal)
		s.overrule(t, d, equal, corrected(0.5))
		time.Sleep(time.Hour)
		if e := s.call(waiting.Key).Evaluation; e.State != memoryd.Judged || e.Score != 0.5 || m.asked() != 1 {
			t.Errorf("got %+v after %d requests", e, m.asked())
		}
		d.Stop()
	})
}

func TestTheToolsProfileLearnsACorrection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(1), nil)
		d := testEvaluator(t, s, m, unsure, nil)
		d.Start(t.Context())
		first := record(t.Context(), d, s, someCall(1, "out"))[0]
		record(t.Context(), d, s, someCall(2, "other"))
		time.Sleep(time.Hour)
		s.overrule(t, d, first, corrected(0))
		record(t.Context(), d, s, someCall(3, "third"))
		p := m.prompts[len(m.prompts)-1]
		scores := map[string]any{}
		for _, e := range blockOf(t, p).Earlier {
			scores[e["output"].(string)] = e["score"]
		}
		if scores["out"] != 0.0 || scores["other"] != 1.0 {
			t.Errorf("the model is shown %v", scores)
		}
		d.Stop()
	})
}

func TestACorrectionIsAVerdict(t *testing.T) {
	d := testEvaluator(t, newFakeStore(), nil, unsure, nil)
	if err := d.Overruled(t.Context(), someCall(1, "out"), memoryd.PendingEvaluation()); !memoryd.IsKind(err, memoryd.Invalid) {
		t.Errorf("got %v", err)
	}
	s := newFakeStore()
	s.down = true
	d = testEvaluator(t, s, nil, unsure, nil)
	if err := d.Overruled(t.Context(), someCall(1, "out"), corrected(1)); !memoryd.IsKind(err, memoryd.Unavailable) {
		t.Errorf("got %v", err)
	}
}
