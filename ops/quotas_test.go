package ops_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/ops"
	"memoryd/store"
	"memoryd/store/mem"
)

func quotaOver(s store.Store, most ops.Quotas) *ops.QuotaStore {
	return ops.NewQuotaStore(s, most, slog.New(slog.DiscardHandler), time.Now)
}

// callOf makes a call of a kilobyte.
func callOf(workspace, tool string, n int) memoryd.Call {
	c := memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: workspace, Tool: tool}, Input: json.RawMessage(fmt.Sprint(n)), Output: strings.Repeat("x", 1000),
		Evaluation: memoryd.PendingEvaluation(), CreateTime: time.Now().Add(time.Duration(n) * time.Second).Format(time.DateTime),
	}
	c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime}.Key()
	return c
}

func keepCall(ctx context.Context, s store.Store, workspace, tool string, n, keep int) error {
	_, err := s.Append(ctx, store.Batch{Workspace: workspace, Keep: keep, Calls: []memoryd.Call{callOf(workspace, tool, n)}})
	return err
}

func keepOriginal(ctx context.Context, s store.Store, workspace string, n int) error {
	return s.PutRecords(ctx, []store.Record{{
		RecordKey: store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: workspace}, Kind: ops.OriginalKind, ID: fmt.Sprint(n)}, Data: bytes.Repeat([]byte("x"), 1000),
	}})
}

// slowOriginals writes records a second late.
type slowOriginals struct{ store.Store }

func (s slowOriginals) PutRecords(ctx context.Context, rs []store.Record) error {
	time.Sleep(time.Second)
	return s.Store.PutRecords(ctx, rs)
}

// A count that began with a write and ended before it took what was being written for written, and left room for
// one more than the quota.
func TestACountDoesNotForgetWhatIsBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := mem.New()
		s := quotaOver(slowOriginals{kept}, ops.Quotas{Originals: 3})
		for n := range 3 {
			if err := keepOriginal(t.Context(), s, "w", n); err != nil {
				t.Fatal(err)
			}
		}
		if err := keepOriginal(t.Context(), s, "w", 9); !memoryd.IsKind(err, memoryd.OverQuota) {
			t.Errorf("one more: %v", err)
		}
		if all := held(t, kept); all != 3 {
			t.Errorf("%d are kept", all)
		}
	})
}

// Each quota refuses what would be more, names itself with its limit and what is used,
// keeps nothing of it, holds after a restart, and leaves room again for what was deleted.
func TestQuotasRefuseWhatWouldBeMore(t *testing.T) {
	calls := func(ctx context.Context, s store.Store, n int) error { return keepCall(ctx, s, "w", "t", n, 100) }
	tools := func(ctx context.Context, s store.Store, n int) error {
		return keepCall(ctx, s, "w", fmt.Sprint("t", n), n, 100)
	}
	originals := func(ctx context.Context, s store.Store, n int) error { return keepOriginal(ctx, s, "w", n) }
	restored := func(ctx context.Context, s store.Store, n int) error {
		ref := memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprint("t", n)}
		c := callOf("w", ref.Tool, n)
		c.Seq = 1
		return s.RestoreTool(ctx, memoryd.Tool{ToolRef: ref, Counters: memoryd.Counters{Lifetime: 1}, Revision: 1, Created: time.Now(), Modified: time.Now()}, []memoryd.Call{c})
	}
	for name, c := range map[string]struct {
		most ops.Quotas
		add  func(ctx context.Context, s store.Store, n int) error
		want string
	}{
		"calls' bytes":     {ops.Quotas{Bytes: 3500}, calls, "may hold 3500 bytes (quotas.bytes); it holds 3003, and this adds 1001"},
		"originals' bytes": {ops.Quotas{Bytes: 3500}, originals, "quotas.bytes"},
		"tools":            {ops.Quotas{Tools: 3}, tools, "may hold 3 tools (quotas.tools); it holds 3, and this adds 1"},
		"restored tools":   {ops.Quotas{Tools: 3}, restored, "quotas.tools"},
		"originals":        {ops.Quotas{Originals: 3}, originals, "may hold 3 originals (quotas.originals); it holds 3"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // a count takes no time
				kept := mem.New()
				s := quotaOver(kept, c.most)
				for n := range 3 {
					if err := c.add(t.Context(), s, n); err != nil {
						t.Fatalf("number %d: %v", n, err)
					}
				}
				for _, s := range []*ops.QuotaStore{s, s, quotaOver(kept, c.most)} {
					if err := c.add(t.Context(), s, 9); !memoryd.IsKind(err, memoryd.OverQuota) || !strings.Contains(err.Error(), c.want) {
						t.Errorf("one more: %v", err)
					}
				}
				if all := held(t, kept); all != 3 {
					t.Errorf("%d are kept", all)
				}
				if err := keepCall(t.Context(), s, "other", "t", 1, 100); err != nil {
					t.Errorf("another workspace: %v", err)
				}
				if _, err := s.DeleteWorkspace(t.Context(), "w"); err != nil {
					t.Fatal(err)
				}
				if err := c.add(t.Context(), s, 9); err != nil {
					t.Errorf("after a deletion: %v", err)
				}
			})
		})
	}
}

