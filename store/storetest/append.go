package storetest

import (
	"math"
	"slices"
	"strings"

	"memoryd"
	"memoryd/store"
)

func appendCases() []testCase {
	return []testCase{
		{name: "calls are numbered and kept in order", run: func(e *env) {
			calls := makeCalls("t", 1, 5)
			got := e.append(100, calls...)
			for i, a := range got {
				want := store.Appended{New: true, FirstOfTool: true, Seq: int64(i) + 1}
				if a != want {
					e.Errorf("call %d: got %+v, want %+v", i, a, want)
				}
			}
			if a := e.append(100, makeCall("t", 6))[0]; a != (store.Appended{New: true, Seq: 6}) {
				e.Errorf("sixth call: got %+v", a)
			}
			e.wantHistory(ref("t"), 1, append(calls, makeCall("t", 6))...)
		}},
		{name: "a batch may hold several tools", run: func(e *env) {
			a, b := makeCalls("a", 1, 2), makeCalls("b", 1, 2)
			got := e.append(100, a[0], b[0], a[1], b[1])
			for i, want := range []int64{1, 1, 2, 2} {
				if got[i].Seq != want {
					e.Errorf("call %d has number %d, want %d", i, got[i].Seq, want)
				}
			}
			e.wantHistory(ref("a"), 1, a...)
			e.wantHistory(ref("b"), 1, b...)
		}},
		{name: "an empty batch does nothing", run: func(e *env) {
			e.append(100)
			if ws, err := e.s.ListWorkspaces(e.Context(), "", 10); err != nil || len(ws) != 0 {
				e.Errorf("got workspaces %q, %v", ws, err)
			}
		}},
		{name: "a batch sent twice is accepted once", run: func(e *env) {
			calls := makeCalls("t", 1, 3)
			e.append(100, calls...)
			for i, a := range e.append(100, calls...) {
				if a != (store.Appended{}) {
					e.Errorf("call %d again: got %+v", i, a)
				}
			}
			e.wantHistory(ref("t"), 1, calls...)
			if got := e.tool(ref("t")).Counters; got != (memoryd.Counters{Lifetime: 3}) {
				e.Errorf("got %+v", got)
			}
		}},
		{name: "a call twice in one batch is accepted once", run: func(e *env) {
			c := makeCall("t", 1)
			got := e.append(100, c, c)
			if !got[0].New || got[1].New || got[1].Seq != 0 || got[1].Repeat {
				e.Errorf("got %+v", got)
			}
			e.wantHistory(ref("t"), 1, c)
		}},
		{name: "a key is remembered after its call was let go", run: func(e *env) {
			e.append(2, makeCalls("t", 1, 5)...)
			for i, a := range e.append(2, makeCalls("t", 1, 5)...) {
				if a.New {
					e.Errorf("call %d was accepted again", i+1)
				}
			}
			e.wantHistory(ref("t"), 4, makeCalls("t", 4, 5)...)
		}},
		{name: "a key counts within its workspace only", run: func(e *env) {
			c := makeCall("t", 1)
			e.append(100, c)
			c.Workspace = "other"
			got, err := e.s.Append(e.Context(), store.Batch{Workspace: "other", Calls: []memoryd.Call{c}, Keep: 9})
			if err != nil || !got[0].New {
				e.Errorf("got %+v, %v", got, err)
			}
		}},
		{name: "a call without a workspace takes its batch's", run: func(e *env) {
			c := makeCall("t", 1)
			c.Workspace = ""
			e.append(100, c)
			e.wantHistory(ref("t"), 1, makeCall("t", 1))
		}},
		{name: "a refused call refuses its whole batch", run: refusedBatch},
		{name: "batches that can never work are invalid", run: invalidBatches},
		{name: "text is kept byte for byte", run: exactText},
	}
}

func refusedBatch(e *env) {
	e.append(100, makeCall("a", 1))
	bad := makeCall("c", 1)
	bad.Key = memoryd.CallKey{}
	_, err := e.s.Append(e.Context(), store.Batch{
		Workspace: space, Keep: 100, Calls: []memoryd.Call{makeCall("a", 2), makeCall("b", 1), bad},
	})
	e.wantKind(err, memoryd.Invalid)
	e.wantHistory(ref("a"), 1, makeCall("a", 1))
	_, err = e.s.Tool(e.Context(), ref("b"))
	e.wantKind(err, memoryd.NotFound)
	if a := e.append(100, makeCall("a", 2))[0]; !a.New || a.Seq != 2 {
		e.Errorf("the refused batch left its mark: %+v", a)
	}
}

func invalidBatches(e *env) {
	change := map[string]func(b *store.Batch){
		"no workspace":          func(b *store.Batch) { b.Workspace = "" },
		"long workspace":        func(b *store.Batch) { b.Workspace = strings.Repeat("x", memoryd.MaxNameBytes+1) },
		"broken workspace":      func(b *store.Batch) { b.Workspace = "\xff" },
		"no tool":               func(b *store.Batch) { b.Calls[0].Tool = "" },
		"long tool":             func(b *store.Batch) { b.Calls[0].Tool = strings.Repeat("x", memoryd.MaxNameBytes+1) },
		"broken tool":           func(b *store.Batch) { b.Calls[0].Tool = "a\xc3" },
		"no key":                func(b *store.Batch) { b.Calls[0].Key = memoryd.CallKey{} },
		"foreign call":          func(b *store.Batch) { b.Calls[0].Workspace = "elsewhere" },
		"no state":              func(b *store.Batch) { b.Calls[0].Evaluation.State = "" },
		"keep nothing":          func(b *store.Batch) { b.Keep = 0 },
		"time not a number":     func(b *store.Batch) { b.Calls[0].TimeCost = math.NaN() },
		"score is not a number": func(b *store.Batch) { b.Calls[0].Evaluation.Score = math.NaN() },
	}
	for name, f := range change {
		b := store.Batch{Workspace: space, Calls: makeCalls("t", 1, 1), Keep: 5}
		f(&b)
		if _, err := e.s.Append(e.Context(), b); !memoryd.IsKind(err, memoryd.Invalid) {
			e.Errorf("%s: got %v, want invalid", name, err)
		}
	}
	if ws, err := e.s.ListWorkspaces(e.Context(), "", 10); err != nil || len(ws) != 0 {
		e.Errorf("something was stored: %q, %v", ws, err)
	}
}

func exactText(e *env) {
	texts := map[string]string{
		"empty":      "",
		"nul":        "a\x00b\x00",
		"only nul":   "\x00",
		"broken":     "\xff\xfe\xed\xa0\x80 tail",
		"astral":     "😀 \u202e e\u0301 é \ufeff",
		"quotes":     `'"; DROP TABLE calls; --`,
		"white":      " \r\n\t ",
		"large":      strings.Repeat("0123456789abcdef", 1<<16),
		"large line": strings.Repeat("\x00é", 300_000),
	}
	var want []memoryd.Call
	for i, name := range slices.Sorted(keysOf(texts)) {
		c := makeCall("t", i)
		text := texts[name]
		c.Output, c.CreateTime, c.Hash = text, text, text
		c.Evaluation.Summary, c.Evaluation.Evaluation = text, text
		c.Evaluation.JudgedBy, c.Evaluation.LastError = text, text
		want = append(want, c)
	}
	bare := memoryd.Call{ToolRef: ref("t"), Key: memoryd.CallKey{1}, Evaluation: memoryd.PendingEvaluation(), TokenCost: -1}
	bare.Hash = "h"
	want = append(want, bare)
	e.append(100, want...)
	e.wantHistory(ref("t"), 1, want...)
}
