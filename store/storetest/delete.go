package storetest

import (
	"slices"

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