// held counts the calls, or else the tools, and the originals of the workspace w.
func held(t *testing.T, s store.Store) (n int64) {
	t.Helper()
	for tool, err := range store.AllTools(t.Context(), s, "w") {
		if err != nil {
			t.Fatal(err)
		}
		n += max(1, int64(tool.Kept))
	}
	size, err := s.RecordsSize(t.Context(), store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: "w"}, Kind: ops.OriginalKind})
	if err != nil {
		t.Fatal(err)
	}
	return n + size.Count
}

// Workspaces are counted too; those that are there go on, also those that have nothing but
// originals.
func TestWorkspacesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := mem.New()
		s := quotaOver(kept, ops.Quotas{Workspaces: 3})
		for n := range 3 {
			if err := keepOriginal(t.Context(), s, fmt.Sprint("w", n), 1); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			if err := keepCall(t.Context(), s, "w3", "t", 1, 9); !memoryd.IsKind(err, memoryd.OverQuota) || !strings.Contains(err.Error(), "3 workspaces, the limit of quotas.workspaces") {
				t.Errorf("one more: %v", err)
			}
			if err := keepCall(t.Context(), s, "w1", "t", 1, 9); err != nil {
				t.Errorf("one that is there: %v", err)
			}
			time.Sleep(time.Minute)
		}
		if err := keepCall(t.Context(), kept, "w9", "t", 1, 9); err != nil { // another server's
			t.Fatal(err)
		}
		if err := keepCall(t.Context(), s, "w9", "t", 2, 9); err != nil {
			t.Errorf("one that another server made: %v", err)
		}
		if got := s.Refused(); got["workspaces"] != 3 || got["tools"] != 0 {
			t.Errorf("refusals: %v", got)
		}
	})
}

// A history that lets a call go for each that comes never fills a quota.
func TestCallsThatAHistoryLetGoFillNoQuota(t *testing.T) {
	s := quotaOver(mem.New(), ops.Quotas{Bytes: 10_000, Tools: 2})
	for n := range 200 {
		err := keepCall(t.Context(), s, "w", fmt.Sprint("t", n%2), n, 4)
		for memoryd.IsKind(err, memoryd.Overloaded) { // until the next count
			err = keepCall(t.Context(), s, "w", fmt.Sprint("t", n%2), n, 4)
		}
		if err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
	}
}

// The first adds after a start wait no longer for the count of a large workspace than one
// can notice, all together, and are not refused by a count that did not end.
func TestALargeWorkspaceIsCountedBesideItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := false
		s := quotaOver(slowToCount(mem.New(), time.Minute, &no), ops.Quotas{Bytes: 2000})
		begun := time.Now()
		for n := range 100 {
			if err := keepCall(t.Context(), s, "w", "t", n, 100); err != nil {
				t.Errorf("call %d: %v", n, err)
			}
		}
		if took := time.Since(begun); took > 20*time.Millisecond {
			t.Errorf("100 adds waited for %v", took)
		}
		time.Sleep(2 * time.Minute)
		if err := keepCall(t.Context(), s, "w", "t", 200, 100); !memoryd.IsKind(err, memoryd.OverQuota) {
			t.Errorf("after the count: %v", err)
		}
	})
}

