package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

// many is a store with two workspaces, of which one has more tools, calls of one
// tool and records than a page holds.
func many(t *testing.T) store.Store {
	s := mem.New()
	for n := range 450 {
		b := store.Batch{Workspace: "w", Keep: 1000}
		for _, tool := range []string{"a", fmt.Sprintf("t%03d", n)} {
			c := memoryd.Call{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}, Output: "x", Evaluation: memoryd.PendingEvaluation()}
			copy(c.Key[:], fmt.Sprintf("%s %d", tool, n))
			b.Calls = append(b.Calls, c)
		}
		_, err := s.Append(t.Context(), b)
		if err == nil {
			_, err = s.PutRecord(t.Context(), store.Record{RecordKey: store.RecordKey{Kind: "note", ID: fmt.Sprintf("%03d", n)}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// counts goes through all iterations, and breaks off after most items of each.
func counts(ctx context.Context, s store.Store, most int) (n [4]int, err error) {
	for range store.AllWorkspaces(ctx, s) {
		n[0]++
	}
	last := ""
	for t, err := range store.AllTools(ctx, s, "w") {
		if err != nil {
			return n, err
		}
		if t.Tool <= last {
			return n, fmt.Errorf("%q after %q", t.Tool, last)
		}
		last = t.Tool
		if n[1]++; n[1] == most {
			break
		}
	}
	seq := int64(1000)
	for c, err := range store.AllCalls(ctx, s, memoryd.ToolRef{Workspace: "w", Tool: "a"}, true) {
		if err != nil {
			return n, err
		}
		if c.Seq >= seq || c.Output != "" {
			return n, fmt.Errorf("call %d with %q after %d", c.Seq, c.Output, seq)
		}
		seq = c.Seq
		if n[2]++; n[2] == most {
			break
		}
	}
	for _, err := range store.AllRecords(ctx, s, store.RecordKey{Kind: "note", ID: "009"}) {
		if err != nil {
			return n, err
		}
		if n[3]++; n[3] == most {
			break
		}
	}
	return n, nil
}

func TestAnIterationGoesThroughAllPagesOrAsFarAsItIsAsked(t *testing.T) {
	s := many(t)
	for most, want := range map[int][4]int{9999: {1, 451, 450, 440}, 7: {1, 7, 7, 7}, 200: {1, 200, 200, 200}} {
		if got, err := counts(t.Context(), s, most); got != want || err != nil {
			t.Errorf("at most %d: got %v, %v, want %v", most, got, err, want)
		}
	}
}

func TestAnIterationEndsWithItsError(t *testing.T) {
	boom := errors.New("boom")
	for _, method := range []string{"ListTools", "ListCalls", "ListRecords"} {
		asked := 0
		s := storetest.NewFaults(many(t), func(m string, at storetest.Stage) error {
			if m == method && at == storetest.Before {
				if asked++; asked == 2 {
					return boom
				}
			}
			return nil
		})
		if n, err := counts(t.Context(), s, 9999); !errors.Is(err, boom) || asked != 2 {
			t.Errorf("%s: got %v, %v after %d pages", method, n, err, asked)
		}
	}
}
