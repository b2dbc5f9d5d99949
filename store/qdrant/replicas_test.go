package qdrant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"
)

func ref(tool string) memoryd.ToolRef { return memoryd.ToolRef{Workspace: "w", Tool: tool} }

// call is a call of its own with an output of some bytes.
func call(tool string, n, size int) memoryd.Call {
	c := memoryd.Call{
		ToolRef: ref(tool), Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Output: string(make([]byte, size)),
		CreateTime: fmt.Sprint(n), Evaluation: memoryd.PendingEvaluation(),
	}
	c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime}.Key()
	c.Hash = memoryd.HashOf(c.Input, c.Output)
	return c
}

func add(ctx context.Context, s store.Store, keep int, calls ...memoryd.Call) ([]store.Appended, error) {
	return s.Append(ctx, store.Batch{Workspace: "w", Calls: calls, Keep: keep})
}

// openers gives what opens stores on one set of collections: on a fake server,
// in trouble or not, and on a real one if there is one.
func openers(t *testing.T) map[string]func(t *testing.T, n int) []*qdrant.Store {
	out := map[string]func(t *testing.T, n int) []*qdrant.Store{}
	for _, trouble := range []bool{false, true} {
		out[fmt.Sprintf("fake, trouble %v", trouble)] = func(t *testing.T, n int) (stores []*qdrant.Store) {
			server := qdranttest.New(t, versions[0])
			for range n {
				stores = append(stores, openFake(t, server, patientConfig(), qdrant.WithSleep(noWait)))
			}
			if trouble {
				server.Inject(troubles(3))
			}
			return stores
		}
	}
	out["real"] = func(t *testing.T, n int) (stores []*qdrant.Store) {
		b := realBackend(t)
		stores = append(stores, b.Open(t).(*qdrant.Store))
		for range n - 1 {
			stores = append(stores, b.Beside(t))
		}
		return stores
	}
	return out
}

// 64 writers on 3 replicas add to one tool while summaries of it are written.
func TestManyReplicasLoseNothing(t *testing.T) {
	for name, open := range openers(t) {
		t.Run(name, func(t *testing.T) {
			each := 200
			switch {
			case testing.Short():
				each = 8
			case strings.Contains(name, "trouble true"):
				each = 20
			case strings.HasPrefix(name, "fake"):
				each = 60
			}
			manyReplicas(t, open(t, 3), 64, each, 100)
		})
	}
}

func manyReplicas(t *testing.T, stores []*qdrant.Store, writers, each, keep int) {
	var mu sync.Mutex
	var seqs []int64
	first := 0
	work := make(chan struct{}, len(stores))
	summaries := summarise(t, stores, work)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				got, err := add(t.Context(), stores[(w+i)%len(stores)], keep, call("t", w*each+i, 100))
				if err != nil || !got[0].New {
					t.Errorf("writer %d: %+v, %v", w, got, err)
					return
				}
				mu.Lock()
				seqs = append(seqs, got[0].Seq)
				if got[0].FirstOfTool {
					first++
				}
				mu.Unlock()
				if i%40 == 0 {
					select {
					case work <- struct{}{}:
					default: // all replicas write summaries just now
					}
				}
			}
		})
	}
	wg.Wait()
	close(work)
	written := summaries()
	slices.Sort(seqs)
	if len(slices.Compact(slices.Clone(seqs))) != writers*each || first != 1 {
		t.Errorf("%d numbers of %d calls, %d firsts", len(slices.Compact(seqs)), writers*each, first)
	}
	for i, s := range stores {
		tool, err := s.Tool(t.Context(), ref("t"))
		if err != nil {
			t.Fatal(err)
		}
		want := memoryd.Counters{Lifetime: int64(writers * each), Pending: int64(keep)}
		if tool.Counters != want || tool.Kept != keep || tool.Guideline.Revision != written {
			t.Errorf("replica %d: got %+v, want %+v and guideline %d", i, tool, want, written)
		}
		calls, err := s.History(t.Context(), ref("t"), 0)
		if err != nil || len(calls) != keep {
			t.Fatalf("replica %d: %d calls, %v", i, len(calls), err)
		}
		for j := range calls {
			if want := seqs[len(seqs)-keep+j]; calls[j].Seq != want {
				t.Errorf("replica %d: kept call %d has number %d, want %d", i, j, calls[j].Seq, want)
			}
		}
	}
}

// summarise writes a guideline for each piece of work, on all stores at once,
// until there is no more; what it gives waits and counts those that were written.
func summarise(t *testing.T, stores []*qdrant.Store, work chan struct{}) func() int64 {
	var wg sync.WaitGroup
	counts := make([]int64, len(stores))
	for i, s := range stores {
		wg.Go(func() {
			for range work {
				tool, err := s.Tool(t.Context(), ref("t"))
				if memoryd.IsKind(err, memoryd.NotFound) {
					continue
				}
				if err == nil {
					_, err = s.History(t.Context(), ref("t"), 20)
				}
				if err == nil {
					err = s.PutGuideline(t.Context(), ref("t"), memoryd.Guideline{Content: fmt.Sprint(i)}, tool.Guideline.Revision)
				}
				switch {
				case err == nil:
					counts[i]++
				case !memoryd.IsKind(err, memoryd.Conflict):
					t.Errorf("summary: %v", err)
					return
				}
			}
		})
	}
	return func() (total int64) {
		wg.Wait()
		for _, n := range counts {
			total += n
		}
		return total
	}
}

