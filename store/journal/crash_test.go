package journal_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/journal"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

// What was acknowledged while the remote store was away is forwarded by the next
// process, from a copy of the files as they lay at the moment of death.
func TestAJournalSurvivesItsProcess(t *testing.T) {
	inner := lasting{mem.New()}
	remote := newLink(inner)
	dir, after := t.TempDir(), t.TempDir()
	s := open(t, openLocal(t, dir), remote, brief())
	add(t, s, 9, calls("t", 1, 2)...)
	drain(t, s)
	remote.cut.Store(true)
	add(t, s, 9, calls("t", 3, 5)...)
	settle(t, s, verdict(pending("t", 3), 1), verdict(pending("t", 1), 1))
	add(t, s, 9, pending("u", 1))
	if err := s.DeleteTool(t.Context(), ref("u")); err != nil {
		t.Fatal(err)
	}
	if err := s.CacheVerdict(t.Context(), [16]byte{1}, verdict(pending("t", 1), 1).Evaluation); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, dir, after)
	again := open(t, openLocal(t, after), remote, brief())
	wantHistory(t, again, "t", "1:judged 2:pending 3:judged 4:pending 5:pending")
	remote.cut.Store(false)
	drain(t, again)
	drain(t, s) // two of the same: nothing happens twice
	wantHistory(t, inner, "t", "1:judged 2:pending 3:judged 4:pending 5:pending")
	if got := describe(t, inner, "t"); got.Lifetime != 5 || got.Revision != 7 {
		t.Errorf("got %+v", got)
	}
	_, err := inner.Tool(t.Context(), ref("u"))
	wantKind(t, err, memoryd.NotFound)
	if _, err := inner.CachedVerdict(t.Context(), [16]byte{1}); err != nil {
		t.Error(err)
	}
	for _, a := range add(t, again, 9, calls("t", 1, 5)...) {
		if a.New {
			t.Error("a call was accepted twice")
		}
	}
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) == ".lock" {
			continue
		}
		in, err := os.Open(filepath.Join(from, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(filepath.Join(to, f.Name()))
		if err == nil {
			_, err = io.Copy(out, in)
		}
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
		out.Close()
	}
}

// The process dies at each write of the local store in turn: what it acknowledged
// is at the remote store in the end, once; what it did not may be, once.
func TestDeathAtEachLocalWrite(t *testing.T) {
	for at := 1; ; at++ {
		local, inner := lasting{mem.New()}, lasting{mem.New()}
		died, writes := false, 0
		dying := storetest.NewFaults(local, func(method string, stage storetest.Stage) error {
			switch method {
			case "Append", "Settle", "DeleteTool", "PutRecord", "PutRecords", "DeleteRecord", "ExpireRecords":
				if stage == storetest.Before {
					writes++
				}
				if died = died || writes == at && stage == storetest.Stage(at%2); died {
					return memoryd.Errorf(memoryd.Unavailable, "dead")
				}
			}
			return nil
		})
		acked := life(t, dying, inner)
		again := open(t, local, inner, quick())
		drain(t, again)
		got := describeOr(t, inner, "t").Lifetime
		if got < int64(acked) || got > int64(acked)+1 {
			t.Errorf("death at write %d: %d calls were acknowledged, %d are there", at, acked, got)
		}
		all := add(t, again, 99, calls("t", 1, 6)...)
		drain(t, again)
		if got := describe(t, inner, "t"); got.Lifetime != 6 || got.Kept != 6 || len(all) != 6 {
			t.Errorf("death at write %d: in the end %+v", at, got)
		}
		if !died {
			return
		}
	}
}

// life is a short one: six calls, each acknowledged or not. It is driven by hand,
// so that its writes come in one order.
func life(t *testing.T, local, remote store.Store) (acked int) {
	t.Helper()
	s, err := journal.New(local, remote, quick(), slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		return 0
	}
	defer s.Close()
	for n := 1; n <= 6; n++ {
		_, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: calls("t", n, n), Keep: 99})
		if err == nil {
			acked++
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.Start(ctx)
	drain(t, s)
	cancel()
	s.Stop()
	return acked
}

func describeOr(t *testing.T, s store.Store, tool string) memoryd.Tool {
	t.Helper()
	got, err := s.Tool(t.Context(), ref(tool))
	if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
		t.Fatal(err)
	}
	return got
}

// Large batches and backlogs are read back from the journal piece by piece.
func TestLargeOperations(t *testing.T) {
	inner := lasting{mem.New()}
	remote := newLink(inner)
	remote.cut.Store(true)
	s := open(t, openLocal(t, t.TempDir()), remote, brief())
	for n := range 3 {
		var batch []memoryd.Call
		for i := range 6 {
			c := pending("t", 10*n+i)
			c.Output = string(make([]byte, 1<<20))
			c.Key[0] ^= byte(i)
			batch = append(batch, c)
		}
		add(t, s, 99, batch...)
	}
	remote.cut.Store(false)
	drain(t, s)
	got, err := inner.History(t.Context(), ref("t"), 0)
	if err != nil || len(got) != 18 {
		t.Fatalf("%d calls, %v", len(got), err)
	}
	for i, c := range got {
		if want := fmt.Sprint(10*(i/6) + i%6); c.CreateTime != want {
			t.Errorf("call %d is %s, want %s", i, c.CreateTime, want)
		}
	}
}
