package ops_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/ops"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

// judge is a scripted judge: outputs that start with "later" stay pending until
// Await, those that start with "never" stay pending for good.
type judge struct {
	store   store.Store
	awaited int
}

func (j *judge) Prejudge(_ context.Context, calls []memoryd.Call) {
	for i := range calls {
		if !strings.HasPrefix(calls[i].Output, "later") && !strings.HasPrefix(calls[i].Output, "never") {
			calls[i].Evaluation = verdict("rules")
		}
	}
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
	return &guidelines.Document{Author: "rules", Statistics: fmt.Sprintf("%d calls, %d recent", calls, recent)}
}

var noon = time.Date(2025, 1, 1, 12, 0, 0, 0, time.Local)

// house is the pipelines over a store, as the program wires them.
type house struct {
	store  store.Store
	judge  *judge
	author *author
	noted  []error

	add, summary, retrieve ops.Pipeline
}

func newHouse(t *testing.T, s store.Store, keep int) *house {
	t.Helper()
	h := &house{store: s, judge: &judge{store: s}, author: &author{}}
	reader := ops.MemoryReader{Store: s, Recent: 2}
	load := ops.LoadToolMemory{Store: s}
	curator := &revisions.Manager{Store: s, Composer: h.author, Recent: 2, Config: revisions.DefaultConfig(), Now: time.Now}
	h.add = ops.Pipeline{Label: "add", Ops: []ops.Op{
		ops.ValidateToolCallResult{Limits: ops.Limits{MaxTextBytes: 1024}, Now: func() time.Time { return noon }},
		ops.ParseToolCallResult{Params: ops.ParseParams{MaxHistory: keep}, Wait: time.Second, Judge: h.judge, Store: s, Reader: reader},
	}}
	h.summary = ops.Pipeline{Label: "summary", Ops: []ops.Op{load, ops.SummaryToolMemory{
		Params: ops.SummaryParams{RecentCallCount: 2}, Reader: reader,
		Curator: curator,
		Note:    func(_ context.Context, _ memoryd.ToolRef, err error) { h.noted = append(h.noted, err) },
	}}}
	h.retrieve = ops.Pipeline{Label: "retrieve", Ops: []ops.Op{load, ops.RetrieveToolMemory{Reader: reader, Shelf: curator}}}
	return h
}

func item(tool, output string) ops.Item {
	return ops.Item{Call: memoryd.Call{
		ToolRef: memoryd.ToolRef{Tool: tool}, Input: json.RawMessage(`{"a":1}`), Output: output, Success: true, TokenCost: -1,
	}}
}

func record(items ...ops.Item) *ops.State {
	return &ops.State{Workspace: "w", Record: ops.Record{RequestKey: "server:" + freshKey(), Items: items, WholeHistory: true}}
}

var keys int

// freshKey is a request key that no other request of these tests has.
func freshKey() string { keys++; return fmt.Sprint(keys) }

func run(t *testing.T, p ops.Pipeline, st *ops.State) error {
	t.Helper()
	return p.Run(t.Context(), st)
}

func mustRun(t *testing.T, p ops.Pipeline, st *ops.State) {
	t.Helper()
	if err := run(t, p, st); err != nil {
		t.Fatal(err)
	}
}

func TestItemsAreGroupedByToolInOrderOfFirstAppearance(t *testing.T) {
	h := newHouse(t, mem.New(), 10)
	st := record(item("b", "1"), item("a", "2"), item("b", "later 3"), item("a", "never 4"))
	mustRun(t, h.add, st)
	want := "Processed 2 tool(s): b: 2 call(s) added, 2 judged; a: 2 call(s) added, 1 judged, 1 pending"
	if st.Result.Answer != want {
		t.Errorf("got  %s\nwant %s", st.Result.Answer, want)
	}
	if h.judge.awaited != 2 {
		t.Errorf("%d calls were awaited, want the 2 that rules left", h.judge.awaited)
	}
	if n := st.Result.Memories[1].Statistics.PendingCalls; n != 1 {
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
			h := newHouse(t, mem.New(), 10)
			err := run(t, h.add, record(tc.items...))
			refusal, ok := errors.AsType[*ops.Refusal](err)
			if !ok || refusal.Answer != tc.answer {
				t.Errorf("got %v, want %q", err, tc.answer)
			}
		})
	}
}

