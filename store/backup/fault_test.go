package backup_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/backup"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

var (
	errCause = errors.New("the disk is on fire")
	errBoom  = memoryd.Wrap(memoryd.Unavailable, errCause, "boom")
)

// failing passes the first n sides of calls on and fails once at the next.
func failing(s store.Store, n int) (*storetest.Faults, *bool) {
	struck := new(bool)
	var mu sync.Mutex // tools are restored beside each other
	return storetest.NewFaults(s, func(string, storetest.Stage) error {
		mu.Lock()
		defer mu.Unlock()
		if n--; n == -1 {
			*struck = true
			return errBoom
		}
		return nil
	}), struck
}

// oldAndNew are two states of one workspace, with the same tools.
func oldAndNew(t *testing.T) (old func() store.Store, oldFile, newFile []byte) {
	newFile = export(t, makeStore(t), "a")
	old = func() store.Store {
		s := mem.New()
		for _, tool := range []string{"fetch", "sh,ell "} {
			_, err := s.Append(t.Context(), store.Batch{Workspace: "a", Keep: 9, Calls: []memoryd.Call{makeCall("a", tool, 1), makeCall("a", tool, 2)}})
			must(t, err)
			_, err = s.PutRecord(t.Context(), store.Record{
				RecordKey: store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: "a", Tool: tool}, Kind: "note", ID: "old"}, Data: []byte("x"),
			})
			must(t, err)
		}
		return s
	}
	return old, export(t, old(), "a"), newFile
}

// lifetime is how many calls a tool of workspace a has seen and keeps; none when it
// is not there.
func lifetime(t *testing.T, s store.Store, tool string) (int64, int) {
	got, err := s.Tool(t.Context(), memoryd.ToolRef{Workspace: "a", Tool: tool})
	if memoryd.IsKind(err, memoryd.NotFound) {
		return 0, 0
	}
	must(t, err)
	return got.Lifetime, got.Kept
}

func TestAReplacementThatFailsLeavesTheOldToolOrTheNew(t *testing.T) {
	old, _, newFile := oldAndNew(t)
	for n := 0; ; n++ {
		inner := old()
		s, struck := failing(inner, n)
		_, err := backup.Restore(t.Context(), s, bytes.NewReader(newFile), backup.RestoreOptions{Replace: true})
		if !*struck {
			must(t, err)
			same(t, "undisturbed", export(t, inner, "a"), newFile)
			if n < 20 {
				t.Fatalf("only %d places to fail", n)
			}
			return
		}
		if !errors.Is(err, errCause) {
			t.Fatalf("fault %d: got %v", n, err)
		}
		for _, tool := range []string{"fetch", "sh,ell "} {
			life, kept := lifetime(t, inner, tool)
			if (life != 2 || kept != 2) && (life != 40 || kept != 3) {
				t.Fatalf("fault %d: tool %q has %d calls, %d kept", n, tool, life, kept)
			}
			_, err := inner.Record(t.Context(), store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: "a", Tool: tool}, Kind: "note", ID: "old"})
			if life == 2 && err != nil {
				t.Fatalf("fault %d: tool %q lost its record: %v", n, tool, err)
			}
		}
		restore(t, inner, newFile, backup.RestoreOptions{Replace: true})
		same(t, "once more", export(t, inner, "a"), newFile)
	}
}

func TestARestoreGoesOnAfterAnyFault(t *testing.T) {
	file := export(t, makeStore(t), "")
	for n := 0; ; n++ {
		inner := mem.New()
		s, struck := failing(inner, n)
		_, err := backup.Restore(t.Context(), s, bytes.NewReader(file), backup.RestoreOptions{})
		if !*struck {
			must(t, err)
			return
		}
		if !errors.Is(err, errCause) || !memoryd.IsKind(err, memoryd.Unavailable) {
			t.Fatalf("fault %d: got %v", n, err)
		}
		restore(t, inner, file, backup.RestoreOptions{SkipExisting: true})
		same(t, "gone on", export(t, inner, ""), file)
	}
}

func TestAnExportThatFailsSaysSo(t *testing.T) {
	inner := makeStore(t)
	for n := 0; ; n++ {
		s, struck := failing(inner, n)
		var b bytes.Buffer
		_, err := backup.Export(t.Context(), s, &b, backup.ExportOptions{Kinds: kinds})
		if !*struck {
			must(t, err)
			return
		}
		if !errors.Is(err, errCause) {
			t.Fatalf("fault %d: got %v", n, err)
		}
		if _, err := backup.Restore(t.Context(), mem.New(), &b, backup.RestoreOptions{}); err == nil {
			t.Fatalf("fault %d: half an export was restored", n)
		}
	}
}

func TestACancelledRestoreWritesNothing(t *testing.T) {
	file := export(t, makeStore(t), "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := mem.New()
	n, err := backup.Restore(ctx, s, bytes.NewReader(file), backup.RestoreOptions{Replace: true})
	if !errors.Is(err, context.Canceled) || n.Tools != 0 {
		t.Errorf("got %v, %s", err, n)
	}
}

// busy is a store whose tool gets a call between any two reads.
type busy struct {
	store.Store
	keep, n int
	gaps    bool
}

func (b *busy) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	b.n++
	if _, err := b.Append(ctx, store.Batch{Workspace: ref.Workspace, Keep: b.keep, Calls: []memoryd.Call{makeCall(ref.Workspace, ref.Tool, 100+b.n)}}); err != nil {
		return nil, err
	}
	calls, err := b.Store.History(ctx, ref, limit)
	for i := range calls {
		if b.gaps {
			calls[i].Seq *= 1000
		}
	}
	return calls, err
}

func TestAToolIsExportedAsItWasAtOneMoment(t *testing.T) {
	s := mem.New()
	_, err := s.Append(t.Context(), store.Batch{Workspace: "a", Keep: 9, Calls: []memoryd.Call{makeCall("a", "t", 1), makeCall("a", "t", 2)}})
	must(t, err)
	file := export(t, &busy{Store: s, keep: 9}, "")
	copied := mem.New()
	restore(t, copied, file, backup.RestoreOptions{})
	if life, kept := lifetime(t, copied, "t"); life != 2 || kept != 2 {
		t.Errorf("exported %d calls, %d kept, want the two of the first read", life, kept)
	}
	for name, b := range map[string]*busy{"all gone": {Store: s, keep: 1, n: 1000}, "gaps": {Store: s, keep: 9, n: 5000, gaps: true}} {
		_, err = backup.Export(t.Context(), b, &bytes.Buffer{}, backup.ExportOptions{})
		if !memoryd.IsKind(err, memoryd.Unavailable) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
