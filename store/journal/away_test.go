package journal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/journal"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

func ref(tool string) memoryd.ToolRef { return memoryd.ToolRef{Workspace: "w", Tool: tool} }

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// pending is a call of its own that waits for its judge.
func pending(tool string, n int) memoryd.Call {
	c := memoryd.Call{
		ToolRef: ref(tool), Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Output: "broken \xff and \x00",
		CreateTime: fmt.Sprint(n), Time: epoch.Add(time.Duration(n) * time.Second), Evaluation: memoryd.PendingEvaluation(),
	}
	c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime}.Key()
	c.Hash = memoryd.HashOf(c.Input, c.Output)
	return c
}

func calls(tool string, from, to int) (out []memoryd.Call) {
	for n := from; n <= to; n++ {
		out = append(out, pending(tool, n))
	}
	return out
}

func add(t testing.TB, s store.Store, keep int, calls ...memoryd.Call) []store.Appended {
	t.Helper()
	got, err := s.Append(t.Context(), store.Batch{Workspace: calls[0].Workspace, Calls: calls, Keep: keep})
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return got
}

func verdict(c memoryd.Call, score float64) store.Verdict {
	return store.Verdict{ToolRef: c.ToolRef, Key: c.Key, Evaluation: memoryd.Evaluation{
		State: memoryd.Judged, Score: score, Summary: "s", JudgedBy: "rules", JudgedAt: epoch,
	}}
}

func settle(t testing.TB, s store.Store, vs ...store.Verdict) {
	t.Helper()
	got, err := s.Settle(t.Context(), vs)
	if err != nil {
		t.Fatalf("settle: %v", err)
	}
	for i := range got {
		if !got[i] {
			t.Errorf("verdict %d was not written", i)
		}
	}
}

func drain(t testing.TB, s *journal.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		t.Fatalf("drain: %v", err)
	}
}

// history gives the tool's calls as "1:pending 2:judged", by their create times.
func history(t testing.TB, s store.Store, tool string) string {
	t.Helper()
	got, err := s.History(t.Context(), ref(tool), 0)
	if err != nil {
		t.Fatalf("history: %v", err)
	}
	var out []string
	last := int64(0)
	for _, c := range got {
		if c.Seq <= last {
			t.Errorf("number %d after %d", c.Seq, last)
		}
		last = c.Seq
		out = append(out, c.CreateTime+":"+string(c.Evaluation.State))
	}
	return strings.Join(out, " ")
}

func wantHistory(t testing.TB, s store.Store, tool, want string) {
	t.Helper()
	if got := history(t, s, tool); got != want {
		t.Errorf("%s: got history %q, want %q", tool, got, want)
	}
}

func describe(t testing.TB, s store.Store, tool string) memoryd.Tool {
	t.Helper()
	got, err := s.Tool(t.Context(), ref(tool))
	if err != nil {
		t.Fatalf("tool: %v", err)
	}
	return got
}

func wantKind(t testing.TB, err error, kind memoryd.Kind) {
	t.Helper()
	if !memoryd.IsKind(err, kind) {
		t.Errorf("got %v, want %s", err, kind)
	}
}

// link is a remote store whose connection a test cuts: all of it, or only what
// forwards.
type link struct {
	*storetest.Faults
	cut, noForwarding atomic.Bool
	appends           atomic.Int64
}

func newLink(inner store.Store) *link {
	l := &link{}
	l.Faults = storetest.NewFaults(inner, func(method string, stage storetest.Stage) error {
		forwards := journaled[method] || method == "DeleteWorkspace"
		if method != "Close" && (l.cut.Load() || forwards && l.noForwarding.Load()) {
			return memoryd.Errorf(memoryd.Unavailable, "the line is cut")
		}
		if method == "Append" && stage == storetest.After {
			l.appends.Add(1)
		}
		return nil
	})
	return l
}

// brief gives up on the remote store soon.
func brief() journal.Config {
	cfg := quick()
	cfg.RemoteWait = 5 * time.Millisecond
	return cfg
}

