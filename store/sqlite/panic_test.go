package sqlite

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
)

// counted opens a store that counts its panics.
func counted(t *testing.T, cfg Config, tune func(*Store)) (*Store, *lifecycle.PanicCounter) {
	t.Helper()
	var panics lifecycle.PanicCounter
	log := slog.New(panics.Handler(slog.DiscardHandler))
	return openTuned(t, cfg, func(s *Store) {
		s.w.log, s.ckpt.log = log, log
		if tune != nil {
			tune(s)
		}
	}), &panics
}

func wantPanics(t *testing.T, panics *lifecycle.PanicCounter, part string, want int64) {
	t.Helper()
	if got := panics.Counts()[part]; got != want {
		t.Errorf("%d panics of %s are counted, want %d", got, part, want)
	}
}

func TestAPanicInAWriteFailsThatWriteAlone(t *testing.T) {
	s, panics := counted(t, settings(t.TempDir()), nil)
	mustAppend(t, s, testBatch(9, "t", 1, 2))
	err := s.w.do(t.Context(), 0, alone, func(d *draft) error {
		if err := d.c.exec(`DELETE FROM calls`); err != nil {
			return err
		}
		panic("a defect over foreign text")
	})
	if _, panicked := errors.AsType[*lifecycle.PanicError](err); !panicked {
		t.Errorf("got %v", err)
	}
	wantPanics(t, panics, "committing", 1)
	mustAppend(t, s, testBatch(9, "t", 3, 3))
	if got := seqsOf(t, s, tref); len(got) != 3 {
		t.Errorf("reading: got %v", got)
	}
}

// Memory that does not say what the file says must not be built on.
func TestAfterAPanicBehindACommitNothingIsAcknowledged(t *testing.T) {
	cfg := settings(t.TempDir())
	s, panics := counted(t, cfg, nil)
	mustAppend(t, s, testBatch(9, "t", 1, 2))
	err := s.w.do(t.Context(), 0, alone, func(d *draft) error {
		d.after = append(d.after, func() { panic("a defect") })
		return nil
	})
	wantKind(t, err, memoryd.Unavailable)
	wantPanics(t, panics, "committing", 1)
	_, err = s.Append(t.Context(), testBatch(9, "t", 3, 3))
	wantKind(t, err, memoryd.Unavailable)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTuned(t, cfg, nil)
	mustAppend(t, s, testBatch(9, "t", 3, 3))
	if got := seqsOf(t, s, tref); len(got) != 3 {
		t.Errorf("after the restart: got %v", got)
	}
}

func TestAPanicInACheckpointIsNotTheLast(t *testing.T) {
	var connection *conn
	s, panics := counted(t, settings(t.TempDir()), func(s *Store) { connection, s.ckpt.c = s.ckpt.c, nil })
	mustAppend(t, s, testBatch(9, "t", 1, 2))
	for until := time.Now().Add(time.Minute); panics.Counts()["checkpointing"] == 0; {
		if time.Now().After(until) {
			t.Fatal("no panic is counted")
		}
		time.Sleep(time.Millisecond)
	}
	s.ckpt.one.Lock()
	s.ckpt.c = connection
	s.ckpt.one.Unlock()
	mustAppend(t, s, testBatch(9, "t", 3, 3))
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.ckpt.one.Lock()
		pages, busy, err := s.ckpt.checkpoint(`PASSIVE`)
		s.ckpt.one.Unlock()
		if err == nil && !busy && pages >= 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the log is not copied: %d pages, %v", pages, err)
		}
	}
	if got := seqsOf(t, s, tref); len(got) != 3 {
		t.Errorf("reading: got %v", got)
	}
}
