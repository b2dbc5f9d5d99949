package benchmark

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/evaluate/rules"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seesNoLabel fails if a call holds a label where its metadata is.
func seesNoLabel(t testing.TB, c *memoryd.Call) {
	t.Helper()
	if len(c.Metadata) == 0 {
		return
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(c.Metadata, &members); err != nil {
		t.Errorf("metadata %s: %v", c.Metadata, err)
	}
	for name := range members {
		if strings.HasPrefix(strings.ToLower(name), "gold") {
			t.Errorf("the judge sees %s", c.Metadata)
		}
	}
}

// fake is a judge by function: pending calls stay pending until Await, which
// asks answer.
type fake struct {
	prejudge func(*memoryd.Call)
	answer   func(*memoryd.Call)
	groups   [][]string // the tools of each group
	awaited  int
	kept     []memoryd.Call
}

func (f *fake) Prejudge(_ context.Context, calls []memoryd.Call) {
	var tools []string
	for i := range calls {
		tools = append(tools, calls[i].Tool)
		f.prejudge(&calls[i])
	}
	f.groups = append(f.groups, tools)
}

func (f *fake) Await(_ context.Context, calls []memoryd.Call) {
	for i := range calls {
		f.awaited++
		f.answer(&calls[i])
	}
}

func (f *fake) Stats() evaluate.Stats { return evaluate.Stats{Requests: int64(f.awaited)} }

func (f *fake) run(cfg Config) *Run {
	now := time.Unix(0, 0)
	return NewRun(cfg, Parts{
		Judge: f, Name: "fake", Rules: NewRulesRecorder(rules.New()), Clock: NewClock(),
		Keep: func(_ context.Context, calls []memoryd.Call) error { f.kept = append(f.kept, calls...); return nil },
		Now:  func() time.Time { now = now.Add(time.Second); return now },
	})
}

func judged(score float64) func(*memoryd.Call) {
	return func(c *memoryd.Call) {
		c.Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: score, JudgedBy: "fake", JudgeVersion: "fake-1"}
	}
}

func leave(*memoryd.Call) {}

func line(workspace, tool, gold string) string {
	return fmt.Sprintf(`{"workspace_id":%q,"tool_name":%q,"output":"out","metadata":{"gold":%q,"step":1}}`+"\n", workspace, tool, gold)
}

func reader(lines ...string) *bufio.Reader {
	return bufio.NewReader(strings.NewReader(strings.Join(lines, "")))
}

func noFault(t *testing.T) func(int, error) {
	return func(n int, err error) { t.Errorf("line %d: %v", n, err) }
}

func TestCallsAreHandedInByGroupsOfOneWorkspace(t *testing.T) {
	f := &fake{prejudge: judged(1)}
	r := f.run(Config{Group: 2})
	in := reader(line("w", "a", "ok"), line("w", "b", ""), line("w", "c", "error"), line("v", "d", "ok"), line("v", "e", "ok"))
	if err := r.File(t.Context(), "f", in, noFault(t)); err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"a", "b"}, {"c"}, {"d", "e"}}
	if !slices.EqualFunc(f.groups, want, slices.Equal[[]string]) || len(f.kept) != 5 {
		t.Errorf("groups %v, kept %d calls", f.groups, len(f.kept))
	}
	all := r.Report().All
	if all.Calls != 5 || all.Labelled != 4 || all.Unlabelled != 1 || all.Confusion["error"]["1.0"] != 1 || all.Confusion["ok"]["1.0"] != 3 {
		t.Errorf("figures %+v", all)
	}
	near(t, "seconds a call", &all.Cost.SecondsPerCall, 3.0/5) // a second for each of three groups
}

func TestCallsThatStayPendingAreTriedAgainAndThenHaveNoVerdict(t *testing.T) {
	f := &fake{prejudge: leave}
	f.answer = func(c *memoryd.Call) {
		if c.Tool == "b" && f.awaited > 3 {
			judged(0)(c)
			return
		}
		c.Evaluation.LastError = "network: the model could not be reached"
	}
	r := f.run(Config{Group: 5, Errors: 5})
	if err := r.File(t.Context(), "f", reader(line("w", "a", "error"), line("w", "b", "error")), noFault(t)); err != nil {
		t.Fatal(err)
	}
	report := r.Report()
	if report.All.WithoutVerdict != 1 || report.All.Recall.K != 1 || report.All.Recall.N != 2 || report.All.Agreement.N != 1 {
		t.Errorf("figures %+v", report.All)
	}
	if len(report.Disagreements) != 1 || report.Disagreements[0].Score != noScore || !strings.Contains(report.Disagreements[0].Summary, "network") {
		t.Errorf("disagreements %+v", report.Disagreements)
	}
}

func TestAModelThatCannotBeUsedEndsTheRun(t *testing.T) {
	f := &fake{prejudge: leave, answer: func(c *memoryd.Call) { c.Evaluation.LastError = "credentials: the key was rejected" }}
	err := f.run(Config{Group: 1}).File(t.Context(), "f", reader(line("w", "a", "ok"), line("w", "b", "ok")), noFault(t))
	if err == nil || !strings.Contains(err.Error(), "credentials") || f.awaited != 1 {
		t.Errorf("error %v after %d tries", err, f.awaited)
	}
}

func TestUnreadableLinesAreToldAndLeftOut(t *testing.T) {
	f := &fake{prejudge: judged(1)}
	r := f.run(Config{Group: 1})
	var noted []int
	note := func(n int, _ error) { noted = append(noted, n) }
	if err := r.File(t.Context(), "f", reader("\n", "{oops\n", line("w", "a", "ok"), "[]"), note); err != nil {
		t.Fatal(err)
	}
	if all := r.Report().All; !slices.Equal(noted, []int{2, 4}) || all.UnreadableLines != 2 || all.Labelled != 1 {
		t.Errorf("noted %v; %+v", noted, all)
	}
	if err := r.File(t.Context(), "g", reader(strings.Repeat("x\n", 1000)), note); err == nil || len(noted) != 2+maxFaults {
		t.Errorf("a file of something else: %v after %d lines", err, len(noted))
	}
}

func TestAnEndedContextEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	f := &fake{prejudge: leave, answer: func(*memoryd.Call) { cancel(cause) }}
	if err := f.run(Config{Group: 1}).File(ctx, "f", reader(line("w", "a", "ok"), line("w", "b", "ok")), noFault(t)); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}
