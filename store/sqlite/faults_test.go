package sqlite

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/storetest"

	sqlite3 "modernc.org/sqlite/lib"
)

// codeError is an error of SQLite's, made by a test.
type codeError int

func (e codeError) Error() string { return "made by a test" }
func (e codeError) Code() int     { return int(e) }

func wantKind(t *testing.T, err error, kind memoryd.Kind) {
	t.Helper()
	if !memoryd.IsKind(err, kind) {
		t.Fatalf("got %v, want kind %s", err, kind)
	}
}

func seqsOf(t *testing.T, s *Store, ref memoryd.ToolRef) (out []int64) {
	t.Helper()
	calls, err := s.History(t.Context(), ref, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		out = append(out, c.Seq)
	}
	return out
}

func TestAFullDiskRefusesWritesAndRecovers(t *testing.T) {
	s := openTuned(t, settings(t.TempDir()), nil)
	mustAppend(t, s, testBatch(1000, "t", 1, 5))
	limitPages := func(n int64) {
		inWriter(t, s, func(d *draft) error {
			if n == 0 {
				var err error
				if n, err = d.c.number(`PRAGMA page_count`); err != nil {
					return err
				}
			}
			_, err := d.c.number(`PRAGMA max_page_count = ` + strconv.FormatInt(n, 10))
			return err
		})
	}
	limitPages(0) // the file may not grow any more
	large := testBatch(1000, "t", 6, 7)
	large.Calls[1].Output = storetest.Noise(1 << 20)
	_, err := s.Append(t.Context(), large)
	wantKind(t, err, memoryd.Unavailable)
	if _, msg := memoryd.KindOf(err); !strings.Contains(msg, "disk is full") {
		t.Errorf("the message is %q", msg)
	}
	wantKind(t, s.PutGuideline(t.Context(), tref, memoryd.Guideline{Content: strings.Repeat("x", 1<<20)}, 0), memoryd.Unavailable)
	if got := seqsOf(t, s, tref); len(got) != 5 {
		t.Errorf("kept calls %v, want 5", got)
	}
	if tool, err := s.Tool(t.Context(), tref); err != nil || tool.Lifetime != 5 || tool.Guideline.Revision != 0 {
		t.Errorf("got %+v, %v", tool, err)
	}
	limitPages(1 << 30)
	wantKind(t, s.Ping(t.Context()), memoryd.Unavailable) // a write was refused a moment ago
	s.w.refused.Store(&refused{at: time.Now().Add(-refusing), err: errGone})
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("ping after there is room: %v", err)
	}
	for i, a := range mustAppend(t, s, large) {
		if want := (store.Appended{New: true, Seq: int64(6 + i)}); a != want {
			t.Errorf("call %d: got %+v, want %+v", i, a, want)
		}
	}
	if got := seqsOf(t, s, tref); len(got) != 7 {
		t.Errorf("kept calls %v, want 7", got)
	}
}

// A start refused a store that had noted the number of a commit that failed, after one that changed nothing.
func TestACommitThatFailedIsNotMissedAtTheNextStart(t *testing.T) {
	cfg := settings(t.TempDir())
	s := openTuned(t, cfg, nil)
	mustAppend(t, s, testBatch(9, "t", 1, 3))
	inWriter(t, s, func(d *draft) error {
		commit := d.w.commit
		d.after = append(d.after, func() {
			d.w.commit = func() error { d.w.commit = commit; return codeError(sqlite3.SQLITE_FULL) }
		})
		return nil
	})
	_, err := s.Append(t.Context(), testBatch(9, "t", 4, 4))
	wantKind(t, err, memoryd.Unavailable)
	mustAppend(t, s, testBatch(9, "t", 1, 3)) // known
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTuned(t, cfg, nil)
	if got := seqsOf(t, s, tref); len(got) != 3 {
		t.Errorf("after the restart: got %v", got)
	}
}

