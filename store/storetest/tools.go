package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"memoryd"
	"memoryd/store"
)

// trickyNames are names that a store must keep apart and give back exactly.
func trickyNames() []string {
	return []string{
		"Fetch", "fetch", "fetch ", " fetch", "fetch,get", "fetch\x00", "fetch\x00get", "FETCH", "é", "e\u0301",
		"日本", "😀", "a/b", "..", "%2e", "'", `"`, `\`, "\n", "*", "[a]", "fetch%", "f_tch", "\u202egnp",
		strings.Repeat("n", memoryd.MaxNameBytes), strings.Repeat("n", memoryd.MaxNameBytes-1) + "m",
		strings.Repeat("é", memoryd.MaxNameBytes/2),
	}
}

func historyCases() []testCase {
	return []testCase{
		{name: "a limit gives the newest, oldest first", run: func(e *env) {
			e.append(6, makeCalls("t", 1, 9)...)
			for limit, first := range map[int]int{0: 4, 1: 9, 3: 7, 6: 4, 50: 4} {
				want := makeCalls("t", first, 9)
				for i := range want {
					want[i].Seq = int64(first + i)
				}
				if d := diffCalls(e.history(ref("t"), limit), want); d != "" {
					e.Errorf("limit %d: %s", limit, d)
				}
			}
			_, err := e.s.History(e.Context(), ref("t"), -1)
			e.wantKind(err, memoryd.Invalid)
		}},
		{name: "an unknown tool has no calls", run: func(e *env) {
			e.append(6, makeCall("t", 1))
			for _, r := range []memoryd.ToolRef{ref("T"), {Workspace: "v", Tool: "t"}, {}} {
				e.wantHistory(r, 1)
			}
		}},
		{name: "values returned are the caller's own", run: func(e *env) {
			in := makeCall("t", 1)
			e.append(6, in)
			scribble(in)
			got := e.history(ref("t"), 0)
			scribble(got[0])
			got[0].Output = "scribbled"
			e.samples(ref("t"))[0].Score = 77
			e.wantHistory(ref("t"), 1, makeCall("t", 1))
		}},
	}
}

func scribble(c memoryd.Call) {
	for i := range c.Input {
		c.Input[i] = 'x'
	}
	for i := range c.Metadata {
		c.Metadata[i] = 'x'
	}
}

func toolCases() []testCase {
	return []testCase{
		{name: "a tool is known from its first call on", run: func(e *env) {
			_, err := e.s.Tool(e.Context(), ref("t"))
			e.wantKind(err, memoryd.NotFound)
			e.append(9, makeCall("t", 1), makePending("t", 2))
			got := e.tool(ref("t"))
			want := memoryd.Tool{
				ToolRef: ref("t"), Kept: 2, Revision: 2, Counters: memoryd.Counters{Lifetime: 2, Pending: 1},
			}
			if d := diffTool(got, want); d != "" {
				e.Error(d)
			}
			if got.Created.IsZero() || got.Modified.Before(got.Created) {
				e.Errorf("created %v, modified %v", got.Created, got.Modified)
			}
		}},
		{name: "names are exact", run: namesAreExact},
		{name: "tools are listed in byte order, page by page", run: listTools},
		{name: "workspaces are listed in byte order, page by page", run: listWorkspaces},
		{name: "an unknown workspace has no tools", run: func(e *env) {
			got, err := e.s.ListTools(e.Context(), "nowhere", "", 10)
			if err != nil || len(got) != 0 {
				e.Errorf("got %v, %v", got, err)
			}
		}},
		{name: "a negative limit is invalid", run: func(e *env) {
			_, err := e.s.ListTools(e.Context(), space, "", -1)
			e.wantKind(err, memoryd.Invalid)
			_, err = e.s.ListWorkspaces(e.Context(), "", -1)
			e.wantKind(err, memoryd.Invalid)
		}},
	}
}

func namesAreExact(e *env) {
	for i, name := range trickyNames() {
		c := makeCall(name, i)
		c.Workspace = name
		if _, err := e.s.Append(e.Context(), store.Batch{Workspace: name, Calls: []memoryd.Call{c}, Keep: 9}); err != nil {
			e.Fatalf("%q: %v", name, err)
		}
		e.append(9, makeCall(name, i))
	}
	for i, name := range trickyNames() {
		e.wantHistory(ref(name), 1, makeCall(name, i))
		own := makeCall(name, i)
		own.Workspace = name
		e.wantHistory(memoryd.ToolRef{Workspace: name, Tool: name}, 1, own)
		if got := e.tool(ref(name)); got.ToolRef != ref(name) || got.Lifetime != 1 {
			e.Errorf("%q: got %+v", name, got)
		}
	}
}

func listTools(e *env) {
	names := trickyNames()
	for i, name := range names {
		e.append(9, makeCall(name, i))
	}
	slices.Sort(names)
	var got []string
	for after := ""; ; after = got[len(got)-1] {
		page, err := e.s.ListTools(e.Context(), space, after, 4)
		if err != nil {
			e.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, t := range page {
			got = append(got, t.Tool)
		}
	}
	if !slices.Equal(got, names) {
		e.Errorf("got  %q\nwant %q", got, names)
	}
	if none, err := e.s.ListTools(e.Context(), space, "", 0); err != nil || len(none) != 0 {
		e.Errorf("limit 0: got %v, %v", none, err)
	}
}

func listWorkspaces(e *env) {
	names := trickyNames()
	for i, name := range names {
		c := makeCall("t", i)
		c.Workspace = ""
		if _, err := e.s.Append(e.Context(), store.Batch{Workspace: name, Calls: []memoryd.Call{c}, Keep: 9}); err != nil {
			e.Fatal(err)
		}
	}
	slices.Sort(names)
	var got []string
	for after := ""; ; after = got[len(got)-1] {
		page, err := e.s.ListWorkspaces(e.Context(), after, 5)
		if err != nil {
			e.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
	}
	if !slices.Equal(got, names) {
		e.Errorf("got  %q\nwant %q", got, names)
	}
}

func guidelineCases() []testCase {
	text := func(n int) memoryd.Guideline {
		return memoryd.Guideline{
			Content: fmt.Sprintf("## Core Function\n%d é\x00", n), Author: "rules", BasedOn: 1, ThroughSeq: int64(n),
			Written: base,
		}
	}
	return []testCase{
		{name: "it is replaced at the expected revision only", run: func(e *env) {
			e.append(9, makeCall("t", 1))
			before := e.tool(ref("t"))
			for n := range 3 {
				if err := e.s.PutGuideline(e.Context(), ref("t"), text(n), int64(n)); err != nil {
					e.Fatal(err)
				}
				e.wantKind(e.s.PutGuideline(e.Context(), ref("t"), text(99), int64(n)), memoryd.Conflict)
				e.wantKind(e.s.PutGuideline(e.Context(), ref("t"), text(99), int64(n)+2), memoryd.Conflict)
				want := before
				want.Guideline = text(n)
				want.Guideline.Revision = int64(n) + 1
				if d := diffTool(e.tool(ref("t")), want); d != "" {
					e.Fatal(d)
				}
			}
			if e.tool(ref("t")).Modified.Before(before.Modified) {
				e.Error("modified went back")
			}
		}},
		{name: "an unknown tool has none", run: func(e *env) {
			e.append(9, makeCall("t", 1))
			e.wantKind(e.s.PutGuideline(e.Context(), ref("T"), text(1), 0), memoryd.NotFound)
			_, err := e.s.Tool(e.Context(), ref("T"))
			e.wantKind(err, memoryd.NotFound)
		}},
		{name: "of many writers exactly one wins", run: oneWriterWins},
		{name: "appending and judging keep it", run: func(e *env) {
			e.append(9, makePending("t", 1))
			if err := e.s.PutGuideline(e.Context(), ref("t"), text(1), 0); err != nil {
				e.Fatal(err)
			}
			e.append(1, makeCall("t", 2))
			if got := e.tool(ref("t")).Guideline; got.Content != text(1).Content || got.Revision != 1 {
				e.Errorf("got %+v", got)
			}
		}},
	}
}

func oneWriterWins(e *env) {
	e.append(9, makeCall("t", 1))
	const writers, rounds = 16, 5
	for round := range rounds {
		var won atomic.Int64
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				g := memoryd.Guideline{Content: fmt.Sprint(w), Written: base}
				err := e.s.PutGuideline(e.Context(), ref("t"), g, int64(round))
				if err == nil {
					won.Add(1)
					return
				}
				var kind *memoryd.Error
				if !errors.As(err, &kind) || kind.Kind != memoryd.Conflict {
					e.Errorf("got %v, want a conflict", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			e.Fatalf("round %d: %d writers won", round, won.Load())
		}
	}
	if got := e.tool(ref("t")).Guideline.Revision; got != rounds {
		e.Errorf("revision %d, want %d", got, rounds)
	}
}
