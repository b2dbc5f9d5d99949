package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"
)

// space is the workspace of tests that need only one.
const space = "w"

// base is the instant that fixtures count from, in a zone other than UTC.
var base = time.Date(2026, 3, 4, 5, 6, 7, 890123000, time.FixedZone("", 2*3600))

// makeCall makes the n-th call of a tool: judged, every field set, and with an
// input and an output of its own.
func makeCall(tool string, n int) memoryd.Call {
	c := memoryd.Call{
		ToolRef:    memoryd.ToolRef{Workspace: space, Tool: tool},
		Input:      json.RawMessage(fmt.Sprintf(`{"n": %d, "q":"é"}`, n)),
		Output:     fmt.Sprintf("output %d", n),
		Success:    n%3 != 0,
		TimeCost:   0.25 * float64(n),
		TokenCost:  int64(n) - 1,
		CreateTime: base.Add(time.Duration(n) * time.Second).Format(time.DateTime),
		Time:       base.Add(time.Duration(n) * time.Second),
		Metadata:   json.RawMessage(fmt.Sprintf(`{"tool_call_id":"c%d"}`, n)),
		Evaluation: makeVerdict(n),
	}
	return identify(c)
}

// identify gives the call the key and the hash that follow from its content.
func identify(c memoryd.Call) memoryd.Call {
	c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime}.Key()
	c.Hash = memoryd.HashOf(c.Input, c.Output)
	return c
}

func makeVerdict(n int) memoryd.Evaluation {
	return memoryd.Evaluation{
		State: memoryd.Judged, Score: float64(n%3) / 2,
		Summary: fmt.Sprintf("summary %d", n), Evaluation: fmt.Sprintf("because %d", n),
		JudgedBy: "llm:tiny", Rule: "r1", JudgeVersion: "v1", JudgedAt: base.Add(time.Hour),
		FailedChecks: fmt.Sprintf("right_tool check_%d", n),
		Cost:         memoryd.Cost{Requests: 0.25, PromptTokens: int64(100 + n), CompletionTokens: 7},
	}
}

// makePending is makeCall, waiting for its judge.
func makePending(tool string, n int) memoryd.Call {
	c := makeCall(tool, n)
	c.Evaluation = memoryd.PendingEvaluation()
	return c
}

// makeCalls makes calls from..to of a tool.
func makeCalls(tool string, from, to int) []memoryd.Call {
	var out []memoryd.Call
	for n := from; n <= to; n++ {
		out = append(out, makeCall(tool, n))
	}
	return out
}

func ref(tool string) memoryd.ToolRef { return memoryd.ToolRef{Workspace: space, Tool: tool} }

// append stores calls and fails the test when the store does.
func (e *env) append(keep int, calls ...memoryd.Call) []store.Appended {
	e.Helper()
	out, err := e.s.Append(e.Context(), store.Batch{Workspace: space, Calls: calls, Keep: keep})
	if err != nil {
		e.Fatalf("append: %v", err)
	}
	if len(out) != len(calls) {
		e.Fatalf("append answered for %d of %d calls", len(out), len(calls))
	}
	return out
}

func (e *env) history(r memoryd.ToolRef, limit int) []memoryd.Call {
	e.Helper()
	out, err := e.s.History(e.Context(), r, limit)
	if err != nil {
		e.Fatalf("history: %v", err)
	}
	return out
}

func (e *env) tool(r memoryd.ToolRef) memoryd.Tool {
	e.Helper()
	out, err := e.s.Tool(e.Context(), r)
	if err != nil {
		e.Fatalf("tool: %v", err)
	}
	return out
}

// samples are those of a tool; an unknown one has none.
func (e *env) samples(r memoryd.ToolRef) []memoryd.Sample {
	e.Helper()
	d, err := e.s.Described(e.Context(), r)
	if err := memoryd.Except(err, memoryd.NotFound); err != nil {
		e.Fatalf("samples: %v", err)
	}
	return d.Samples
}

// wantHistory checks the kept calls; wanted calls are numbered from first.
func (e *env) wantHistory(r memoryd.ToolRef, first int64, want ...memoryd.Call) {
	e.Helper()
	want = slices.Clone(want)
	for i := range want {
		want[i].Seq = first + int64(i)
	}
	if d := diffCalls(e.history(r, 0), want); d != "" {
		e.Fatal(d)
	}
	if d := diffSamples(e.samples(r), want); d != "" {
		e.Fatal(d)
	}
}

// wantKind checks the kind of a failure.
func (e *env) wantKind(err error, kind memoryd.Kind) {
	e.Helper()
	if !memoryd.IsKind(err, kind) {
		e.Fatalf("got error %v, want kind %s", err, kind)
	}
}

// diffCalls says where two histories differ, "" when they do not. Instants are
// compared to the microsecond.
func diffCalls(got, want []memoryd.Call) string {
	if len(got) != len(want) {
		return fmt.Sprintf("got %d calls (seqs %v), want %d (seqs %v)", len(got), seqs(got), len(want), seqs(want))
	}
	for i := range got {
		g, w := plain(got[i]), plain(want[i])
		if !reflect.DeepEqual(g, w) {
			return fmt.Sprintf("call %d differs\ngot  %.2000s\nwant %.2000s", i, fmt.Sprintf("%+v", g), fmt.Sprintf("%+v", w))
		}
	}
	return ""
}

func diffSamples(got []memoryd.Sample, want []memoryd.Call) string {
	if len(got) != len(want) {
		return fmt.Sprintf("got %d samples, want %d", len(got), len(want))
	}
	for i := range got {
		if w := want[i].Sample(); got[i] != w {
			return fmt.Sprintf("sample %d: got %+v, want %+v", i, got[i], w)
		}
	}
	return ""
}

// diffTool compares all but Created and Modified, which are the store's clock.
func diffTool(got, want memoryd.Tool) string {
	for _, t := range []*memoryd.Tool{&got, &want} {
		t.Created, t.Modified = time.Time{}, time.Time{}
		t.Guideline.Written = instant(t.Guideline.Written)
	}
	if got != want {
		return fmt.Sprintf("tool differs\ngot  %+v\nwant %+v", got, want)
	}
	return ""
}

func diffEvaluation(got, want memoryd.Evaluation) string {
	if g, w := plainEvaluation(got), plainEvaluation(want); g != w {
		return fmt.Sprintf("evaluation differs\ngot  %+v\nwant %+v", g, w)
	}
	return ""
}

// plain gives equal calls an equal form.
func plain(c memoryd.Call) memoryd.Call {
	c.Time = instant(c.Time)
	c.Evaluation = plainEvaluation(c.Evaluation)
	return c
}

func plainEvaluation(e memoryd.Evaluation) memoryd.Evaluation {
	e.JudgedAt, e.NotBefore = instant(e.JudgedAt), instant(e.NotBefore)
	return e
}

func instant(t time.Time) time.Time { return t.Truncate(time.Microsecond).UTC() }

func seqs(calls []memoryd.Call) []int64 {
	var out []int64
	for i := range calls {
		out = append(out, calls[i].Seq)
	}
	return out
}
