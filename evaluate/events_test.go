package evaluate

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
)

// heard collects an evaluator's events.
type heard struct {
	mu  sync.Mutex
	all []Event
}

func (h *heard) note(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, e)
}

func (h *heard) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}

// of gives the one event of a call.
func (h *heard) of(t *testing.T, c memoryd.Call) Event {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []Event
	for _, e := range h.all {
		if e.Key == c.Key && e.ToolRef == c.ToolRef {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d events of call %v", len(found), c.Key)
	}
	return found[0]
}

func TestEachVerdictIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(_ context.Context, _ int, p memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			if strings.Contains(p.User, "forbidden") {
				return "", modelError("filtered", false, 0)
			}
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, byText, nil)
		var h heard
		d.Observe(h.note)
		d.Start(t.Context())
		bounded := someCall(4, "Hm, no.")
		bounded.Success = false
		joined := someCall(1, "Hm.")
		joined.Key[15] = 1
		calls := record(t.Context(), d, s, someCall(1, "Hm."), someCall(2, "Error: no"), someCall(3, "Fine."), bounded, joined, someCall(5, "forbidden"))
		again := someCall(1, "Hm.")
		again.Key[15] = 2
		calls = append(calls, record(t.Context(), d, s, again)...)
		for i, want := range []struct {
			by          string
			said, ruled float64
			sure        bool
		}{
			{"llm:test-model", 1, 0.5, false},
			{"rules", 0, 0, true},
			{"rules", 1, 1, true},
			{"rules", 1, 0.5, false},
			{"cache", 1, 0.5, false},
			{"", 0, 0.5, false},
			{"cache", 1, 0.5, false},
		} {
			e := h.of(t, calls[i])
			if e.Evaluation != calls[i].Evaluation || e.Evaluation.JudgedBy != want.by || e.Said.Score != want.said || e.Ruled.Score != want.ruled || e.Sure != want.sure {
				t.Errorf("call %d: got %+v", i, e)
			}
		}
		if e := h.of(t, calls[3]); e.Evaluation.Score != 0.5 || e.Said.JudgedBy != "llm:test-model" {
			t.Errorf("a bounded verdict: got %+v", e)
		}
		if e := h.of(t, calls[5]); e.Evaluation.State != memoryd.Failed {
			t.Errorf("a call that was given up: got %+v", e)
		}
		if h.count() != len(calls) {
			t.Errorf("%d events of %d calls", h.count(), len(calls))
		}
		d.Stop()
	})
}

// An evaluation that the store did not take is told when it is there, and one that
// came too late never.
func TestOnlyWhatTheStoreHasIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			return reply(1), nil
		}}
		d := testEvaluator(t, s, m, unsure, nil)
		var h heard
		d.Observe(h.note)
		d.Start(t.Context())
		s.mu.Lock()
		s.failNext = writeTries
		s.mu.Unlock()
		calls := record(t.Context(), d, s, someCall(1, "out"))
		if h.count() != 0 {
			t.Errorf("told before it was stored: %d events", h.count())
		}
		time.Sleep(5 * time.Minute)
		h.of(t, calls[0])

		late := someCall(2, "out")
		s.put(late)
		go func() { // a person is faster than the model
			time.Sleep(time.Second / 2)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.calls[1].Evaluation = memoryd.Evaluation{State: memoryd.Judged, JudgedBy: "person:a"}
		}()
		time.Sleep(time.Nanosecond)
		d.Await(t.Context(), []memoryd.Call{late})
		if h.count() != 1 {
			t.Errorf("told of a verdict that the store did not take: %d events", h.count())
		}
		d.Stop()
	})
}
