package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"memoryd"
	"memoryd/store"
)

// methods calls each method of the contract once.
func methods(s store.Store) map[string]func(ctx context.Context) error {
	batch := store.Batch{Workspace: space, Calls: makeCalls("t", 1, 2), Keep: 9}
	return map[string]func(ctx context.Context) error{
		"Ping":      s.Ping,
		"Append":    func(ctx context.Context) error { _, err := s.Append(ctx, batch); return err },
		"History":   func(ctx context.Context) error { _, err := s.History(ctx, ref("t"), 0); return err },
		"Described": func(ctx context.Context) error { _, err := s.Described(ctx, ref("t")); return err },
		"Call": func(ctx context.Context) error {
			_, err := s.Call(ctx, ref("t"), makeCall("t", 1).Key)
			return err
		},
		"ListCalls": func(ctx context.Context) error {
			_, err := s.ListCalls(ctx, ref("t"), store.CallPage{Limit: 9})
			return err
		},
		"RunCalls":       func(ctx context.Context) error { _, err := s.RunCalls(ctx, space, "r", 9); return err },
		"Tool":           func(ctx context.Context) error { _, err := s.Tool(ctx, ref("t")); return err },
		"ListTools":      func(ctx context.Context) error { _, err := s.ListTools(ctx, space, "", 9); return err },
		"ListWorkspaces": func(ctx context.Context) error { _, err := s.ListWorkspaces(ctx, "", 9); return err },
		"PutGuideline": func(ctx context.Context) error {
			return s.PutGuideline(ctx, ref("t"), memoryd.Guideline{Content: "x"}, 0)
		},
		"DeleteCalls": func(ctx context.Context) error {
			_, err := s.DeleteCalls(ctx, ref("t"), []memoryd.CallKey{{1}})
			return err
		},
		"DeleteTool":      func(ctx context.Context) error { return s.DeleteTool(ctx, ref("t")) },
		"DeleteWorkspace": func(ctx context.Context) error { _, err := s.DeleteWorkspace(ctx, space); return err },
		"Settle": func(ctx context.Context) error {
			_, err := s.Settle(ctx, []store.Verdict{verdictOn(makeCall("t", 1), makeVerdict(1))})
			return err
		},
		"Claim":         func(ctx context.Context) error { _, err := s.Claim(ctx, base, time.Minute, 1); return err },
		"CachedVerdict": func(ctx context.Context) error { _, err := s.CachedVerdict(ctx, [16]byte{1}); return err },
		"CacheVerdict":  func(ctx context.Context) error { return s.CacheVerdict(ctx, [16]byte{1}, makeVerdict(1)) },
	}
}

func lifecycleCases() []testCase {
	return []testCase{
		{name: "an open store can be pinged", run: func(e *env) {
			if err := e.s.Ping(e.Context()); err != nil {
				e.Error(err)
			}
		}},
		{name: "a cancelled context does nothing", run: func(e *env) {
			e.append(9, makePending("t", 1))
			ctx, cancel := context.WithCancel(e.Context())
			cancel()
			for name, call := range methods(e.s) {
				if err := call(ctx); !errors.Is(err, context.Canceled) {
					e.Errorf("%s: got %v, want the context's error", name, err)
				}
			}
			e.wantHistory(ref("t"), 1, makePending("t", 1))
			want := memoryd.Tool{ToolRef: ref("t"), Kept: 1, Revision: 1, Counters: memoryd.Counters{Lifetime: 1, Pending: 1}}
			if d := diffTool(e.tool(ref("t")), want); d != "" {
				e.Error(d)
			}
			e.wantClaimed(e.claim(0, 9), makePending("t", 1))
		}},
		{name: "a closed store says so", run: func(e *env) {
			for range 2 {
				if err := e.s.Close(); err != nil {
					e.Fatal(err)
				}
			}
			for name, call := range methods(e.s) {
				if err := call(e.Context()); !memoryd.IsKind(err, memoryd.Closed) {
					e.Errorf("%s: got %v, want closed", name, err)
				}
			}
		}},
		{name: "closing waits for running calls", run: closeWaits},
		{name: "many writers are all counted", run: manyWriters},
		{name: "one call sent by many is accepted once", run: func(e *env) {
			var accepted sync.Map
			var wg sync.WaitGroup
			for w := range 32 {
				wg.Go(func() {
					got, err := e.s.Append(e.Context(), store.Batch{Workspace: space, Calls: makeCalls("t", 1, 3), Keep: 9})
					if err != nil {
						e.Error(err)
						return
					}
					for i, a := range got {
						if a.New {
							if _, twice := accepted.LoadOrStore(i, w); twice {
								e.Errorf("call %d was accepted twice", i)
							}
						}
					}
				})
			}
			wg.Wait()
			e.wantHistory(ref("t"), 1, makeCalls("t", 1, 3)...)
		}},
	}
}

