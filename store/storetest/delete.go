package storetest

import (
	"slices"
	"strings"

	"memoryd"
	"memoryd/store"
)

func deleteCases() []testCase {
	return []testCase{
		{name: "a deleted tool is gone with all it had", run: func(e *env) {
			e.append(9, append(makeCalls("t", 1, 3), makePending("t", 4))...)
			e.append(9, makeCalls("u", 1, 2)...)
			if err := e.s.PutGuideline(e.Context(), ref("t"), memoryd.Guideline{Content: "x"}, 0); err != nil {
				e.Fatal(err)
			}
			if err := e.s.DeleteTool(e.Context(), ref("t")); err != nil {
				e.Fatal(err)
			}
			e.wantGone("t")
			e.wantHistory(ref("u"), 1, makeCalls("u", 1, 2)...)
			if got := e.claim(0, 9); len(got) != 0 {
				e.Errorf("its pending call was claimed: %v", got)
			}
		}},
		{name: "deleting what is not there succeeds", run: func(e *env) {
			e.append(9, makeCall("t", 1))
			for _, r := range []memoryd.ToolRef{ref("T"), {Workspace: "v", Tool: "t"}, {}} {
				if err := e.s.DeleteTool(e.Context(), r); err != nil {
					e.Error(err)
				}
			}
			if n, err := e.s.DeleteWorkspace(e.Context(), "nowhere"); n != 0 || err != nil {
				e.Errorf("got %d, %v", n, err)
			}
			e.wantHistory(ref("t"), 1, makeCall("t", 1))
		}},
		{name: "a deleted tool can be filled again with the same calls", run: func(e *env) {
			calls := makeCalls("t", 1, 3)
			e.append(2, calls...)
			if err := e.s.DeleteTool(e.Context(), ref("t")); err != nil {
				e.Fatal(err)
			}
			for i, a := range e.append(2, calls...) {
				if want := (store.Appended{New: true, FirstOfTool: true, Seq: int64(i) + 1}); a != want {
					e.Errorf("call %d: got %+v, want %+v", i, a, want)
				}
			}
			e.wantHistory(ref("t"), 2, calls[1:]...)
			want := memoryd.Tool{ToolRef: ref("t"), Kept: 2, Revision: 3, Counters: memoryd.Counters{Lifetime: 3}}
			if d := diffTool(e.tool(ref("t")), want); d != "" {
				e.Error(d)
			}
			for _, a := range e.append(2, calls...) {
				if a.New {
					e.Error("a call was accepted twice after the tool was filled again")
				}
			}
		}},
		{name: "a workspace is deleted at once", run: deleteWorkspace},
	}
}

func deleteWorkspace(e *env) {
	names := trickyNames()
	for i, name := range names {
		e.append(9, makeCall(name, i), makePending(name, i+1000))
	}
	other := makeCall("t", 1)
	other.Workspace = "other"
	if _, err := e.s.Append(e.Context(), store.Batch{Workspace: "other", Calls: []memoryd.Call{other}, Keep: 9}); err != nil {
		e.Fatal(err)
	}
	if n, err := e.s.DeleteWorkspace(e.Context(), space); n != len(names) || err != nil {
		e.Fatalf("got %d, %v, want %d", n, err, len(names))
	}
	for _, name := range names {
		e.wantGone(name)
	}
	if ws, err := e.s.ListWorkspaces(e.Context(), "", 9); err != nil || !slices.Equal(ws, []string{"other"}) {
		e.Errorf("got workspaces %q, %v", ws, err)
	}
	e.wantHistory(other.ToolRef, 1, other)
	if a := e.append(9, makeCall(names[0], 0))[0]; !a.New || a.Seq != 1 {
		e.Errorf("refilling: got %+v", a)
	}
}

// wantGone checks that nothing of the tool can be read.
func (e *env) wantGone(tool string) {
	e.Helper()
	_, err := e.s.Tool(e.Context(), ref(tool))
	e.wantKind(err, memoryd.NotFound)
	e.wantHistory(ref(tool), 1)
	list, err := e.s.ListTools(e.Context(), space, "", 1000)
	if err != nil {
		e.Fatal(err)
	}
	for _, t := range list {
		if t.Tool == tool {
			e.Errorf("%q is still listed", tool)
		}
	}
}

