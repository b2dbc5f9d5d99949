package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/store"

	"pgregory.net/rapid"
)

// ofRun is the metadata of a call of a run.
func ofRun(run string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"trajectory_id":%q,"tool_call_id":"c"}`, run))
}

// makeRun is makeCall for calls of a run.
func makeRun(run, tool string, n int) memoryd.Call {
	c := makeCall(tool, n)
	c.Metadata = ofRun(run)
	return c
}

func callCases() []testCase {
	return []testCase{
		{name: "one call is found by its key", run: func(e *env) {
			e.append(4, append(makeCalls("t", 1, 6), makePending("u", 3))...)
			for n := 3; n <= 6; n++ {
				want := makeCall("t", n)
				want.Seq = int64(n)
				got, err := e.s.Call(e.Context(), ref("t"), want.Key)
				if d := diffCalls([]memoryd.Call{got}, []memoryd.Call{want}); d != "" || err != nil {
					e.Errorf("call %d: %s, %v", n, d, err)
				}
			}
			for what, r := range map[string]memoryd.ToolRef{
				"let go": ref("t"), "of another tool": ref("u"), "of another workspace": {Workspace: "v", Tool: "t"}, "of no tool": {},
			} {
				n := map[bool]int{true: 2, false: 6}[what == "let go"]
				if _, err := e.s.Call(e.Context(), r, makeCall("t", n).Key); !memoryd.IsKind(err, memoryd.NotFound) {
					e.Errorf("a call that is %s: got %v, want not found", what, err)
				}
			}
		}},
		{name: "a call shows its verdict and leaves with a smaller history", run: func(e *env) {
			e.append(9, makePending("t", 1), makeCall("t", 2), makeCall("t", 3))
			e.settle(verdictOn(makeCall("t", 1), makeVerdict(5)))
			got, err := e.s.Call(e.Context(), ref("t"), makeCall("t", 1).Key)
			if err != nil || got.Evaluation.Summary != "summary 5" {
				e.Errorf("got %+v, %v", got.Evaluation, err)
			}
			e.append(2, makeCall("t", 3))
			_, err = e.s.Call(e.Context(), ref("t"), makeCall("t", 1).Key)
			e.wantKind(err, memoryd.NotFound)
		}},
	}
}

func pageCases() []testCase {
	return []testCase{
		{name: "pages go from the newest call to the oldest", run: func(e *env) {
			e.append(7, makeCalls("t", 1, 9)...)
			for _, brief := range []bool{false, true} {
				next := 9
				for p := (store.CallPage{Limit: 3, Brief: brief}); ; {
					page, err := e.s.ListCalls(e.Context(), ref("t"), p)
					if err != nil {
						e.Fatal(err)
					}
					if len(page) == 0 {
						break
					}
					for _, got := range page {
						want := makeCall("t", next)
						want.Seq = int64(next)
						if brief {
							want.Input, want.Output = nil, ""
						}
						if d := diffCalls([]memoryd.Call{got}, []memoryd.Call{want}); d != "" {
							e.Fatal(d)
						}
						next--
					}
					p.Before = page[len(page)-1].Seq
				}
				if next != 2 {
					e.Errorf("the pages ended at call %d, want 3", next+1)
				}
			}
		}},
		{name: "pages that can never be", run: func(e *env) {
			e.append(7, makeCall("t", 1))
			for _, p := range []store.CallPage{{Limit: -1}, {Before: -1, Limit: 1}} {
				_, err := e.s.ListCalls(e.Context(), ref("t"), p)
				e.wantKind(err, memoryd.Invalid)
			}
			for _, p := range []store.CallPage{{}, {Before: 1, Limit: 5}} {
				if page, err := e.s.ListCalls(e.Context(), ref("t"), p); len(page) != 0 || err != nil {
					e.Errorf("%+v: got %d calls, %v", p, len(page), err)
				}
			}
			if page, err := e.s.ListCalls(e.Context(), ref("T"), store.CallPage{Limit: 5}); len(page) != 0 || err != nil {
				e.Errorf("an unknown tool: got %d calls, %v", len(page), err)
			}
		}},
		{name: "a page holds few long texts", run: func(e *env) {
			for n := range 5 {
				c := makeCall("t", n)
				c.Output = strings.Repeat("x", store.MaxPageBytes/3)
				e.append(9, identify(c))
			}
			page, err := e.s.ListCalls(e.Context(), ref("t"), store.CallPage{Limit: 5})
			if len(page) != 2 || err != nil {
				e.Errorf("got %d calls, %v, want 2", len(page), err)
			}
			page, err = e.s.ListCalls(e.Context(), ref("t"), store.CallPage{Limit: 5, Brief: true})
			if len(page) != 5 || err != nil {
				e.Errorf("without bodies: got %d calls, %v, want 5", len(page), err)
			}
		}},
	}
}

func runCases() []testCase {
	return []testCase{
		{name: "a run is its calls over all tools, the newest first", run: func(e *env) {
			e.append(9, makeRun("r1", "a", 1), makeRun("r2", "a", 2), makeRun("r1", "b", 3))
			bySession := makeCall("b", 4)
			bySession.Metadata = json.RawMessage(`{"session_id":"r1"}`)
			e.append(9, bySession, makeCall("b", 5))
			e.wantRun("r1", bySession, makeRun("r1", "b", 3), makeRun("r1", "a", 1))
			e.wantRun("r2", makeRun("r2", "a", 2))
			e.wantRun("r")
			if got, err := e.s.RunCalls(e.Context(), "v", "r1", 9); len(got) != 0 || err != nil {
				e.Errorf("another workspace: got %v, %v", got, err)
			}
		}},
		{name: "a run tells verdicts and ends at its limit", run: func(e *env) {
			pending := makePending("a", 1)
			pending.Metadata = ofRun("r")
			e.append(9, pending, makeRun("r", "b", 2), makeRun("r", "a", 3))
			e.settle(verdictOn(pending, makeVerdict(3)))
			judged := makeRun("r", "a", 1)
			judged.Evaluation = makeVerdict(3)
			e.wantRun("r", makeRun("r", "a", 3), makeRun("r", "b", 2), judged)
			for limit, want := range map[int]int{0: 0, 1: 1, 2: 2, 999: 3} {
				if got, err := e.s.RunCalls(e.Context(), space, "r", limit); len(got) != want || err != nil {
					e.Errorf("limit %d: got %d calls, %v", limit, len(got), err)
				}
			}
			for _, bad := range []string{"", strings.Repeat("r", memoryd.MaxNameBytes+1)} {
				_, err := e.s.RunCalls(e.Context(), space, bad, 1)
				e.wantKind(err, memoryd.Invalid)
			}
			_, err := e.s.RunCalls(e.Context(), space, "r", -1)
			e.wantKind(err, memoryd.Invalid)
		}},
		{name: "a deleted tool leaves its runs at once", run: func(e *env) {
			e.append(9, makeRun("r", "a", 1), makeRun("r", "b", 2), makeRun("r", "a", 3))
			if err := e.s.DeleteTool(e.Context(), ref("a")); err != nil {
				e.Fatal(err)
			}
			e.wantRun("r", makeRun("r", "b", 2))
			e.append(9, makeRun("r", "a", 1))
			e.wantRun("r", makeRun("r", "a", 1), makeRun("r", "b", 2))
			if _, err := e.s.DeleteWorkspace(e.Context(), space); err != nil {
				e.Fatal(err)
			}
			e.wantRun("r")
		}},
		{name: "a run sent twice counts once", run: func(e *env) {
			for range 2 {
				e.append(9, makeRun("r", "a", 1), makeRun("r", "a", 2))
			}
			e.wantRun("r", makeRun("r", "a", 2), makeRun("r", "a", 1))
		}},
	}
}

func longRunCases() []testCase {
	return []testCase{
		{name: "the newest calls of a long run in a short history are found", run: func(e *env) {
			for n := range 40 {
				e.append(3, makeRun("r", "a", n), makeRun("other", "a", 100+n))
			}
			got, err := e.s.RunCalls(e.Context(), space, "r", store.MaxRunCalls)
			if err != nil || len(got) == 0 || got[0].Key != makeRun("r", "a", 39).Key {
				e.Fatalf("got %d calls, %v", len(got), err)
			}
			last := 40
			for _, c := range got {
				n := slices.IndexFunc(makeCalls("a", 0, last-1), func(o memoryd.Call) bool { return o.Key == c.Key && o.Output == c.Output })
				if n < 0 {
					e.Errorf("%q is not an older call of the run than call %d", c.Output, last)
				}
				last = n
			}
		}},
		{name: "long texts of a run are cut", run: func(e *env) {
			for n, size := range []int{store.MaxRunOutput, store.MaxRunOutput + 1, 3 * store.MaxRunOutput, 40 * store.MaxRunOutput} {
				c := makeRun("r", "a", n)
				c.Output = "[" + strings.Repeat("é", (size-2)/2) + strings.Repeat("x", size%2) + "]"
				if n == 3 {
					c.Input = json.RawMessage(`"` + strings.Repeat("i", store.MaxRunInput) + `"`)
					c.Output = strings.Repeat("\x00\xff", size/2)
				}
				c = identify(c)
				e.append(9, c)
				got, err := e.s.RunCalls(e.Context(), space, "r", 1)
				if err != nil {
					e.Fatal(err)
				}
				if d := diffRun(got[0], store.RunCallOf(&c)); d != "" || len(got[0].Output) > store.MaxRunOutput {
					e.Errorf("call %d: %d bytes, %s", n, len(got[0].Output), d)
				}
			}
		}},
		{name: "runs survive", durable: true, run: func(e *env) {
			e.append(9, makeRun("r", "a", 1), makeRun("r", "b", 2))
			e.reopen()
			e.append(9, makeRun("r", "a", 3))
			e.reopen()
			e.wantRun("r", makeRun("r", "a", 3), makeRun("r", "b", 2), makeRun("r", "a", 1))
		}},
	}
}

// wantRun checks the calls of a run.
func (e *env) wantRun(run string, want ...memoryd.Call) {
	e.Helper()
	got, err := e.s.RunCalls(e.Context(), space, run, store.MaxRunCalls)
	if err != nil || len(got) != len(want) {
		e.Fatalf("run %q: got %d calls, %v, want %d", run, len(got), err, len(want))
	}
	for i := range want {
		if d := diffRun(got[i], store.RunCallOf(&want[i])); d != "" {
			e.Fatalf("run %q, call %d: %s", run, i, d)
		}
	}
}

func diffRun(got, want store.RunCall) string {
	plain := func(c store.RunCall) string {
		at := c.Time.UTC().Format(time.RFC3339Nano)
		c.Time = time.Time{}
		return fmt.Sprintf("%s %+v", at, c)
	}
	if g, w := plain(got), plain(want); g != w {
		return fmt.Sprintf("got %.300q, want %.300q", g, w)
	}
	return ""
}

func modelRuns() []string { return []string{"r1", "r2"} }

// comparePages reads a tool's calls page by page and one by one.
func (m *machine) comparePages(t *rapid.T, kept []memoryd.Call) {
	ref := kept[0].ToolRef
	p := store.CallPage{Limit: rapid.IntRange(1, 4).Draw(t, "page")}
	for i := len(kept); ; {
		page, err := m.got.ListCalls(t.Context(), ref, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			if i != 0 {
				t.Fatalf("%d calls are on no page", i)
			}
			break
		}
		forgetLeases(page)
		i -= len(page)
		slices.Reverse(page)
		if d := diffCalls(page, kept[max(0, i):max(0, i)+len(page)]); d != "" {
			t.Fatalf("page: %s", d)
		}
		p.Before = page[0].Seq
	}
	for i := range kept {
		c, err := m.got.Call(t.Context(), ref, kept[i].Key)
		one := []memoryd.Call{c}
		forgetLeases(one)
		if d := diffCalls(one, kept[i:i+1]); d != "" || err != nil {
			t.Fatalf("one call: %s, %v", d, err)
		}
	}
}

// compareRun lets a run have calls that the histories have let go.
func (m *machine) compareRun(t *rapid.T, workspace, run string) {
	got, err := m.got.RunCalls(t.Context(), workspace, run, store.MaxRunCalls)
	want, wantErr := m.want.RunCalls(t.Context(), workspace, run, store.MaxRunCalls)
	kept := map[memoryd.CallKey]bool{}
	for _, c := range want {
		kept[c.Key] = true
	}
	got = slices.DeleteFunc(got, func(c store.RunCall) bool { return !kept[c.Key] })
	same(t, "run", len(got), len(want), err, wantErr)
	for i := range want {
		if d := diffRun(got[i], want[i]); d != "" {
			t.Fatalf("run %q, call %d: %s", run, i, d)
		}
	}
}
