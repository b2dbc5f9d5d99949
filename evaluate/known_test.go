package evaluate

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/evaluate/rules"
	"memoryd/internal/reading"
	"memoryd/internal/recordtest"
	"memoryd/store"
)

// likeCall is one of calls whose outputs are of one kind, n of source.
func likeCall(n int, source, format string) memoryd.Call {
	c := someCall(n, fmt.Sprintf(format, n))
	c.Key[0] = 0xF0 // none of those that are asked about all the same
	c.Metadata = fmt.Appendf(nil, `{"memoryd_source":%q}`, source)
	return c
}

func TestTheModelIsAskedOnceForAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(0), nil)
		d := testEvaluator(t, s, m, unsure, func(cfg *Config) { cfg.KindSampling = 0.01 })
		d.Start(t.Context())
		var calls []memoryd.Call
		for n := range 30 {
			calls = append(calls, likeCall(n+1, "alice", "The order %d waits."))
		}
		judged := record(t.Context(), d, s, calls...) // all at once: they wait for the one
		judged = append(judged, record(t.Context(), d, s, likeCall(77, "alice", "The order %d waits."))...)
		for i, c := range judged {
			if e := c.Evaluation; e.State != memoryd.Judged || e.Score != 0 || i > 0 && e.JudgedBy != "kind:llm:test-model" {
				t.Fatalf("call %d: %+v", i, e)
			}
		}
		if m.asked() != 1 {
			t.Errorf("asked %d times for one kind", m.asked())
		}
		record(t.Context(), d, s, likeCall(78, "bob", "The order %d waits."))
		if m.asked() != 2 {
			t.Errorf("alice's calls taught bob's: asked %d times, want 2", m.asked())
		}
		again := testEvaluator(t, s, m, unsure, func(cfg *Config) { cfg.KindSampling = 0.01 }) // another process
		again.Start(t.Context())
		if c := record(t.Context(), again, s, likeCall(79, "bob", "The order %d waits.")); m.asked() != 2 || c[0].Evaluation.Score != 0 {
			t.Errorf("another process asked anew, or differs: %+v", c[0].Evaluation)
		}
	})
}

func TestAKindThatChangesIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, score := newFakeStore(), 1.0
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) { return reply(score), nil }}
		d := testEvaluator(t, s, m, unsure, func(cfg *Config) { cfg.KindSampling = 0.01 })
		d.Start(t.Context())
		record(t.Context(), d, s, likeCall(1, "alice", "The order %d waits."))
		score = 0
		sample := likeCall(2, "alice", "The order %d waits.")
		sample.Key[0] = 0
		record(t.Context(), d, s, sample)
		if c := record(t.Context(), d, s, likeCall(3, "alice", "The order %d waits.")); c[0].Evaluation.Score != 0 || m.asked() != 2 {
			t.Errorf("after the model said otherwise: %+v, asked %d", c[0].Evaluation, m.asked())
		}
	})
}

func TestAToolAsksNoMoreThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(0), nil)
		d := testEvaluator(t, s, m, unsure, func(cfg *Config) { cfg.KindSampling = 0.01 })
		d.Start(t.Context())
		for n := range 1000 {
			c := someCall(n, strings.Repeat("x", n%97+1)+" "+strings.Repeat("y", n/97+1)) // no two of a kind
			c.Key[2] = 0xF0
			if e := record(t.Context(), d, s, c)[0].Evaluation; e.State != memoryd.Judged {
				t.Fatalf("call %d: %+v", n, e)
			}
		}
		if m.asked() < 40 || m.asked() > 60 {
			t.Errorf("asked %d times for 1,000 calls, want 40 to 60", m.asked())
		}
	})
}

