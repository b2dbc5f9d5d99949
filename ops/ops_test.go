package ops_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/internal/access"
	"memoryd/internal/accounts"
	"memoryd/internal/configtest"
	"memoryd/ops"
	"memoryd/ops/survey"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

// judge is a scripted judge: outputs that start with "later" stay pending until
// Await, those that start with "never" stay pending for good.
type judge struct {
	store   store.Store
	awaited int
	person  *memoryd.Evaluation // what a person said of all calls
}

func (j *judge) Prejudge(_ context.Context, calls []memoryd.Call) {
	for i := range calls {
		if !strings.HasPrefix(calls[i].Output, "later") && !strings.HasPrefix(calls[i].Output, "never") {
			calls[i].Evaluation = verdict("rules")
		}
		if j.person != nil {
			calls[i].Evaluation = *j.person
		}
	}
}

func (j *judge) Relabelled(memoryd.ToolRef) {}

func (j *judge) Moved(string) {}

func (j *judge) Withdrawn(context.Context, memoryd.Call) error {
	j.person = nil
	return nil
}

func (j *judge) Under(context.Context, *memoryd.Call, *kinds.Book) (memoryd.Evaluation, bool) {
	return verdict("rules"), true
}

func (j *judge) Await(ctx context.Context, calls []memoryd.Call) {
	j.awaited += len(calls)
	for i := range calls {
		if c := &calls[i]; strings.HasPrefix(c.Output, "later") {
			c.Evaluation = verdict("llm:m")
			_, _ = j.store.Settle(ctx, []store.Verdict{{ToolRef: c.ToolRef, Key: c.Key, Evaluation: c.Evaluation}})
		}
	}
}

func verdict(by string) memoryd.Evaluation {
	return memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: by, Summary: "s"}
}

// author writes a guideline that says how many calls it saw, or fails.
type author struct {
	err    error
	during func() // runs while the text is being written

	mu     sync.Mutex
	writes int
	tools  []string // in the order in which they were written
}

func (a *author) Compose(_ context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int, _ *guidelines.Document) (*guidelines.Document, error) {
	a.mu.Lock()
	a.writes++
	a.tools = append(a.tools, tool.Tool)
	a.mu.Unlock()
	if a.during != nil {
		a.during()
	}
	return written(len(calls), recent), a.err
}

func written(calls, recent int) *guidelines.Document {
	return &guidelines.Document{Author: "rules", MaxWords: 100, Items: []guidelines.Item{{ID: "item-1", Section: "Core Function", Text: "It does things.", Author: "rules"}}, Statistics: fmt.Sprintf("%d calls, %d recent", calls, recent)}
}

var noon = time.Date(2025, 1, 1, 12, 0, 0, 0, time.Local)

// fixture is the flows over a store, as the program wires them.
type fixture struct {
	*ops.Flows
	store  store.Store
	judge  *judge
	author *author
	log    bytes.Buffer
}

func newFixture(t *testing.T, s store.Store, keep int) *fixture {
	t.Helper()
	f := &fixture{store: s, judge: &judge{store: s}, author: &author{}}
	log := slog.New(slog.NewTextHandler(&f.log, nil))
	view := survey.New(s, log, time.Now)
	t.Cleanup(view.Stop)
	f.Flows = plan(t, keep).Build(ops.Deps{
		Store: s, Judge: f.judge, Wait: time.Second, Compactor: struct{ ops.Compactor }{}, Reader: ops.MemoryReader{Store: s, Recent: 2},
		Names: ops.NewNames(s, time.Now), Told: ops.NewTold(), Intake: accounts.NewIntake(time.Now), Survey: view,
		Audit: access.NewAudit(s, log, time.Now), Redaction: ops.NewRedaction(s, ops.Privacy{}, log, time.Now), Keyed: func() bool { return true },
		Revisions: &revisions.Manager{Store: s, Composer: f.author, Recent: 2, Config: configtest.Section[revisions.Config]("revisions"), Now: time.Now},
		Corrected: func(_ context.Context, _ memoryd.Call, e memoryd.Evaluation) { f.judge.person = &e },
		Logger:    log, Now: func() time.Time { return noon },
	}, nil)
	return f
}