func TestAfterAFailedFlushNothingIsAcknowledged(t *testing.T) {
	cfg := settings(t.TempDir())
	s := openTuned(t, cfg, nil)
	mustAppend(t, s, testBatch(9, "t", 1, 3))
	commits := 0
	inWriter(t, s, func(d *draft) error {
		d.after = append(d.after, func() {
			d.w.commit = func() error { commits++; return codeError(sqlite3.SQLITE_IOERR_FSYNC) }
		})
		return nil
	})
	for range 3 {
		_, err := s.Append(t.Context(), testBatch(9, "t", 4, 4))
		wantKind(t, err, memoryd.Unavailable)
	}
	if commits != 1 {
		t.Errorf("%d commits were tried, want 1", commits)
	}
	wantKind(t, s.Ping(t.Context()), memoryd.Unavailable)
	if got := seqsOf(t, s, tref); len(got) != 3 {
		t.Errorf("reading: got %v", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTuned(t, cfg, nil)
	if got := seqsOf(t, s, tref); len(got) != 3 {
		t.Errorf("after the restart: got %v", got)
	}
	if a := mustAppend(t, s, testBatch(9, "t", 4, 4)); !a[0].New || a[0].Seq != 4 {
		t.Errorf("after the restart: got %+v", a)
	}
}

func TestACommitThatFailsOnceHasNoEffect(t *testing.T) {
	s := openTuned(t, settings(t.TempDir()), nil)
	pending := testBatch(3, "t", 1, 3)
	for i := range pending.Calls {
		pending.Calls[i].Evaluation = memoryd.PendingEvaluation()
	}
	mustAppend(t, s, pending)
	inWriter(t, s, func(d *draft) error {
		d.after = append(d.after, func() {
			working := d.w.commit
			d.w.commit = func() error { d.w.commit = working; return codeError(sqlite3.SQLITE_IOERR_WRITE) }
		})
		return nil
	})
	_, err := s.Append(t.Context(), testBatch(3, "t", 4, 5))
	wantKind(t, err, memoryd.Unavailable)
	want := memoryd.Counters{Lifetime: 3, Pending: 3}
	if tool, err := s.Tool(t.Context(), tref); err != nil || tool.Counters != want || tool.Kept != 3 {
		t.Errorf("got %+v, %v", tool, err)
	}
	for i, a := range mustAppend(t, s, testBatch(3, "t", 4, 5)) {
		if !a.New || a.Seq != int64(4+i) {
			t.Errorf("again: got %+v", a)
		}
	}
	want = memoryd.Counters{Lifetime: 5, Pending: 1}
	if tool, err := s.Tool(t.Context(), tref); err != nil || tool.Counters != want || tool.Kept != 3 {
		t.Errorf("got %+v, %v", tool, err)
	}
}

func TestAJobThatCannotWorkDoesNotFailTheOthers(t *testing.T) {
	s := openTuned(t, settings(t.TempDir()), nil)
	first := newAppendJob(t.Context(), testBatch(9, "a", 1, 2))
	bad := newJob(t.Context(), 0, afterVerdicts, func(d *draft) error { return d.c.exec(`INSERT INTO nowhere VALUES (1)`) })
	last := newAppendJob(t.Context(), testBatch(9, "b", 1, 2))
	inWriter(t, s, func(d *draft) error {
		d.after = append(d.after, func() {
			d.w.writing.Unlock() // held by the transaction that this runs behind
			defer d.w.writing.Lock()
			d.w.commitGroup([]*job{first, bad, last})
		})
		return nil
	})
	for _, j := range []*job{first, last} {
		if err := <-j.done; err != nil {
			t.Errorf("a good job got %v", err)
		}
	}
	wantKind(t, <-bad.done, memoryd.Unavailable)
	for _, tool := range []string{"a", "b"} {
		if got := seqsOf(t, s, memoryd.ToolRef{Workspace: "w", Tool: tool}); len(got) != 2 {
			t.Errorf("tool %s: got %v", tool, got)
		}
	}
}

func TestAFullQueueIsOverloaded(t *testing.T) {
	cfg := settings(t.TempDir())
	cfg.Queue = 2
	refused := map[string]error{}
	var waiting []*job
	s := openTuned(t, cfg, func(s *Store) { // nobody takes from the queue yet
		s.w.queued.Add(cfg.QueueBytes)
		_, refused["bytes"] = s.Append(t.Context(), testBatch(9, "u", 1, 1))
		s.w.queued.Add(-cfg.QueueBytes)
		for n := range cfg.Queue {
			j := newAppendJob(t.Context(), testBatch(9, "t", n, n))
			s.w.queued.Add(j.bytes)
			s.w.queue <- j
			waiting = append(waiting, j)
		}
		_, refused["jobs"] = s.Append(t.Context(), testBatch(9, "u", 1, 1))
	})
	for what, err := range refused {
		wantKind(t, err, memoryd.Overloaded)
		var e *memoryd.Error
		if !errors.As(err, &e) || e.RetryAfter <= 0 {
			t.Errorf("%s: it names no time to wait: %v", what, err)
		}
	}
	for _, j := range waiting {
		if err := <-j.done; err != nil {
			t.Errorf("a queued job got %v", err)
		}
	}
	mustAppend(t, s, testBatch(9, "u", 1, 1))
	inWriter(t, s, func(d *draft) error {
		if n := d.w.queued.Load(); n != 0 {
			t.Errorf("%d bytes are still counted as queued", n)
		}
		return nil
	})
}

func TestDeletedTextLeavesTheDisk(t *testing.T) {
	const canary = "canary-7f3a9c"
	cfg := settings(t.TempDir())
	s := openTuned(t, cfg, nil)
	b := testBatch(40, "t", 1, 60)
	for i := range b.Calls {
		b.Calls[i].Output = strings.Repeat(canary, 1+i*i)
	}
	mustAppend(t, s, b)
	mustAppend(t, s, testBatch(40, "u", 1, 60))
	if _, err := s.DeleteWorkspace(t.Context(), "nowhere"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteTool(t.Context(), tref); err != nil {
		t.Fatal(err)
	}
	settleDown(t, s)
	s.ckpt.step()
	err := filepath.WalkDir(cfg.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if n := bytes.Count(data, []byte(canary)); n > 0 {
			t.Errorf("%s holds the deleted text %d times", filepath.Base(path), n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheWriteAheadLogIsBounded(t *testing.T) {
	cfg := settings(t.TempDir())
	cfg.WALBytes = 1 << 20
	s := openTuned(t, cfg, nil)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 100 {
				b := testBatch(20, "t", w*100_000+n*20, w*100_000+n*20+19)
				for i := range b.Calls {
					b.Calls[i].Output = storetest.Noise(2000)
				}
				if _, err := s.Append(t.Context(), b); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for range 2 {
		s.ckpt.step()
		mustAppend(t, s, testBatch(20, "u", 1, 1))
	}
	info, err := os.Stat(filepath.Join(cfg.Dir, fileName+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 40<<20 {
		t.Errorf("the log grew to %d MB", info.Size()>>20)
	}
}