func TestAPersonsWordOnAKindIsAboveTheRulesAndBelowTheFacts(t *testing.T) {
	d := testEvaluator(t, newFakeStore(), nil, rules.New(), nil)
	s := d.ledger.(*fakeStore)
	judge := func(out string, success bool) memoryd.Evaluation {
		c := someCall(1, out)
		c.Success = success
		calls := []memoryd.Call{c}
		d.Prejudge(t.Context(), calls)
		return calls[0].Evaluation
	}
	say := func(out string, score float64) {
		c := someCall(1, out)
		k := reading.KindOf(c.Input, c.Output)
		key := store.RecordKey{ToolRef: c.ToolRef, Kind: kinds.RecordKind, ID: k.ID().String()}
		_, err := kinds.Write(t.Context(), s, key, func(old []kinds.Label) []kinds.Label {
			return kinds.Add(old, kinds.Label{IDs: k.IDs, Score: score, By: "person:ann", Reason: "It is what we want."})
		})
		if err != nil {
			t.Fatal(err)
		}
		d.Relabelled(c.ToolRef)
	}
	const fine, failed, exited = "Order 7 is on its way.", "Error: the door 7 is locked", `{"exit_code":1,"stdout":"7 lines","stderr":""}`
	for _, out := range []string{fine, failed, exited} {
		before := judge(out, true)
		say(out, 1-before.Score)
	}
	if e := judge("Order 8 is on its way.", true); e.Score != 0 || e.JudgedBy != "kind:person:ann" || !strings.Contains(e.Evaluation, "It is what we want.") {
		t.Errorf("a success that a person judged otherwise: %+v", e)
	}
	if e := judge("Error: the door 8 is locked", true); e.Score != 1 {
		t.Errorf("a failure that a person judged otherwise: %+v", e)
	}
	if e := judge(`{"exit_code":1,"stdout":"8 lines","stderr":""}`, true); e.Score != 0 {
		t.Errorf("a person's word on a kind is above an exit status: %+v", e)
	}
	if e := judge("Error: the door 9 is locked", false); e.Score != 0 {
		t.Errorf("a person's word on a kind is above the caller's: %+v", e)
	}
}

// A person labels a kind while a call of it waits for the model.
func TestAPersonsWordOnAKindReachesCallsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always(reply(0), nil)
		d := testEvaluator(t, s, m, unsure, func(cfg *Config) { cfg.KindSampling = 0.01 })
		calls := []memoryd.Call{likeCall(1, "alice", "The order %d waits.")}
		d.Prejudge(t.Context(), calls)
		s.put(calls...)
		stored := make(chan struct{})
		go func() {
			defer close(stored)
			d.Await(t.Context(), calls)
		}()
		synctest.Wait()
		k := reading.KindOf(calls[0].Input, calls[0].Output)
		key := store.RecordKey{ToolRef: calls[0].ToolRef, Kind: kinds.RecordKind, ID: k.ID().String()}
		if _, err := kinds.Write(t.Context(), s, key, func([]kinds.Label) []kinds.Label {
			return []kinds.Label{{IDs: k.IDs, Score: 1, By: "person:ann"}}
		}); err != nil {
			t.Fatal(err)
		}
		d.Relabelled(calls[0].ToolRef)
		d.Start(t.Context())
		<-stored
		if e := calls[0].Evaluation; e.Score != 1 || e.JudgedBy != "kind:person:ann" || m.asked() != 0 {
			t.Errorf("asked %d times: %+v", m.asked(), e)
		}
	})
}

// gold answers with the label of the call in hand.
type gold struct {
	scripted

	score float64
}

// How often a model is asked about recorded calls, and how often it agrees with one that
// is asked about each.
func TestRecordedQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &gold{}
		m.answer = func(context.Context, int, memoryd.Prompt) (string, error) { return reply(m.score), nil }
		s := newFakeStore()
		ruled := rules.New()
		d := testEvaluator(t, s, m, ruled, func(cfg *Config) { cfg.KindSampling = 0.01 })
		d.Start(t.Context())
		var calls, agree, late, lateAsked int
		perTool := map[memoryd.ToolRef]int{}
		for _, file := range recordtest.Files(t) {
			was, n := m.asked(), 0
			for _, r := range recordtest.Read(t, file) {
				if r.Gold == "" || r.Gold == "error" && r.Success && strings.TrimSpace(r.Output) == "" {
					continue
				}
				c := r.Call
				before := m.asked()
				m.score = map[string]float64{"error": 0, "partial": 0.5, "ok": 1}[r.Gold]
				e := record(t.Context(), d, s, c)[0].Evaluation
				n++
				if perTool[c.ToolRef]++; perTool[c.ToolRef] > 1000 {
					late, lateAsked = late+1, lateAsked+m.asked()-before
				}
				if (e.Score == 0) == (r.Gold == "error") {
					agree++
				}
			}
			calls += n
			t.Logf("%-32s %4d calls, %d questions", filepath.Base(file), n, m.asked()-was)
		}
		rate, lateRate, agreed := 1000*float64(m.asked())/float64(calls), 1000*float64(lateAsked)/float64(max(late, 1)), float64(agree)/float64(calls)
		t.Logf("%d calls, %.1f questions for 1,000; %.1f once a tool has 1,000; agreement %.4f", calls, rate, lateRate, agreed)
		if rate > 60 || lateRate > 20 || agreed < 0.995 {
			t.Error("want at most 60 and 20, and agreement of .995")
		}
	})
}