// slowToCount is a store whose tools take a time to list, and whose appends fail while fail
// is set.
func slowToCount(kept store.Store, took time.Duration, fail *bool) store.Store {
	return store.Intercept(kept, store.Bracket{
		Begin: func(_ context.Context, method string) error {
			if method == "ListTools" {
				time.Sleep(took)
			}
			if method == "Append" && *fail {
				return memoryd.Errorf(memoryd.Unavailable, "away")
			}
			return nil
		},
		End: func(_ string, _ time.Duration, err error) error { return err },
	})
}

// A workspace that takes a minute to count is full between two counts: the refusal says how much
// it may hold, what it holds at most, and when it will be known.
func TestARefusalBetweenTwoCountsSaysWhenTheNextIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := false
		s := quotaOver(slowToCount(mem.New(), time.Minute, &no), ops.Quotas{Tools: 4})
		add := func(n int) error { return keepCall(t.Context(), s, "w", fmt.Sprint("t", n), n, 100) }
		for n := range 3 { // the first begins a count, and is in it and beside it
			if err := add(n); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Minute)
		}
		err := add(3)
		if want := "may hold 4 tools (quotas.tools); it holds at most 4 (to be counted again in 1"; !memoryd.IsKind(err, memoryd.Overloaded) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if e := (*memoryd.Error)(nil); !errors.As(err, &e) || e.RetryAfter != 30*time.Second {
			t.Errorf("come back after %v", e.RetryAfter)
		}
		time.Sleep(20 * time.Minute)
		if err := add(3); !memoryd.IsKind(err, memoryd.Overloaded) || !strings.Contains(err.Error(), "holds at most 4 (to be counted again now)") {
			t.Errorf("while it is counted: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if err := add(3); err != nil {
			t.Errorf("after it was counted: %v", err)
		}
	})
}

// A tool that comes during a count is in it and beside it: a refusal does not tell of two.
func TestARefusalTellsWhatWasCountedAndNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := false
		s := quotaOver(slowToCount(mem.New(), time.Minute, &no), ops.Quotas{Tools: 1})
		if err := keepCall(t.Context(), s, "w", "a", 1, 100); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		err := keepCall(t.Context(), s, "w", "b", 2, 100)
		if !memoryd.IsKind(err, memoryd.OverQuota) || !strings.Contains(err.Error(), "it holds 1, and this adds 1") {
			t.Errorf("got %v", err)
		}
	})
}

// What could not be written is given back at once, not at the next count.
func TestAWriteThatFailsFillsNoQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := false
		s := quotaOver(slowToCount(mem.New(), 500*time.Millisecond, &fail), ops.Quotas{Bytes: 2500})
		if err := keepCall(t.Context(), s, "w", "t", 0, 100); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // it is counted
		fail = true
		for n := range 5 {
			if err := keepCall(t.Context(), s, "w", "t", n+1, 100); !memoryd.IsKind(err, memoryd.Unavailable) {
				t.Errorf("write %d: %v", n, err)
			}
		}
		fail = false
		if err := keepCall(t.Context(), s, "w", "t", 9, 100); err != nil {
			t.Errorf("a write that there is room for: %v", err)
		}
	})
}

// What was deleted leaves room at once, although the workspace was counted just now.
func TestADeletionLeavesRoomAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := false
		s := quotaOver(slowToCount(mem.New(), 500*time.Millisecond, &fail), ops.Quotas{Bytes: 2500})
		for n := range 2 {
			if err := keepCall(t.Context(), s, "w", fmt.Sprint("t", n), n, 100); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if err := keepCall(t.Context(), s, "w", "t2", 2, 100); !memoryd.IsKind(err, memoryd.OverQuota) {
			t.Errorf("one more: %v", err)
		}
		if err := s.DeleteTool(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "t0"}); err != nil {
			t.Fatal(err)
		}
		if err := keepCall(t.Context(), s, "w", "t2", 3, 100); err != nil {
			t.Errorf("after the deletion: %v", err)
		}
		time.Sleep(time.Minute) // it is counted
	})
}