// closeWaits checks that every call either took effect or was refused.
func closeWaits(e *env) {
	const writers = 16
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			_, errs[w] = e.s.Append(e.Context(), store.Batch{Workspace: space, Calls: makeCalls("t", w, w), Keep: 99})
		})
	}
	if err := e.s.Close(); err != nil {
		e.Error(err)
	}
	wg.Wait()
	accepted := int64(0)
	for _, err := range errs {
		switch {
		case err == nil:
			accepted++
		case !memoryd.IsKind(err, memoryd.Closed):
			e.Errorf("got %v", err)
		}
	}
	if e.b.Reopen == nil {
		return
	}
	e.reopen()
	got, err := e.s.Tool(e.Context(), ref("t"))
	if err != nil && accepted > 0 || got.Lifetime != accepted {
		e.Errorf("%d calls were acknowledged, %d are there (%v)", accepted, got.Lifetime, err)
	}
}

func manyWriters(e *env) {
	const writers, each, keep = 64, 12, 30
	seen := make([][]int64, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				own, shared := fmt.Sprintf("own %d", w), makeCall("shared", w*each+i)
				got, err := e.s.Append(e.Context(), store.Batch{
					Workspace: space, Calls: []memoryd.Call{makeCall(own, i), shared}, Keep: keep,
				})
				if err != nil {
					e.Error(err)
					return
				}
				if got[0].Seq != int64(i)+1 {
					e.Errorf("writer %d: call %d has number %d", w, i, got[0].Seq)
				}
				seen[w] = append(seen[w], got[1].Seq)
			}
		})
	}
	wg.Wait()
	numbers := map[int64]bool{}
	for _, own := range seen {
		for _, seq := range own {
			if numbers[seq] || seq < 1 || seq > writers*each {
				e.Errorf("number %d was given twice or is out of range", seq)
			}
			numbers[seq] = true
		}
	}
	want := memoryd.Tool{ToolRef: ref("shared"), Kept: keep, Revision: writers * each}
	want.Lifetime = writers * each
	if d := diffTool(e.tool(ref("shared")), want); d != "" {
		e.Error(d)
	}
	for i, c := range e.history(ref("shared"), 0) {
		if c.Seq != int64(writers*each-keep+i+1) {
			e.Errorf("kept call %d has number %d", i, c.Seq)
		}
	}
}

