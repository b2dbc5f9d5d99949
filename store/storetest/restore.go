package storetest

import (
	"slices"

	"memoryd"
	"memoryd/store"
)

// oldTool is a tool that has seen more than it keeps, with its calls.
func oldTool() (memoryd.Tool, []memoryd.Call) {
	calls := append(makeCalls("t", 41, 43), makePending("t", 44), makeCall("t", 45))
	for i := range calls {
		calls[i].Seq = int64(41 + i)
	}
	t := memoryd.Tool{
		ToolRef:  ref("t"),
		Counters: memoryd.Counters{Lifetime: 45, Duplicates: 4, Pending: 1},
		Kept:     5, Revision: 88, Created: at(-500), Modified: at(-400),
		Guideline: memoryd.Guideline{
			Revision: 3, Content: "old advice", Author: "rules", BasedOn: 70, ThroughSeq: 43, Written: at(-450),
		},
	}
	return t, calls
}

func (e *env) restore(t memoryd.Tool, calls []memoryd.Call) {
	e.Helper()
	if err := e.s.RestoreTool(e.Context(), t, calls); err != nil {
		e.Fatal(err)
	}
}

// wantTool compares a tool, its times included.
func (e *env) wantTool(want memoryd.Tool) {
	e.Helper()
	got := e.tool(want.ToolRef)
	if d := diffTool(got, want); d != "" {
		e.Error(d)
	}
	if !got.Created.Equal(instant(want.Created)) || !got.Modified.Equal(instant(want.Modified)) {
		e.Errorf("got times %v and %v", got.Created, got.Modified)
	}
}

func restoreCases() []testCase {
	return []testCase{
		{name: "a tool comes back as it was and goes on", run: func(e *env) {
			t, calls := oldTool()
			e.restore(t, calls)
			e.wantTool(t)
			e.wantHistory(t.ToolRef, 41, calls...)
			e.wantClaimed(e.claim(0, 9), makePending("t", 44))
			again := e.append(5, append(slices.Clone(calls), makeCall("t", 46))...)
			for i, a := range again[:5] {
				if a.New {
					e.Errorf("call %d was accepted again", i)
				}
			}
			if a := again[5]; a != (store.Appended{New: true, Seq: 46}) {
				e.Errorf("got %+v", a)
			}
			repeat := makeCall("t", 42)
			repeat.CreateTime = "another time"
			if a := e.append(5, identify(repeat))[0]; a != (store.Appended{New: true, Repeat: true, Seq: 47}) {
				e.Errorf("got %+v", a)
			}
			if got := e.tool(t.ToolRef); got.Lifetime != 47 || got.Duplicates != 5 || got.Kept != 5 || got.Revision <= 88 {
				e.Errorf("got %+v", got)
			}
			if got := e.found("advice", 9, true); got != "t" {
				e.Errorf("found %q", got)
			}
		}},
		{name: "numbers with gaps are closed", run: func(e *env) {
			t, calls := oldTool()
			for i := range calls {
				calls[i].Seq = int64(1000 * (i + 1))
			}
			t.Guideline.ThroughSeq = 3000
			e.restore(t, calls)
			if got := e.tool(t.ToolRef).Guideline.ThroughSeq; got != 43 {
				e.Errorf("the guideline goes through call %d", got)
			}
			e.wantHistory(t.ToolRef, 41, calls...)
		}},
		{name: "nothing that exists is replaced", run: func(e *env) {
			t, calls := oldTool()
			e.append(9, makeCall("t", 1))
			e.wantKind(e.s.RestoreTool(e.Context(), t, calls), memoryd.Conflict)
			e.wantHistory(t.ToolRef, 1, makeCall("t", 1))
			other := makeCall("u", 1)
			other.Key = calls[2].Key
			e.append(9, other)
			if err := e.s.DeleteTool(e.Context(), t.ToolRef); err != nil {
				e.Fatal(err)
			}
			e.wantKind(e.s.RestoreTool(e.Context(), t, calls), memoryd.Conflict)
			e.wantGone("t")
		}},
		{name: "contradictions are refused", run: func(e *env) {
			for name, spoil := range map[string]func(*memoryd.Tool, []memoryd.Call){
				"no name":      func(t *memoryd.Tool, _ []memoryd.Call) { t.Tool = "" },
				"another tool": func(_ *memoryd.Tool, c []memoryd.Call) { c[1].Tool = "u" },
				"order":        func(_ *memoryd.Tool, c []memoryd.Call) { c[1].Seq = c[2].Seq },
				"lifetime":     func(t *memoryd.Tool, _ []memoryd.Call) { t.Lifetime = 4 },
				"duplicates":   func(t *memoryd.Tool, _ []memoryd.Call) { t.Duplicates = 46 },
				"no key":       func(_ *memoryd.Tool, c []memoryd.Call) { c[0].Key = memoryd.CallKey{} },
			} {
				t, calls := oldTool()
				spoil(&t, calls)
				if err := e.s.RestoreTool(e.Context(), t, calls); !memoryd.IsKind(err, memoryd.Invalid) {
					e.Errorf("%s: got %v", name, err)
				}
			}
			t, _ := oldTool()
			e.wantKind(e.s.RestoreTool(e.Context(), t, nil), memoryd.Invalid)
			e.wantGone("t")
		}},
		{name: "a restored tool survives", durable: true, run: func(e *env) {
			t, calls := oldTool()
			e.restore(t, calls)
			e.append(5, makeCall("t", 46))
			want := e.tool(t.ToolRef)
			e.reopen()
			if d := diffTool(e.tool(t.ToolRef), want); d != "" {
				e.Error(d)
			}
			e.wantHistory(t.ToolRef, 42, append(slices.Clone(calls[1:]), makeCall("t", 46))...)
			if a := e.append(5, calls[0])[0]; a.New {
				e.Error("a call that had left was accepted again")
			}
		}},
	}
}
