package qdrant_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/qdrant"

	"github.com/anishathalye/porcupine"
)

// op is one operation of a history: an append of a call (adds 1), a read of the
// counter, or a compare-and-set of the guideline.
type op struct {
	kind   string
	expect int64 // of a guideline: the revision before
}

// result is what came of an op.
type result struct {
	n  int64 // of a read: the counter, or the guideline's revision
	ok bool  // of a compare-and-set
}

// linearModel is a number that grows: that of the calls, and the guideline's
// revision, each checked by itself.
func linearModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return int64(0) },
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			var calls, guidelines []porcupine.Operation
			for _, o := range history {
				if k := o.Input.(op).kind; k == "append" || k == "count" {
					calls = append(calls, o)
				} else {
					guidelines = append(guidelines, o)
				}
			}
			return [][]porcupine.Operation{calls, guidelines}
		},
		Step: func(state, input, output any) (bool, any) {
			n, in, out := state.(int64), input.(op), output.(result)
			switch in.kind {
			case "append":
				return true, n + 1
			case "set":
				if out.ok {
					return n == in.expect, n + 1
				}
				return n != in.expect, n
			}
			return out.n == n, n
		},
	}
}

// Appends, counters and guidelines of one tool are linearizable over replicas on
// one server, also when acknowledgements are lost. (Two appends cannot be told
// apart by the counter; that none is doubled or lost shows in its value.)
func TestHistoriesAreLinearizable(t *testing.T) {
	for name, open := range openers(t) {
		t.Run(name, func(t *testing.T) {
			stores := open(t, 3)
			if _, err := add(t.Context(), stores[0], 10, call("t", 0, 1)); err != nil {
				t.Fatal(err)
			}
			history := record(t, stores)
			if len(history) < 100 {
				t.Fatalf("only %d operations", len(history))
			}
			switch porcupine.CheckOperationsTimeout(linearModel(), history, 20*time.Second) {
			case porcupine.Illegal:
				t.Errorf("a history of %d operations is not linearizable", len(history))
			case porcupine.Unknown:
				t.Errorf("a history of %d operations could not be checked in time", len(history))
			}
		})
	}
}

// record lets clients work on all stores and notes what they did.
func record(t *testing.T, stores []*qdrant.Store) []porcupine.Operation {
	var mu sync.Mutex
	var history []porcupine.Operation
	start := time.Now()
	note := func(client int, in op, do func() (result, error)) {
		from := time.Since(start)
		out, err := do()
		to := time.Since(start)
		if err != nil {
			t.Errorf("%s: %v", in.kind, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{
			ClientId: client, Input: in, Output: out, Call: int64(from), Return: int64(to),
		})
	}
	var wg sync.WaitGroup
	for c := range 6 {
		s := stores[c%len(stores)]
		wg.Go(func() {
			for i := range 8 {
				note(c, op{kind: "append"}, func() (result, error) {
					_, err := add(t.Context(), s, 10, call("t", 1000*(c+1)+i, 1))
					return result{}, err
				})
				var seen memoryd.Tool
				note(c, op{kind: "count"}, func() (r result, err error) {
					seen, err = s.Tool(t.Context(), ref("t"))
					return result{n: seen.Lifetime - 1}, err
				})
				expect := seen.Guideline.Revision
				note(c, op{kind: "set", expect: expect}, func() (result, error) {
					err := s.PutGuideline(t.Context(), ref("t"), memoryd.Guideline{Content: fmt.Sprint(c, i)}, expect)
					if memoryd.IsKind(err, memoryd.Conflict) {
						return result{}, nil
					}
					return result{ok: err == nil}, err
				})
			}
		})
	}
	wg.Wait()
	return history
}

// A record is a register with compare-and-set.
func TestRecordsAreLinearizable(t *testing.T) {
	for name, open := range openers(t) {
		t.Run(name, func(t *testing.T) {
			stores := open(t, 3)
			key := store.RecordKey{Kind: "note", ID: "r"}
			won := make([]int64, 6)
			var wg sync.WaitGroup
			for c := range won {
				s := stores[c%len(stores)]
				wg.Go(func() {
					for range 8 {
						r, err := s.Record(t.Context(), key)
						if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
							t.Error(err)
							return
						}
						got, err := s.PutRecord(t.Context(), store.Record{RecordKey: key, Revision: r.Revision})
						var e *memoryd.Error
						switch {
						case err == nil && got == r.Revision+1:
							won[c]++
						case !errors.As(err, &e) || e.Kind != memoryd.Conflict:
							t.Errorf("got %d, %v", got, err)
						}
					}
				})
			}
			wg.Wait()
			total := int64(0)
			for _, n := range won {
				total += n
			}
			r, err := stores[0].Record(t.Context(), key)
			if err != nil || r.Revision != total {
				t.Errorf("revision %d after %d writes, %v", r.Revision, total, err)
			}
		})
	}
}