func reopenCases() []testCase {
	return []testCase{
		{name: "everything survives", durable: true, run: everythingSurvives},
		{name: "keys and repeats are remembered", durable: true, run: func(e *env) {
			e.append(3, makeCalls("t", 1, 9)...)
			e.reopen()
			for i, a := range e.append(3, makeCalls("t", 1, 9)...) {
				if a.New {
					e.Errorf("call %d was accepted again", i)
				}
			}
			again := makeCall("t", 1)
			again.CreateTime = "another time"
			if a := e.append(3, identify(again))[0]; a != (store.Appended{New: true, Seq: 10}) {
				e.Errorf("got %+v", a)
			}
			if d := e.tool(ref("t")).Duplicates; d != 1 {
				e.Errorf("%d duplicates, want 1", d)
			}
		}},
		{name: "pending calls are claimed in their old order", durable: true, run: func(e *env) {
			e.append(9, makePending("b", 1), makePending("a", 2), makePending("b", 3))
			e.settle(verdictOn(makeCall("b", 1), failedTry(2, 500)))
			e.claim(0, 9)
			e.reopen()
			e.wantClaimed(e.claim(20, 9), makePending("a", 2), makePending("b", 3))
			e.wantClaimed(e.claim(501, 1), makePending("b", 1))
		}},
		{name: "what was deleted stays away", durable: true, run: func(e *env) {
			e.append(9, makeCalls("t", 1, 5)...)
			e.append(9, makeCalls("u", 1, 5)...)
			if err := e.s.DeleteTool(e.Context(), ref("t")); err != nil {
				e.Fatal(err)
			}
			e.reopen()
			e.wantGone("t")
			e.append(9, makeCalls("v", 1, 2)...)
			for i, a := range e.append(9, makeCalls("t", 1, 5)...) {
				if !a.New || a.Seq != int64(i)+1 {
					e.Errorf("call %d: got %+v", i, a)
				}
			}
			if d := e.tool(ref("t")).Duplicates; d != 0 {
				e.Errorf("%d duplicates", d)
			}
			e.reopen()
			e.wantHistory(ref("t"), 1, makeCalls("t", 1, 5)...)
			e.wantHistory(ref("u"), 1, makeCalls("u", 1, 5)...)
			e.wantHistory(ref("v"), 1, makeCalls("v", 1, 2)...)
		}},
		{name: "a history goes on where it stopped", durable: true, run: func(e *env) {
			n, kept := 0, 0
			for _, keep := range []int{3, 3, 6, 6, 2, 4, 1} {
				e.append(keep, makeCalls("t", n+1, n+4)...)
				n, kept = n+4, min(kept+4, keep)
				e.reopen()
				e.wantHistory(ref("t"), int64(n-kept+1), makeCalls("t", n-kept+1, n)...)
			}
		}},
	}
}

// everythingSurvives compares all that can be read before and after.
func everythingSurvives(e *env) {
	for i, name := range trickyNames() {
		calls := append(makeCalls(name, i, i+4), makePending(name, i+5), makePending(name, i+6))
		e.append(5, calls...)
		e.settle(verdictOn(makeCall(name, i+5), makeVerdict(i)))
		if i%2 == 0 {
			g := memoryd.Guideline{Content: fmt.Sprintf("text %d\x00", i), Author: "a", BasedOn: 3, ThroughSeq: 2, Written: base}
			if err := e.s.PutGuideline(e.Context(), ref(name), g, 0); err != nil {
				e.Fatal(err)
			}
		}
	}
	for i, name := range trickyNames() {
		if i%3 == 0 {
			e.cut(1, name, makeCall(name, i+3).Key)
		}
	}
	if err := e.s.CacheVerdict(e.Context(), [16]byte{7}, makeVerdict(7)); err != nil {
		e.Fatal(err)
	}
	tools := map[string]memoryd.Tool{}
	calls := map[string][]memoryd.Call{}
	for _, name := range trickyNames() {
		tools[name], calls[name] = e.tool(ref(name)), e.history(ref(name), 0)
	}
	for range 2 {
		e.reopen()
		for _, name := range trickyNames() {
			got := e.tool(ref(name))
			if d := diffTool(got, tools[name]); d != "" {
				e.Fatal(d)
			}
			if !instant(got.Created).Equal(instant(tools[name].Created)) || !instant(got.Modified).Equal(instant(tools[name].Modified)) {
				e.Errorf("%q: times changed from %v, %v to %v, %v", name,
					tools[name].Created, tools[name].Modified, got.Created, got.Modified)
			}
			e.wantHistory(ref(name), calls[name][0].Seq, calls[name]...)
		}
		e.wantCached([16]byte{7}, makeVerdict(7))
	}
	list, err := e.s.ListTools(e.Context(), space, "", 1000)
	if err != nil || len(list) != len(tools) {
		e.Errorf("got %d tools, %v", len(list), err)
	}
}