// plan is that of default.yaml with other settings.
func plan(t *testing.T, keep int) *ops.Plan {
	t.Helper()
	p, problems := ops.NewPlan(map[string][]string{
		"add_tool_call_result": {"validate_tool_call_result_op", "parse_tool_call_result_op"},
		"summary_tool_memory":  {"load_tool_memory_op", "summary_tool_memory_op"},
		"retrieve_tool_memory": {"load_tool_memory_op", "retrieve_tool_memory_op"},
	}, map[string]ops.Spec{
		"validate_tool_call_result_op": {Backend: "validate_tool_call_result_op", Params: func(into any) error {
			into.(*ops.Limits).MaxTextBytes = 1024
			return nil
		}},
		"parse_tool_call_result_op": {Backend: "parse_tool_call_result_op", Params: func(into any) error {
			into.(*ops.ParseParams).MaxHistory = keep
			return nil
		}},
		"summary_tool_memory_op": {Backend: "summary_tool_memory_op", Params: func(into any) error {
			into.(*ops.SummaryParams).RecentCallCount = 2
			return nil
		}},
		"vector_store_op": {Backend: "vector_store_op", Params: func(into any) error {
			into.(*ops.VectorStoreParams).DumpDir = t.TempDir()
			return nil
		}},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

func item(tool, output string) ops.Item {
	return ops.Item{Call: memoryd.Call{
		ToolRef: memoryd.ToolRef{Tool: tool}, Input: json.RawMessage(`{"a":1}`), Output: output, Success: true, TokenCost: -1,
	}}
}

func record(items ...ops.Item) ops.RecordRequest {
	return ops.RecordRequest{Workspace: "w", RequestKey: "server:" + freshKey(), Items: items, WholeHistory: true}
}

var keys int

// freshKey is a request key that no other request of these tests has.
func freshKey() string { keys++; return fmt.Sprint(keys) }

// mustRun runs a flow that shall not fail.
func mustRun[In, Out any](t *testing.T, f *ops.Flow[In, Out], in In) Out {
	t.Helper()
	out, err := f.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func named(tools ...string) ops.NamesRequest {
	return ops.NamesRequest{Workspace: "w", Tools: tools}
}

func TestItemsAreGroupedByToolInOrderOfFirstAppearance(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	rec := mustRun(t, &h.AddToolCallResult, record(item("b", "1"), item("a", "2"), item("b", "later 3"), item("a", "never 4")))
	want := `Processed 2 tool(s): 0 updated, 2 newly created

[New] b
  Total calls: 2
  Recent calls: 2/2 successful, avg score: 1.00

[New] a
  Total calls: 2
  Recent calls: 2/2 successful, avg score: 1.00
  Pending: 1 call(s) not judged yet

Deduplication Summary:
  Total new calls: 4
  Added: 4
  Deduplicated: 0`
	if rec.Answer != want {
		t.Errorf("got  %s\nwant %s", rec.Answer, want)
	}
	if h.judge.awaited != 2 {
		t.Errorf("%d calls were awaited, want the 2 that rules left", h.judge.awaited)
	}
	if n := rec.Memories[1].Statistics.PendingCalls; n != 1 {
		t.Errorf("%d pending calls, want 1", n)
	}
}

func TestRefusalsOfAnAdd(t *testing.T) {
	bad := ops.Item{Reason: "output: Input should be a valid string"}
	bad.Call.Tool = "t"
	long := item(strings.Repeat("n", 1025), "o")
	negative := item("t", "o")
	negative.Call.TimeCost = -1
	odd := item("t", "o")
	odd.Call.CreateTime = "yesterday"
	tests := map[string]struct {
		items  []ops.Item
		answer string
	}{
		"no item":         {nil, "No valid tool_call_results"},
		"no tool name":    {[]ops.Item{item("", "o"), item(" ", "p")}, "tool_name is required"},
		"all are invalid": {[]ops.Item{bad, long, negative, odd}, "All 4 tool_call_results were invalid and filtered out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, mem.New(), 10)
			_, err := h.AddToolCallResult.Run(t.Context(), record(tc.items...))
			refusal, ok := errors.AsType[*ops.Refusal](err)
			if !ok || refusal.Answer != tc.answer {
				t.Errorf("got %v, want %q", err, tc.answer)
			}
		})
	}
}

func TestLongTextsAreCutAndMarked(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	long := item("t", strings.Repeat("é", 1000))
	long.Call.Input = json.RawMessage(`{"a":"` + strings.Repeat("x", 2000) + `"}`)
	long.Call.Metadata = json.RawMessage(`{"k":1}`)
	rec := mustRun(t, &h.AddToolCallResult, record(long))
	c := rec.Memories[0].Calls[0]
	if len(c.Output) != 1024 || !strings.HasPrefix(string(c.Input), `"{\"a\"`) || !json.Valid(c.Input) {
		t.Errorf("output has %d bytes, input is %.20s", len(c.Output), c.Input)
	}
	var meta map[string]int
	if err := json.Unmarshal(c.Metadata, &meta); err != nil || meta["output_cut_from"] != 2000 || meta["input_cut_from"] != 2008 || meta["k"] != 1 {
		t.Errorf("metadata %s", c.Metadata)
	}
	if c.Hash != memoryd.HashOf(long.Call.Input, long.Call.Output) {
		t.Error("the hash is not that of the whole call")
	}
}

func TestACallSentAgainShowsTheVerdictThatItHas(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	first := item("t", "later x")
	first.Call.CreateTime = "2025-01-01 00:00:00"
	mustRun(t, &h.AddToolCallResult, record(first))
	again := record(first)
	again.WholeHistory = false
	rec := mustRun(t, &h.AddToolCallResult, again)
	if !strings.Contains(rec.Answer, "Added: 0\n  Deduplicated: 1") {
		t.Errorf("answer %q", rec.Answer)
	}
	if calls := rec.Memories[0].Calls; len(calls) != 1 || calls[0].Evaluation.JudgedBy != "llm:m" {
		t.Errorf("got %+v", calls)
	}
	if len(rec.Existed) != 1 || h.judge.awaited != 1 {
		t.Errorf("%d memories existed, %d calls awaited", len(rec.Existed), h.judge.awaited)
	}
}

func TestASummaryIsSkippedWhileNothingIsNew(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	mustRun(t, &h.AddToolCallResult, record(item("t", "1")))
	names := func(force bool) ops.NamesRequest {
		r := named("t", "nobody", "t", " ")
		r.Force = force
		return r
	}
	first := mustRun(t, &h.SummaryToolMemory, names(false))
	if first.Summarised != 1 || first.Memories[0].Tool.Guideline.Content != written(1, 2).Render() {
		t.Errorf("got %+v", first)
	}
	if len(first.Unknown) != 1 || !strings.Contains(first.Answer, "1 summarized, 0 skipped\n\nTool: t\n## Core Function") {
		t.Errorf("unknown names %v, answer %q", first.Unknown, first.Answer)
	}
	second := mustRun(t, &h.SummaryToolMemory, names(false))
	if second.Skipped != 1 || h.author.writes != 1 {
		t.Errorf("skipped %d, written %d times", second.Skipped, h.author.writes)
	}
	mustRun(t, &h.SummaryToolMemory, names(true))
	mustRun(t, &h.AddToolCallResult, record(item("t", "2")))
	mustRun(t, &h.SummaryToolMemory, names(false))
	if h.author.writes != 3 {
		t.Errorf("written %d times, want 3: first, forced, after a new call", h.author.writes)
	}
}

func TestAFailedSynthesisKeepsTheOldGuideline(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	mustRun(t, &h.AddToolCallResult, record(item("t", "1"), item("u", "1")))
	mustRun(t, &h.SummaryToolMemory, named("t"))
	mustRun(t, &h.AddToolCallResult, record(item("t", "2")))
	h.author.err = errors.New("secret detail of the model")
	sum := mustRun(t, &h.SummaryToolMemory, named("t"))
	if sum.Success || len(sum.Failed) != 1 || strings.Contains(sum.Answer, "secret") {
		t.Errorf("got %+v", sum)
	}
	if n := strings.Count(h.log.String(), "cannot write a guideline"); n != 1 {
		t.Errorf("%d causes in the log, want 1", n)
	}
	tool, err := h.store.Tool(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "t"})
	if err != nil || tool.Guideline.Content != written(1, 2).Render() || tool.Guideline.Revision != 1 {
		t.Errorf("guideline %+v, %v", tool.Guideline, err)
	}
}

func TestASlowSummaryDoesNotOverwriteANewerOne(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	mustRun(t, &h.AddToolCallResult, record(item("t", "1")))
	ref := memoryd.ToolRef{Workspace: "w", Tool: "t"}
	h.author.during = func() {
		h.author.during = nil
		mustRun(t, &h.AddToolCallResult, record(item("t", "2")))
		mustRun(t, &h.SummaryToolMemory, named("t"))
	}
	mustRun(t, &h.SummaryToolMemory, named("t"))
	tool, err := h.store.Tool(t.Context(), ref)
	if err != nil || tool.Guideline.Content != written(2, 2).Render() {
		t.Errorf("guideline %q, %v", tool.Guideline.Content, err)
	}
}

func TestRetrieveAnswersInTheOrderAskedWithinItsBudget(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	mustRun(t, &h.AddToolCallResult, record(item("a", "1"), item("b", "1"), item("b", "2")))
	mustRun(t, &h.SummaryToolMemory, named("b"))
	req := named("b", "a")
	req.RecentCalls = 1
	got := mustRun(t, &h.RetrieveToolMemory, req)
	want := "Retrieved 2 tool memory(ies):\n\nTool: b\n" + written(2, 2).Render() + "\n\n---\n\nTool: a\nNo guideline yet: 1 call(s) recorded, not summarised."
	if got.Answer() != want {
		t.Errorf("got  %s\nwant %s", got.Answer(), want)
	}
	if n := len(got.Memories[0].Calls); n != 1 {
		t.Errorf("%d calls shown, want 1", n)
	}
	req = named("b", "a")
	req.MaxTokens = 20
	got = mustRun(t, &h.RetrieveToolMemory, req)
	if !strings.HasSuffix(got.Answer(), "[cut to fit max_tokens]") || len(got.Answer()) > 80 {
		t.Errorf("%d characters: %q", len(got.Answer()), got.Answer())
	}
}

func TestNamesThatLeadNowhereAreRefused(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	for answer, names := range map[string][]string{
		"tool_names is required": {"", " "}, "No matching tool memories found": {"x"},
	} {
		_, summary := h.SummaryToolMemory.Run(t.Context(), named(names...))
		_, retrieve := h.RetrieveToolMemory.Run(t.Context(), named(names...))
		for _, err := range []error{summary, retrieve} {
			if refusal, ok := errors.AsType[*ops.Refusal](err); !ok || refusal.Answer != answer {
				t.Errorf("%q: %v", names, err)
			}
		}
	}
}

func TestAStoreThatFailsFailsTheRequest(t *testing.T) {
	down := memoryd.Errorf(memoryd.Unavailable, "the store is down")
	for _, method := range []string{"Append", "Described", "ListCalls"} {
		faults := storetest.NewFaults(mem.New(), nil)
		h := newFixture(t, faults, 10)
		faults.Fail = func(m string, _ storetest.Stage) error {
			if m == method {
				return down
			}
			return nil
		}
		if _, err := h.AddToolCallResult.Run(t.Context(), record(item("t", "1"))); !memoryd.IsKind(err, memoryd.Unavailable) {
			t.Errorf("%s fails, the request says %v", method, err)
		}
	}
}

// Nobody who does not wait is kept waiting by what is read for an answer: over a network,
// that costs more than recording.
func TestARequestThatDoesNotWaitReadsNothing(t *testing.T) {
	faults := storetest.NewFaults(mem.New(), nil)
	h := newFixture(t, faults, 10)
	if _, err := h.AddToolCallResult.Run(t.Context(), record(item("t", "0"), item("u", "0"))); err != nil {
		t.Fatal(err) // from then on their names are known
	}
	faults.Fail = func(m string, _ storetest.Stage) error {
		if m == "Append" {
			return nil
		}
		return memoryd.Errorf(memoryd.Unavailable, "%s is down", m)
	}
	r := record(item("t", "1"), item("u", "1"), item("t", "1"))
	r.Async, r.WholeHistory = true, false
	got, err := h.AddToolCallResult.Run(t.Context(), r)
	if err != nil || got.Added == 0 || len(got.Memories) != 2 || len(got.Memories[1].Calls) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAnEndedContextStopsBetweenTwoOps(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("client went away"))
	h := newFixture(t, mem.New(), 10)
	_, err := h.AddToolCallResult.Run(ctx, record(item("t", "1")))
	if err == nil || !strings.Contains(err.Error(), "client went away") {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerHoldsUntilOneOfItsToolsChanges(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	mustRun(t, &h.AddToolCallResult, record(item("mcp__a__x", "1"), item("b", "2")))
	ask := func(tools ...string) *ops.Retrieved { return mustRun(t, &h.RetrieveToolMemory, named(tools...)) }
	both, other := ask("mcp__a__x", "b"), ask("mcp__a__x")
	if !both.Holds(t.Context()) || !other.Holds(t.Context()) {
		t.Error("nothing changed, but an answer holds no more")
	}
	mustRun(t, &h.AddToolCallResult, record(item("b", "3")))
	if both.Holds(t.Context()) || !other.Holds(t.Context()) {
		t.Error("a call was added to one of the tools")
	}
	mustRun(t, &h.SummaryToolMemory, named("mcp__a__x"))
	if other.Holds(t.Context()) {
		t.Error("a guideline was written")
	}
	whole, short := named("b"), named("b")
	whole.WholeHistory, short.MaxTokens = true, 100
	for name, r := range map[string]*ops.Retrieved{
		"with an unknown tool": ask("b", "unknown"), "by another name": ask("mcp_a_x"), "with calls": mustRun(t, &h.RetrieveToolMemory, whole),
		"within a budget": mustRun(t, &h.RetrieveToolMemory, short),
	} {
		if r.Holds(t.Context()) {
			t.Errorf("an answer %s may change without a change to its tools", name)
		}
	}
	left := ask("mcp__a__x", "b")
	if err := h.store.DeleteTool(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "b"}); err != nil {
		t.Fatal(err)
	}
	if left.Holds(t.Context()) {
		t.Error("a tool was deleted")
	}
}

// A judge gives equal calls what a person said of one.
func TestAWithdrawnCorrectionIsNoVerdictOfTheJudge(t *testing.T) {
	f := newFixture(t, mem.New(), 10)
	done, err := f.AddToolCallResult.Run(t.Context(), record(item("t", "o")))
	if err != nil {
		t.Fatal(err)
	}
	call := ops.GetCall{ToolRef: done.Calls[0].ToolRef, Key: done.Calls[0].Key}
	if c, err := f.CorrectCall.Run(t.Context(), ops.CorrectCall{ToolRef: call.ToolRef, Key: call.Key}); err != nil || c.Call.Evaluation.Score != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	if c, err := f.WithdrawCorrection.Run(t.Context(), ops.Withdraw(call)); err != nil || c.Call.Evaluation.Score != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}