// The same calls sent to all replicas at once are accepted once.
func TestOneCallSentToAllReplicas(t *testing.T) {
	for name, open := range openers(t) {
		t.Run(name, func(t *testing.T) {
			stores := open(t, 3)
			accepted := make([]int, 40)
			if testing.Short() {
				accepted = accepted[:10]
			}
			var mu sync.Mutex
			var wg sync.WaitGroup
			for range 4 {
				for _, s := range stores {
					wg.Go(func() {
						for n := range accepted {
							got, err := add(t.Context(), s, 100, call("t", n, 10), call("u", n, 10))
							if err != nil {
								t.Error(err)
								return
							}
							mu.Lock()
							for _, a := range got {
								if a.New {
									accepted[n]++
								}
							}
							mu.Unlock()
						}
					})
				}
			}
			wg.Wait()
			for n, times := range accepted {
				if times != 2 {
					t.Errorf("the two calls %d were accepted %d times", n, times)
				}
			}
			tool, err := stores[0].Tool(t.Context(), ref("u"))
			if err != nil || tool.Lifetime != int64(len(accepted)) || tool.Duplicates != 0 {
				t.Errorf("got %+v, %v", tool, err)
			}
		})
	}
}

// A deletion on one replica while others append: what was acknowledged after it
// is there, and the counters agree with the calls.
func TestDeletingBesideAppends(t *testing.T) {
	for name, open := range openers(t) {
		t.Run(name, func(t *testing.T) {
			stores := open(t, 3)
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					for i := range 30 {
						if _, err := add(t.Context(), stores[w%3], 1000, call("t", w*30+i, 10)); err != nil {
							t.Errorf("append: %v", err)
						}
					}
				})
			}
			wg.Go(func() {
				for range 5 {
					if err := stores[0].DeleteTool(t.Context(), ref("t")); err != nil {
						t.Errorf("delete: %v", err)
					}
				}
			})
			wg.Wait()
			last, err := add(t.Context(), stores[1], 1000, call("t", 5000, 10))
			if err != nil || !last[0].New {
				t.Fatalf("got %+v, %v", last, err)
			}
			tool, err := stores[2].Tool(t.Context(), ref("t"))
			if err != nil {
				t.Fatal(err)
			}
			calls, err := stores[2].History(t.Context(), ref("t"), 0)
			if err != nil || int64(len(calls)) != tool.Lifetime || calls[len(calls)-1].Seq != last[0].Seq {
				t.Errorf("%d calls, %+v, %v", len(calls), tool, err)
			}
			again, err := add(t.Context(), stores[0], 1000, calls...)
			for i, a := range again {
				if a.New {
					t.Errorf("call %d was accepted twice", i)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestADeadReplicasClaimsArePickedUp(t *testing.T) {
	for name, open := range openers(t) {
		t.Run(name, func(t *testing.T) {
			stores := open(t, 2)
			if _, err := add(t.Context(), stores[0], 100, call("t", 1, 10), call("t", 2, 10)); err != nil {
				t.Fatal(err)
			}
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			claim := func(s *qdrant.Store, at time.Time) int {
				got, err := s.Claim(t.Context(), at, time.Minute, 9)
				if err != nil {
					t.Fatal(err)
				}
				return len(got)
			}
			if n := claim(stores[0], now); n != 2 {
				t.Fatalf("claimed %d", n)
			}
			if n := claim(stores[1], now.Add(time.Second)); n != 0 {
				t.Errorf("another replica claimed %d of what was leased", n)
			}
			if n := claim(stores[1], now.Add(2*time.Minute)); n != 2 {
				t.Errorf("after the lease %d were claimed", n)
			}
		})
	}
}

func TestReplicasStartAtOnce(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	server.Inject(troubles(5))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := qdrant.Open(t.Context(), patientConfig(), "", slog.New(slog.DiscardHandler),
				qdrant.WithDialer(server.Dial), qdrant.WithSleep(noWait))
			if err != nil {
				t.Error(err)
				return
			}
			_, err = add(t.Context(), s, 9, call("t", 1, 1))
			if err = errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	server.Inject(nil)
	tool, err := openFake(t, server, fakeConfig()).Tool(t.Context(), ref("t"))
	if err != nil || tool.Lifetime != 1 {
		t.Errorf("got %+v, %v", tool, err)
	}
}

// What one replica recorded of a run the others find at once, with the verdict that
// a third gave.
func TestAllReplicasKnowARun(t *testing.T) {
	for name, open := range openers(t) {
		t.Run(name, func(t *testing.T) {
			stores := open(t, 3)
			for n := 1; n <= 3; n++ {
				c := call(fmt.Sprint("t", n), n, 10)
				c.Metadata = json.RawMessage(`{"trajectory_id":"r"}`)
				if _, err := add(t.Context(), stores[n-1], 9, c); err != nil {
					t.Fatal(err)
				}
				bad := store.Verdict{ToolRef: c.ToolRef, Key: c.Key, Evaluation: memoryd.Evaluation{State: memoryd.Judged}}
				if wrote, err := stores[n%3].Settle(t.Context(), []store.Verdict{bad}); err != nil || !wrote[0] {
					t.Fatal(wrote, err)
				}
				for i, s := range stores {
					run, err := s.RunCalls(t.Context(), "w", "r", 9)
					if err != nil || len(run) != n || run[0].Key != c.Key || run[0].State != memoryd.Judged {
						t.Errorf("replica %d after %d calls: got %+v, %v", i, n, run, err)
					}
				}
			}
		})
	}
}
