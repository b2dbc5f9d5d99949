package revisions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/guidelines/revisions"
	"memoryd/store"
	"memoryd/store/mem"
)

func TestAToolExpectsWhatItsLikeDid(t *testing.T) {
	near := revisions.Neighbour{Tool: "db__search", Parameters: []string{"limit", "query"}, Judged: 60, Failed: 20}
	for name, tc := range map[string]struct {
		tool        string
		parameters  []string
		other       revisions.Neighbour
		least, most float64 // of the risk; 0, 0: there is no prior
		weight      float64
	}{
		"of its server":    {"db__find", []string{"limit", "query"}, near, 0.33, 0.35, 5},
		"of another":       {"fs__find", []string{"limit", "query"}, near, 0.33, 0.35, 3},
		"itself":           {"db__search", []string{"limit", "query"}, near, 0, 0, 0},
		"no parameters":    {"db__find", nil, near, 0, 0, 0},
		"other parameters": {"db__find", []string{"path", "mode"}, near, 0, 0, 0},
		"too few calls":    {"db__find", near.Parameters, revisions.Neighbour{Tool: "db__x", Parameters: near.Parameters, Judged: 19, Failed: 9}, 0, 0, 0},
		"never failed":     {"db__find", near.Parameters, revisions.Neighbour{Tool: "db__x", Parameters: near.Parameters, Judged: 60}, 0.01, 0.02, 5},
	} {
		p := revisions.PriorOf(tc.tool, tc.parameters, []revisions.Neighbour{tc.other})
		if (p == nil) != (tc.most == 0) || p != nil && (p.Risk < tc.least || p.Risk > tc.most || p.Weight < tc.weight || p.Weight > 10) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// counted counts the requests of a store.
type counted struct {
	*mem.Store
	reads atomic.Int64
}

func (c *counted) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	c.reads.Add(1)
	return c.Store.History(ctx, ref, limit)
}

// TestAskingForAPriorReadsNothingItself asks for a new tool of a workspace with
// many: the answer comes without a read, and what was read in the background
// serves from then on. Only tools that changed are read again.
func TestAskingForAPriorReadsNothingItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &counted{Store: mem.New()}
		for n := range 50 {
			record(t, s.Store, "w", fmt.Sprint("fs__", n), 30)
		}
		p := revisions.NewPriors(s, slog.New(slog.DiscardHandler), time.Now)
		defer p.Stop()
		young := memoryd.ToolRef{Workspace: "w", Tool: "fs__new"}
		calls := []memoryd.Call{{ToolRef: young, Input: json.RawMessage(`{"path":"x"}`)}}
		if got := p.PriorFor(young, calls); got != nil {
			t.Errorf("a prior before anything was read: %+v", got)
		}
		synctest.Wait()
		got := p.PriorFor(young, calls)
		if got == nil || got.Risk > 0.1 || s.reads.Load() != 50 {
			t.Errorf("prior %+v after %d reads", got, s.reads.Load())
		}
		record(t, s.Store, "w", "fs__7", 31)
		time.Sleep(time.Minute)
		p.PriorFor(young, calls)
		synctest.Wait()
		if n := s.reads.Load(); n != 51 {
			t.Errorf("%d reads after one tool changed", n)
		}
	})
}

// TestAPanicWhileReadingIsNotTheEnd has the store panic in the background.
func TestAPanicWhileReadingIsNotTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := revisions.NewPriors(panicking{mem.New()}, slog.New(slog.DiscardHandler), time.Now)
		defer p.Stop()
		calls := []memoryd.Call{{Input: json.RawMessage(`{"path":"x"}`)}}
		for range 3 {
			p.PriorFor(ref, calls)
			synctest.Wait()
		}
	})
}

type panicking struct{ revisions.Store }

func (panicking) ListTools(context.Context, string, string, int) ([]memoryd.Tool, error) {
	panic("foreign text")
}

// record adds judged calls of a tool with one parameter.
func record(t *testing.T, s *mem.Store, workspace, tool string, calls int) {
	t.Helper()
	b := store.Batch{Workspace: workspace, Keep: 100}
	for i := range calls {
		c := memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: workspace, Tool: tool}, Input: json.RawMessage(fmt.Sprintf(`{"path":"%d"}`, i)), Output: "o",
			Success: true, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", JudgeVersion: "v1"},
		}
		c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output}.Key()
		b.Calls = append(b.Calls, c)
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}
