package storetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Backend{
		Open: func(*testing.T) store.Store {
			return storetest.NewFaults(mem.New(), func(string, storetest.Stage) error { return nil })
		},
	})
}

var (
	ref   = memoryd.ToolRef{Workspace: "w", Tool: "t"}
	batch = store.Batch{Workspace: "w", Keep: 9, Calls: []memoryd.Call{{
		ToolRef: ref, Key: memoryd.CallKey{1}, Evaluation: memoryd.PendingEvaluation(),
	}}}
	judged = memoryd.Evaluation{State: memoryd.Judged, Score: 1}
)

func TestAFaultBeforeLeavesTheStoreUntouched(t *testing.T) {
	boom := errors.New("boom")
	inner := mem.New()
	f := storetest.NewFaults(inner, func(m string, s storetest.Stage) error {
		if m == "Append" && s == storetest.Before {
			return boom
		}
		return nil
	})
	if _, err := f.Append(t.Context(), batch); !errors.Is(err, boom) {
		t.Fatalf("got %v", err)
	}
	if _, err := inner.Tool(t.Context(), ref); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestAFaultAfterLosesTheAcknowledgement(t *testing.T) {
	boom := errors.New("boom")
	fails := 1
	f := storetest.NewFaults(mem.New(), func(m string, s storetest.Stage) error {
		if m == "Append" && s == storetest.After && fails > 0 {
			fails--
			return boom
		}
		return nil
	})
	if out, err := f.Append(t.Context(), batch); !errors.Is(err, boom) || out != nil {
		t.Fatalf("got %v, %v", out, err)
	}
	out, err := f.Append(t.Context(), batch)
	if err != nil || out[0].New {
		t.Errorf("the retry: got %+v, %v, want a known call", out, err)
	}
}

func TestEveryMethodAsksOnBothSides(t *testing.T) {
	asked := map[string]int{}
	f := storetest.NewFaults(mem.New(), func(m string, _ storetest.Stage) error { asked[m]++; return nil })
	ctx := t.Context()
	calls := []struct {
		method string
		call   func(context.Context) error
	}{
		{"Ping", f.Ping},
		{"Append", func(ctx context.Context) error { _, err := f.Append(ctx, batch); return err }},
		{"History", func(ctx context.Context) error { _, err := f.History(ctx, ref, 0); return err }},
		{"Samples", func(ctx context.Context) error { _, err := f.Samples(ctx, ref); return err }},
		{"Tool", func(ctx context.Context) error { _, err := f.Tool(ctx, ref); return err }},
		{"ListTools", func(ctx context.Context) error { _, err := f.ListTools(ctx, "w", "", 1); return err }},
		{"ListWorkspaces", func(ctx context.Context) error { _, err := f.ListWorkspaces(ctx, "", 1); return err }},
		{"PutGuideline", func(ctx context.Context) error { return f.PutGuideline(ctx, ref, memoryd.Guideline{}, 0) }},
		{"Claim", func(ctx context.Context) error { _, err := f.Claim(ctx, time.Now(), time.Hour, 1); return err }},
		{"Settle", func(ctx context.Context) error {
			_, err := f.Settle(ctx, []store.Verdict{{ToolRef: ref, Key: memoryd.CallKey{1}, Evaluation: judged}})
			return err
		}},
		{"CacheVerdict", func(ctx context.Context) error { return f.CacheVerdict(ctx, [16]byte{1}, judged) }},
		{"CachedVerdict", func(ctx context.Context) error { _, err := f.CachedVerdict(ctx, [16]byte{1}); return err }},
		{"DeleteTool", func(ctx context.Context) error { return f.DeleteTool(ctx, ref) }},
		{"DeleteWorkspace", func(ctx context.Context) error { _, err := f.DeleteWorkspace(ctx, "w"); return err }},
		{"Close", func(context.Context) error { return f.Close() }},
	}
	for _, c := range calls {
		if err := c.call(ctx); err != nil {
			t.Fatalf("%s: %v", c.method, err)
		}
		if asked[c.method] != 2 {
			t.Errorf("%s asked %d times, want 2", c.method, asked[c.method])
		}
	}
}
