package storetest

import (
	"iter"
	"maps"
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
			if !got[0].New || got[1].New || got[1].Seq != 0 {
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

func keysOf[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

func trimCases() []testCase {
	return []testCase{
		{name: "the oldest go first", run: func(e *env) {
			for n := 1; n <= 17; n++ {
				e.append(5, makeCall("t", n))
				first := max(1, n-4)
				e.wantHistory(ref("t"), int64(first), makeCalls("t", first, n)...)
			}
			got := e.tool(ref("t"))
			if got.Kept != 5 || got.Lifetime != 17 || got.Revision != 17 {
				e.Errorf("got %+v", got)
			}
		}},
		{name: "a batch larger than the history keeps its newest", run: func(e *env) {
			e.append(4, makeCalls("t", 1, 11)...)
			e.wantHistory(ref("t"), 8, makeCalls("t", 8, 11)...)
		}},
		{name: "a smaller keep trims", run: func(e *env) {
			e.append(10, makeCalls("t", 1, 13)...)
			e.append(4, makeCall("t", 14))
			e.wantHistory(ref("t"), 11, makeCalls("t", 11, 14)...)
			e.append(4, makeCalls("t", 15, 17)...)
			e.wantHistory(ref("t"), 14, makeCalls("t", 14, 17)...)
		}},
		{name: "a larger keep lets the history grow", run: func(e *env) {
			e.append(3, makeCalls("t", 1, 7)...)
			e.append(6, makeCall("t", 8))
			e.wantHistory(ref("t"), 5, makeCalls("t", 5, 8)...)
			e.append(6, makeCalls("t", 9, 12)...)
			e.wantHistory(ref("t"), 7, makeCalls("t", 7, 12)...)
		}},
		{name: "keep changes back and forth", run: func(e *env) {
			n := 0
			kept := 0
			for _, keep := range []int{3, 1, 5, 5, 2, 7, 7, 7, 7, 1, 1, 4} {
				e.append(keep, makeCalls("t", n+1, n+2)...)
				n += 2
				kept = min(kept+2, keep)
				e.wantHistory(ref("t"), int64(n-kept+1), makeCalls("t", n-kept+1, n)...)
			}
		}},
		{name: "a skipped call still trims its tool", run: func(e *env) {
			e.append(10, makeCalls("t", 1, 6)...)
			e.append(2, makeCall("t", 6))
			e.wantHistory(ref("t"), 5, makeCalls("t", 5, 6)...)
		}},
		{name: "one tool's calls do not push another's out", run: func(e *env) {
			e.append(3, makeCalls("a", 1, 3)...)
			e.append(3, makeCalls("b", 1, 9)...)
			e.wantHistory(ref("a"), 1, makeCalls("a", 1, 3)...)
		}},
		{name: "a pending call that goes is no longer pending", run: func(e *env) {
			e.append(2, makePending("t", 1), makePending("t", 2))
			e.append(2, makeCall("t", 3))
			if got := e.tool(ref("t")).Pending; got != 1 {
				e.Errorf("%d pending, want 1", got)
			}
			e.append(1, makeCall("t", 4))
			if got := e.tool(ref("t")).Pending; got != 0 {
				e.Errorf("%d pending, want 0", got)
			}
		}},
		{name: "calls of very different sizes take each other's place", run: func(e *env) {
			var want []memoryd.Call
			for n := 1; n <= 30; n++ {
				c := makeCall("t", n)
				c.Output = string(make([]byte, (n*7919)%9000))
				want = append(want, c)
				e.append(4, c)
			}
			e.wantHistory(ref("t"), 27, want[26:]...)
		}},
	}
}

func repeatCases() []testCase {
	// again is call 1 made at another time: equal input and output, another key.
	again := func(n int) memoryd.Call {
		c := makeCall("t", 1)
		c.CreateTime = makeCall("t", n).CreateTime
		return identify(c)
	}
	return []testCase{
		{name: "equal input and output at another time is a repeat", run: func(e *env) {
			e.append(100, makeCall("t", 1), makeCall("t", 2))
			if a := e.append(100, again(50))[0]; a != (store.Appended{New: true, Seq: 3}) {
				e.Errorf("got %+v", a)
			}
			got := e.tool(ref("t"))
			if got.Lifetime != 3 || got.Duplicates != 1 || got.Kept != 3 {
				e.Errorf("got %+v", got)
			}
		}},
		{name: "repeats within one batch are seen", run: func(e *env) {
			e.append(100, makeCall("t", 1), again(50), again(51), makeCall("t", 2))
			if d := e.tool(ref("t")).Duplicates; d != 2 {
				e.Errorf("%d duplicates, want 2", d)
			}
		}},
		{name: "a repeat of a call that was let go is seen", run: func(e *env) {
			e.append(2, makeCalls("t", 1, 6)...)
			e.append(2, again(50))
			if d := e.tool(ref("t")).Duplicates; d != 1 {
				e.Errorf("%d duplicates, want 1", d)
			}
		}},
		{name: "another tool's equal call is no repeat", run: func(e *env) {
			e.append(100, makeCall("t", 1))
			if a := e.append(100, makeCall("u", 1))[0]; !a.New {
				e.Errorf("got %+v", a)
			}
			if d := e.tool(ref("u")).Duplicates; d != 0 {
				e.Errorf("%d duplicates", d)
			}
		}},
		{name: "the same call sent again is no repeat", run: func(e *env) {
			e.append(100, makeCall("t", 1))
			e.append(100, makeCall("t", 1))
			if d := e.tool(ref("t")).Duplicates; d != 0 {
				e.Errorf("%d duplicates", d)
			}
		}},
	}
}