func cutCases() []testCase {
	return []testCase{
		{name: "calls that are cut out are gone, the others stay in order", run: func(e *env) {
			calls := append(makeCalls("t", 1, 6), makePending("t", 7), makePending("t", 8))
			e.append(9, calls...)
			e.append(9, makeCalls("u", 1, 2)...)
			e.cut(4, "t", calls[1].Key, calls[3].Key, calls[5].Key, calls[6].Key, memoryd.CallKey{9})
			want := []memoryd.CallKey{calls[0].Key, calls[2].Key, calls[4].Key, calls[7].Key}
			e.wantKeys("t", want)
			if got := e.tool(ref("t")); got.Kept != 4 || got.Lifetime != 8 || got.Pending != 1 {
				e.Errorf("after it: %+v", got)
			}
			if _, err := e.s.Call(e.Context(), ref("t"), calls[1].Key); !memoryd.IsKind(err, memoryd.NotFound) {
				e.Errorf("a call that was cut out is found: %v", err)
			}
			if got := e.claim(0, 9); len(got) != 1 || got[0].Key != calls[7].Key {
				e.Errorf("pending are %v", got)
			}
			e.wantHistory(ref("u"), 1, makeCalls("u", 1, 2)...)
			e.cut(0, "t", calls[1].Key)
			e.cut(0, "nowhere", calls[1].Key)
			if a := e.append(9, calls[1]); a[0].New {
				e.Error("a call that was cut out came again as a new one")
			}
			// It goes on as before: numbers grow, the oldest leave first.
			more := makeCalls("t", 20, 21)
			e.append(5, more...)
			e.wantKeys("t", append(slices.Clone(want[1:]), more[0].Key, more[1].Key))
			samples := e.samples(ref("t"))
			if len(samples) != 5 || !slices.IsSortedFunc(samples, func(a, b memoryd.Sample) int { return int(a.Seq - b.Seq) }) {
				e.Errorf("samples %v", samples)
			}
		}},
		{name: "a history's size is that of the calls which it keeps", run: func(e *env) {
			e.wantSize(store.Size{}, 0)(e.s.HistorySize(e.Context(), ref("t")))
			calls := makeCalls("t", 1, 4)
			calls[2].Output = strings.Repeat("é", 4000)
			calls[2] = identify(calls[2])
			e.append(9, append(calls, makePending("u", 1))...)
			e.wantHistorySize(calls...)
			e.cut(1, "t", calls[2].Key)
			e.wantHistorySize(calls[0], calls[1], calls[3])
			e.append(2, makeCall("t", 5))
			e.wantHistorySize(calls[3], makeCall("t", 5))
		}},
		{name: "a tool whose last call is cut out is gone", run: func(e *env) {
			calls := makeCalls("t", 1, 3)
			e.append(9, calls...)
			e.cut(3, "t", calls[0].Key, calls[1].Key, calls[2].Key)
			e.wantGone("t")
		}},
	}
}

func (e *env) cut(want int, tool string, keys ...memoryd.CallKey) {
	e.Helper()
	if n, err := e.s.DeleteCalls(e.Context(), ref(tool), keys); n != want || err != nil {
		e.Errorf("cut out %d calls, want %d (%v)", n, want, err)
	}
}

// wantKeys compares the history by History and, backwards, by ListCalls.
func (e *env) wantKeys(tool string, want []memoryd.CallKey) {
	e.Helper()
	history, err := e.s.History(e.Context(), ref(tool), 0)
	if err != nil {
		e.Fatal(err)
	}
	page, err := e.s.ListCalls(e.Context(), ref(tool), store.CallPage{Limit: len(want) + 1})
	if err != nil {
		e.Fatal(err)
	}
	slices.Reverse(page)
	for name, calls := range map[string][]memoryd.Call{"History": history, "ListCalls": page} {
		var got []memoryd.CallKey
		for i := range calls {
			got = append(got, calls[i].Key)
		}
		if !slices.Equal(got, want) {
			e.Errorf("%s has %v, want %v", name, got, want)
		}
	}
}

// wantHistorySize expects the tool t to keep calls: their texts, and less than a third of
// a kilobyte of each beside them.
func (e *env) wantHistorySize(calls ...memoryd.Call) {
	e.Helper()
	want := store.Size{Count: int64(len(calls))}
	for _, c := range calls {
		want.Bytes += int64(len(c.Input) + len(c.Output) + len(c.Metadata))
	}
	e.wantSize(want, want.Bytes+want.Count*300)(e.s.HistorySize(e.Context(), ref("t")))
}

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
			if a := e.append(5, identify(repeat))[0]; a != (store.Appended{New: true, Seq: 47}) {
				e.Errorf("got %+v", a)
			}
			if got := e.tool(t.ToolRef); got.Lifetime != 47 || got.Duplicates != 5 || got.Kept != 5 || got.Revision <= 88 {
				e.Errorf("got %+v", got)
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