func TestLongTextsAreCutAndMarked(t *testing.T) {
	h := newHouse(t, mem.New(), 10)
	long := item("t", strings.Repeat("é", 1000))
	long.Call.Input = json.RawMessage(`{"a":"` + strings.Repeat("x", 2000) + `"}`)
	long.Call.Metadata = json.RawMessage(`{"k":1}`)
	st := record(long)
	mustRun(t, h.add, st)
	c := st.Result.Memories[0].Calls[0]
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
	h := newHouse(t, mem.New(), 10)
	first := item("t", "later x")
	first.Call.CreateTime = "2025-01-01 00:00:00"
	mustRun(t, h.add, record(first))
	st := record(first)
	st.Record.WholeHistory = false
	mustRun(t, h.add, st)
	if !strings.Contains(st.Result.Answer, "0 call(s) added, 0 judged, 1 known already") {
		t.Errorf("answer %q", st.Result.Answer)
	}
	if calls := st.Result.Memories[0].Calls; len(calls) != 1 || calls[0].Evaluation.JudgedBy != "llm:m" {
		t.Errorf("got %+v", calls)
	}
	if st.Result.Changed != 0 || h.judge.awaited != 1 {
		t.Errorf("%d memories changed, %d calls awaited", st.Result.Changed, h.judge.awaited)
	}
}

func TestASummaryIsSkippedWhileNothingIsNew(t *testing.T) {
	h := newHouse(t, mem.New(), 10)
	mustRun(t, h.add, record(item("t", "1")))
	names := func(force bool) *ops.State {
		return &ops.State{Workspace: "w", Names: ops.Names{Tools: []string{"t", "nobody", "t", " "}, Force: force}}
	}
	first := names(false)
	mustRun(t, h.summary, first)
	if first.Result.Summarised != 1 || first.Result.Memories[0].Tool.Guideline.Content != written(1, 2).Render() {
		t.Errorf("got %+v", first.Result)
	}
	if len(first.Result.Unknown) != 1 || !strings.Contains(first.Result.Answer, "unknown: nobody") {
		t.Errorf("unknown names %v, answer %q", first.Result.Unknown, first.Result.Answer)
	}
	second := names(false)
	mustRun(t, h.summary, second)
	if second.Result.Skipped != 1 || h.author.writes != 1 {
		t.Errorf("skipped %d, written %d times", second.Result.Skipped, h.author.writes)
	}
	mustRun(t, h.summary, names(true))
	mustRun(t, h.add, record(item("t", "2")))
	mustRun(t, h.summary, names(false))
	if h.author.writes != 3 {
		t.Errorf("written %d times, want 3: first, forced, after a new call", h.author.writes)
	}
}

func TestAFailedSynthesisKeepsTheOldGuideline(t *testing.T) {
	h := newHouse(t, mem.New(), 10)
	mustRun(t, h.add, record(item("t", "1"), item("u", "1")))
	st := &ops.State{Workspace: "w", Names: ops.Names{Tools: []string{"t"}}}
	mustRun(t, h.summary, st)
	mustRun(t, h.add, record(item("t", "2")))
	h.author.err = errors.New("secret detail of the model")
	st = &ops.State{Workspace: "w", Names: ops.Names{Tools: []string{"t"}}}
	mustRun(t, h.summary, st)
	if st.Result.Success || len(st.Result.Failed) != 1 || strings.Contains(st.Result.Answer, "secret") {
		t.Errorf("got %+v", st.Result)
	}
	if len(h.noted) != 1 {
		t.Errorf("%d causes noted for the log, want 1", len(h.noted))
	}
	tool, err := h.store.Tool(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "t"})
	if err != nil || tool.Guideline.Content != written(1, 2).Render() || tool.Guideline.Revision != 1 {
		t.Errorf("guideline %+v, %v", tool.Guideline, err)
	}
}

