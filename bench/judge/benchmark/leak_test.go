package benchmark

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"memoryd/internal/configtest"
	"memoryd/store/mem"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/evaluate/kinds"
	"memoryd/evaluate/rules"
	"memoryd/internal/reading"
)

// fakeStore is a history in memory.
type fakeStore struct {
	kinds.Records

	calls []memoryd.Call
}

func (s *fakeStore) keep(_ context.Context, calls []memoryd.Call) error {
	s.calls = append(s.calls, calls...)
	return nil
}

func (s *fakeStore) History(_ context.Context, _ memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	return s.calls[max(0, len(s.calls)-limit):], nil
}

func (s *fakeStore) Claim(context.Context, time.Time, time.Duration, int) ([]memoryd.Call, error) {
	return nil, nil
}

func (s *fakeStore) Settle(_ context.Context, settled []memoryd.Settlement) ([]bool, error) {
	for _, v := range settled {
		for i := range s.calls {
			if s.calls[i].Key == v.Key {
				s.calls[i].Evaluation = v.Evaluation
			}
		}
	}
	return make([]bool, len(settled)), nil
}

func (s *fakeStore) CachedVerdict(context.Context, [16]byte) (memoryd.Evaluation, error) {
	return memoryd.Evaluation{}, memoryd.Errorf(memoryd.NotFound, "no such verdict")
}

func (s *fakeStore) CacheVerdict(context.Context, [16]byte, memoryd.Evaluation) error { return nil }

// model answers every request alike and keeps the requests.
type model struct {
	text  string
	asked []memoryd.Prompt
}

func (m *model) Name() string { return "model" }

func (m *model) Complete(_ context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	m.asked = append(m.asked, p)
	return memoryd.Completion{Text: m.text, Model: "model", Usage: memoryd.Usage{PromptTokens: 100, CompletionTokens: 10}}, nil
}

const goodVerdict = `{"evaluation":"e","failed_checks":[],"score":1,"summary":"s"}`

// ruleFunc is a rules judge by function that is never sure.
type ruleFunc func(*memoryd.Call)

func (ruleFunc) Version() string { return "rules-test" }

func (f ruleFunc) JudgeRead(c *memoryd.Call, _ *reading.Reading, _ *rules.Profile) rules.Result {
	f(c)
	return rules.Result{Evaluation: memoryd.Evaluation{
		State: memoryd.Judged, Score: memoryd.ScoreSuccess, JudgedBy: memoryd.JudgedByRules, Rule: "test", JudgeVersion: "rules-test",
	}}
}

// evaluatorRun is a run of the real evaluator, one call after the other.
func evaluatorRun(t *testing.T, r evaluate.Rules, m memoryd.Model, judge string) (*Run, *evaluate.Evaluator) {
	t.Helper()
	cfg := configtest.Section[evaluate.Config]("evaluate")
	cfg.Judge, cfg.SweepInterval = judge, time.Hour
	clock, recorder, history := NewClock(), NewRulesRecorder(r), &fakeStore{Records: mem.New()}
	evaluator, err := evaluate.NewEvaluator(cfg, recorder, m, history, slog.New(slog.DiscardHandler), clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	evaluator.Start(t.Context())
	t.Cleanup(evaluator.Stop)
	return NewRun(Config{Group: 1, Errors: 100}, Parts{
		Judge: evaluator, Name: evaluator.Describe(), Rules: recorder, Clock: clock, Keep: history.keep, Now: time.Now,
	}), evaluator
}

// TestTheLabelNeverReachesTheJudge runs a recording whose labels are marked, also
// in forms that only look like labels, and looks at all that rules and model see.
func TestTheLabelNeverReachesTheJudge(t *testing.T) {
	var lines []string
	for i, gold := range []string{"ok", "partial", "error"} {
		lines = append(lines, fmt.Sprintf(`{"tool_name":"t","input":{"n":%d},"output":"out of call %d","score":0,"evaluation":"SECRET","summary":"SECRET",`+
			`"gold":"SECRET","metadata":{"gold":%q,"gold_from":"SECRET","gold_reason":"SECRET","Gold":"SECRET","\u0067old2":"SECRET","step":%d}}`+"\n", i, i, gold, i))
	}
	m, calls := &model{text: goodVerdict}, 0
	r, evaluator := evaluatorRun(t, ruleFunc(func(c *memoryd.Call) {
		calls++
		seesNoLabel(t, c)
		if all := fmt.Sprintf("%+v %s %s", *c, c.Input, c.Metadata); strings.Contains(all, "SECRET") {
			t.Errorf("the rules see %s", all)
		}
		if !strings.Contains(string(c.Metadata), `"step"`) {
			t.Errorf("the judge sees metadata %s", c.Metadata)
		}
	}), m, evaluate.JudgeLLM)
	if err := r.File(t.Context(), "f", reader(lines...), noFault(t)); err != nil {
		t.Fatal(err)
	}
	evaluator.Stop()
	if calls < 3 || len(m.asked) != 3 {
		t.Fatalf("%d calls were shown to the rules, %d to the model", calls, len(m.asked))
	}
	for _, p := range m.asked {
		if user := strings.ToLower(p.User); strings.Contains(user, "secret") || strings.Contains(user, "gold") {
			t.Errorf("the model sees %s", p.User)
		}
	}
	if all := r.Report().All; all.Labelled != 3 || all.Agreement.K != 1 || all.Cost.Requests != 3 || all.Cost.ModelVerdicts != 3 {
		t.Errorf("figures %+v", all)
	}
}
