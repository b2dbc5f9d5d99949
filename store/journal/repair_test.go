package journal_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/store"
	"memoryd/store/journal"
	"memoryd/store/mem"
)

func repair(t *testing.T, s *journal.Store) journal.Report {
	t.Helper()
	r, err := s.Repair(t.Context())
	if err != nil {
		t.Fatalf("repair: %v", err)
	}
	return r
}

func wantReport(t *testing.T, got, want journal.Report) {
	t.Helper()
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// snapshot copies a tool to another store, as a backup of the first would have it.
func snapshot(t *testing.T, from, to store.Store, tool string) {
	t.Helper()
	got := describe(t, from, tool)
	calls, err := from.History(t.Context(), ref(tool), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.RestoreTool(t.Context(), got, calls); err != nil {
		t.Fatal(err)
	}
}

// exchangeable is a remote store whose content a test replaces.
type exchangeable struct{ store.Store }

// world is a journal whose remote store can lose things.
type world struct {
	*testing.T
	remote *exchangeable
	s      *journal.Store
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, remote: &exchangeable{lasting{mem.New()}}}
	w.s = open(t, mem.New(), w.remote, quick())
	return w
}

// lose puts in the remote store's place an older state of it, made by f.
func (w *world) lose(f func(old, older store.Store)) {
	w.Helper()
	drain(w, w.s)
	older := lasting{mem.New()}
	f(w.remote.Store, older)
	w.remote.Store = older
}

func TestRepairPutsBackWhatWasLost(t *testing.T) {
	w := newWorld(t)
	add(t, w.s, 5, calls("t", 1, 4)...)
	add(t, w.s, 5, calls("u", 1, 2)...)
	add(t, w.s, 5, calls("gone", 1, 3)...)
	wantReport(t, repair(t, w.s), journal.Report{Tools: 3})
	wantReport(t, repair(t, w.s), journal.Report{Tools: 3, Unchanged: 3})
	backup := mem.New()
	snapshot(t, w.remote, backup, "t")
	snapshot(t, w.remote, backup, "u")

	add(t, w.s, 5, calls("t", 5, 7)...)
	settle(t, w.s, verdict(pending("t", 4), 1), verdict(pending("t", 6), 0), verdict(pending("u", 1), 1))
	correction := verdict(pending("u", 2), 0.5)
	correction.Evaluation.JudgedBy = memoryd.PersonPrefix + "ann"
	if _, err := w.s.Override(t.Context(), correction); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"first", "second"} {
		if err := w.s.PutGuideline(t.Context(), ref("u"), memoryd.Guideline{Content: text}, int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	w.lose(func(_, older store.Store) {
		snapshot(t, backup, older, "t")
		snapshot(t, backup, older, "u")
	})
	wantReport(t, repair(t, w.s), journal.Report{Tools: 3, Damaged: 3, Calls: 6, Verdicts: 3, Guidelines: 1})
	wantHistory(t, w.remote, "t", "3:pending 4:judged 5:pending 6:judged 7:pending")
	wantHistory(t, w.remote, "u", "1:judged 2:judged")
	wantHistory(t, w.remote, "gone", "1:pending 2:pending 3:pending")
	u := describe(t, w.s, "u")
	if u.Guideline.Content != "second" || u.Guideline.Revision != 1 {
		t.Errorf("got guideline %+v", u.Guideline)
	}
	if got := describe(t, w.remote, "t"); got.Lifetime != 7 {
		t.Errorf("got %+v", got)
	}
	wantReport(t, repair(t, w.s), journal.Report{Tools: 3, Unchanged: 3})
}

// What others' calls pushed out of a full history is not lost.
func TestRepairLeavesAloneWhatWasLetGo(t *testing.T) {
	w := newWorld(t)
	add(t, w.s, 3, calls("t", 1, 3)...)
	for n := 11; n <= 13; n++ {
		add(t, w.remote, 3, pending("t", n))
		wantReport(t, repair(t, w.s), journal.Report{Tools: 1})
	}
	wantHistory(t, w.remote, "t", "11:pending 12:pending 13:pending")
	if got := describe(t, w.remote, "t"); got.Lifetime != 6 {
		t.Errorf("got %+v", got)
	}
}

// A backup that is full of others' calls and older than ours lacks ours.
func TestRepairOfAFullHistory(t *testing.T) {
	w := newWorld(t)
	add(t, w.remote, 3, calls("t", 1, 3)...)
	backup := mem.New()
	snapshot(t, w.remote, backup, "t")
	add(t, w.s, 3, calls("t", 4, 5)...)
	w.lose(func(_, older store.Store) { snapshot(t, backup, older, "t") })
	wantReport(t, repair(t, w.s), journal.Report{Tools: 1, Damaged: 1, Calls: 2})
	wantHistory(t, w.remote, "t", "3:pending 4:pending 5:pending")
}

func TestRepairLearnsVerdictsOfOthers(t *testing.T) {
	w := newWorld(t)
	add(t, w.s, 5, calls("t", 1, 2)...)
	settle(t, w.s, verdict(pending("t", 2), 1))
	settle(t, w.remote, verdict(pending("t", 1), 1))
	correction := verdict(pending("t", 2), 0)
	correction.Evaluation.JudgedBy = memoryd.PersonPrefix + "ann"
	if _, err := w.remote.Override(t.Context(), correction); err != nil {
		t.Fatal(err)
	}
	wantReport(t, repair(t, w.s), journal.Report{Tools: 1, Refreshed: 2})
	wantReport(t, repair(t, w.s), journal.Report{Tools: 1, Unchanged: 1})
}

// What one process deleted, the repair of another does not bring back.
func TestRepairKnowsDeletionsOfOthers(t *testing.T) {
	w := newWorld(t)
	other := open(t, mem.New(), lasting{w.remote}, quick())
	for _, tool := range []string{"t", "u", "v"} {
		add(t, w.s, 5, calls(tool, 1, 2)...)
	}
	repair(t, w.s)
	time.Sleep(2 * time.Millisecond) // deletions and tools are told apart by the clock
	for _, tool := range []string{"t", "u"} {
		if err := other.DeleteTool(t.Context(), ref(tool)); err != nil {
			t.Fatal(err)
		}
	}
	drain(t, other)
	add(t, w.s, 5, pending("u", 3))
	wantReport(t, repair(t, w.s), journal.Report{Tools: 3, Unchanged: 1, Deleted: 2})
	got, err := w.remote.ListTools(t.Context(), "w", "", 9)
	if err != nil || len(got) != 2 || got[0].Tool != "u" || got[0].Lifetime != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if r := repair(t, w.s); r.Tools != 2 || r.Damaged != 0 || r.Deleted != 0 {
		t.Errorf("got %+v", r)
	}
	if _, err := other.DeleteWorkspace(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	drain(t, other)
	wantReport(t, repair(t, w.s), journal.Report{Tools: 2, Deleted: 2})
	if ws, err := w.remote.ListWorkspaces(t.Context(), "", 9); err != nil || len(ws) != 0 {
		t.Errorf("got %v, %v", ws, err)
	}
}

func TestRepairWhileSomethingWaits(t *testing.T) {
	remote := newLink(lasting{mem.New()})
	s := open(t, mem.New(), remote, brief())
	add(t, s, 5, pending("t", 1), pending("u", 1))
	drain(t, s)
	remote.noForwarding.Store(true)
	add(t, s, 5, pending("t", 2))
	wantReport(t, repair(t, s), journal.Report{Tools: 2, Skipped: 1})
	remote.cut.Store(true)
	_, err := s.Repair(t.Context())
	wantKind(t, err, memoryd.Unavailable)
}

// The periodic repair runs by itself and ends with Stop.
func TestPeriodicRepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := configtest.Section[journal.Config]("store.journal")
		remote := lasting{mem.New()}
		s := open(t, mem.New(), remote, cfg)
		add(t, s, 5, calls("t", 1, 3)...)
		lose := func() {
			if err := remote.DeleteTool(t.Context(), ref("t")); err != nil {
				t.Fatal(err)
			}
		}
		lose()
		time.Sleep(cfg.RepairInterval + time.Second)
		synctest.Wait()
		wantHistory(t, remote, "t", "1:pending 2:pending 3:pending")
		s.Stop()
		lose()
		time.Sleep(10 * cfg.RepairInterval)
		wantHistory(t, remote, "t", "")
	})
}

func TestRepairPagesThroughEverything(t *testing.T) {
	w := newWorld(t)
	var all []memoryd.Call
	for n := range 450 {
		all = append(all, pending(string(rune('a'+n%26))+string(rune('a'+n/26)), n))
	}
	for batch := range slices.Chunk(all, 150) {
		add(t, w.s, 5, batch...)
	}
	w.lose(func(_, _ store.Store) {})
	wantReport(t, repair(t, w.s), journal.Report{Tools: 450, Damaged: 450, Calls: 450})
}