func TestASlowSummaryDoesNotOverwriteANewerOne(t *testing.T) {
	h := newHouse(t, mem.New(), 10)
	mustRun(t, h.add, record(item("t", "1")))
	ref := memoryd.ToolRef{Workspace: "w", Tool: "t"}
	h.author.during = func() {
		h.author.during = nil
		mustRun(t, h.add, record(item("t", "2")))
		mustRun(t, h.summary, &ops.State{Workspace: "w", Names: ops.Names{Tools: []string{"t"}}})
	}
	mustRun(t, h.summary, &ops.State{Workspace: "w", Names: ops.Names{Tools: []string{"t"}}})
	tool, err := h.store.Tool(t.Context(), ref)
	if err != nil || tool.Guideline.Content != written(2, 2).Render() {
		t.Errorf("guideline %q, %v", tool.Guideline.Content, err)
	}
}

func TestRetrieveAnswersInTheOrderAskedWithinItsBudget(t *testing.T) {
	h := newHouse(t, mem.New(), 10)
	mustRun(t, h.add, record(item("a", "1"), item("b", "1"), item("b", "2")))
	mustRun(t, h.summary, &ops.State{Workspace: "w", Names: ops.Names{Tools: []string{"b"}}})
	st := &ops.State{Workspace: "w", Names: ops.Names{Tools: []string{"b", "a"}, RecentCalls: 1}}
	mustRun(t, h.retrieve, st)
	want := "Retrieved 2 tool memory(ies):\n\nTool: b\n" + written(2, 2).Render() + "\n\n---\n\nTool: a\nNo guideline yet: 1 call(s) recorded, not summarised."
	if st.Result.Answer != want {
		t.Errorf("got  %s\nwant %s", st.Result.Answer, want)
	}
	if n := len(st.Result.Memories[0].Calls); n != 1 {
		t.Errorf("%d calls shown, want 1", n)
	}
	st = &ops.State{Workspace: "w", Names: ops.Names{Tools: []string{"b", "a"}, MaxTokens: 20}}
	mustRun(t, h.retrieve, st)
	if !strings.HasSuffix(st.Result.Answer, "[cut to fit max_tokens]") || len(st.Result.Answer) > 80 {
		t.Errorf("%d characters: %q", len(st.Result.Answer), st.Result.Answer)
	}
}

func TestNamesThatLeadNowhereAreRefused(t *testing.T) {
	h := newHouse(t, mem.New(), 10)
	for answer, names := range map[string][]string{
		"tool_names is required": {"", " "}, "No matching tool memories found": {"x"},
	} {
		for _, p := range []ops.Pipeline{h.summary, h.retrieve} {
			err := run(t, p, &ops.State{Workspace: "w", Names: ops.Names{Tools: names}})
			if refusal, ok := errors.AsType[*ops.Refusal](err); !ok || refusal.Answer != answer {
				t.Errorf("%s of %q: %v", p.Label, names, err)
			}
		}
	}
}

func TestAStoreThatFailsFailsTheRequest(t *testing.T) {
	down := memoryd.Errorf(memoryd.Unavailable, "the store is down")
	for _, method := range []string{"Append", "Tool", "Samples", "History"} {
		faults := storetest.NewFaults(mem.New(), nil)
		h := newHouse(t, faults, 10)
		faults.Fail = func(m string, _ storetest.Stage) error {
			if m == method {
				return down
			}
			return nil
		}
		if err := run(t, h.add, record(item("t", "1"))); !memoryd.IsKind(err, memoryd.Unavailable) {
			t.Errorf("%s fails, the request says %v", method, err)
		}
	}
}

func TestAnEndedContextStopsBetweenTwoOps(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("client went away"))
	h := newHouse(t, mem.New(), 10)
	err := h.add.Run(ctx, record(item("t", "1")))
	if err == nil || !strings.Contains(err.Error(), "client went away") {
		t.Errorf("got %v", err)
	}
}