func TestRemoteAwayFromTheStart(t *testing.T) {
	remote := newLink(lasting{mem.New()})
	remote.cut.Store(true)
	s := open(t, mem.New(), remote, brief())
	got := add(t, s, 3, calls("t", 1, 4)...)
	for i, a := range got {
		if want := (store.Appended{New: true, FirstOfTool: true, Seq: int64(i) + 1}); a != want {
			t.Errorf("call %d: got %+v", i, a)
		}
	}
	if a := add(t, s, 3, pending("t", 1))[0]; a.New {
		t.Error("a call was accepted twice")
	}
	settle(t, s, verdict(pending("t", 3), 1))
	wantHistory(t, s, "t", "2:pending 3:judged 4:pending")
	if got := describe(t, s, "t"); got.Lifetime != 4 || got.Kept != 3 || got.Pending != 2 {
		t.Errorf("got %+v", got)
	}
	if got, err := s.ListTools(t.Context(), "w", "", 9); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := s.ListWorkspaces(t.Context(), "", 9); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := s.SearchTools(t.Context(), "w", "T", 9); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	wantKind(t, s.PutGuideline(t.Context(), ref("t"), memoryd.Guideline{Content: "x"}, 0), memoryd.Unavailable)
	_, err := s.PutRecord(t.Context(), store.Record{RecordKey: store.RecordKey{Kind: "note", ID: "1"}})
	wantKind(t, err, memoryd.Unavailable)
	_, err = s.Record(t.Context(), store.RecordKey{Kind: "note", ID: "1"})
	wantKind(t, err, memoryd.Unavailable)
	_, err = s.Tool(t.Context(), ref("unknown here"))
	wantKind(t, err, memoryd.Unavailable)
	if claimed, err := s.Claim(t.Context(), epoch, time.Minute, 9); err != nil || len(claimed) != 2 {
		t.Errorf("claimed %v, %v", claimed, err)
	}
	if !s.Status().Away || s.Status().Operations != 3 {
		t.Errorf("got %+v", s.Status())
	}
	remote.cut.Store(false)
	drain(t, s)
	wantHistory(t, remote.Store, "t", "2:pending 3:judged 4:pending")
	if got := describe(t, remote.Store, "t"); got.Lifetime != 4 || got.Revision != 5 {
		t.Errorf("got %+v", got)
	}
}

// While only writes fail, reads show what both sides have.
func TestReadsMergeWhatWaits(t *testing.T) {
	inner := lasting{mem.New()}
	other := pending("t", 100)
	add(t, inner, 9, other, pending("u", 1))
	remote := newLink(inner)
	s := open(t, mem.New(), remote, brief())
	add(t, s, 9, pending("t", 1))
	drain(t, s)
	remote.noForwarding.Store(true)
	add(t, s, 3, pending("t", 2), pending("t", 3), pending("v", 1))
	settle(t, s, verdict(pending("t", 1), 1))
	if err := s.DeleteTool(t.Context(), ref("u")); err != nil {
		t.Fatal(err)
	}
	reads(t, s)
	remote.noForwarding.Store(false)
	drain(t, s)
	reads(t, s)
	wantHistory(t, inner, "t", "1:judged 2:pending 3:pending")
}

// reads checks the merged state, before and after it was forwarded.
func reads(t *testing.T, s *journal.Store) {
	t.Helper()
	wantHistory(t, s, "t", "1:judged 2:pending 3:pending")
	if got := describe(t, s, "t"); got.Lifetime != 4 || got.Kept != 3 || got.Pending != 2 || got.Revision != 5 {
		t.Errorf("got %+v", got)
	}
	if got, err := s.Samples(t.Context(), ref("t")); err != nil || len(got) != 3 || got[0].State != memoryd.Judged {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err := s.ListTools(t.Context(), "w", "", 9)
	if err != nil || len(got) != 2 || got[0].Tool != "t" || got[1].Tool != "v" || got[0].Lifetime != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.ListTools(t.Context(), "w", "t", 1); err != nil || len(got) != 1 || got[0].Tool != "v" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.SearchTools(t.Context(), "w", "t v u", 9); err != nil || len(got) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.ListWorkspaces(t.Context(), "", 9); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = s.Tool(t.Context(), ref("u"))
	wantKind(t, err, memoryd.NotFound)
	wantHistory(t, s, "u", "")
}

// What arrives between the look at what waits and the look at the remote store has
// trimmed the history there already, and what came after it let it grow again.
func TestAnAppendThatArrivesDuringAReadDoesNotTrimTwice(t *testing.T) {
	remote := newLink(lasting{mem.New()})
	var s *journal.Store
	arrives := storetest.NewFaults(remote, func(method string, _ storetest.Stage) error {
		if method == "Tool" && remote.noForwarding.Swap(false) {
			drain(t, s)
		}
		return nil
	})
	s = open(t, mem.New(), arrives, brief())
	for name, appends := range map[string]func(tool string){
		"it has new calls":  func(tool string) { add(t, s, 2, calls(tool, 4, 4)...) },
		"it has known ones": func(tool string) { add(t, s, 1, calls(tool, 3, 3)...) },
	} {
		add(t, s, 9, calls(name, 1, 3)...)
		drain(t, s)
		remote.noForwarding.Store(true)
		appends(name)
		add(t, s, 9, calls(name, 5, 6)...)
		if waits := s.Status().Operations; waits != 2 {
			t.Errorf("%s: %d operations wait, want 2", name, waits)
		}
		got := history(t, s, name)
		if remote.noForwarding.Load() {
			t.Errorf("%s: nothing arrived during the read", name)
		}
		if want := history(t, remote, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
