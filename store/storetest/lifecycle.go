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
		"Samples":   func(ctx context.Context) error { _, err := s.Samples(ctx, ref("t")); return err },
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
