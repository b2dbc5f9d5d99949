package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/backup"
	"memoryd/store/mem"
)

// slowStore is far away: a tool is restored when as many are under way as can be.
type slowStore struct {
	store.Store

	mu      sync.Mutex
	under   int
	full    chan struct{}
	refuse  string
	refused chan struct{} // those behind it wait for that
}

func (s *slowStore) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	s.mu.Lock()
	if s.under++; s.under == 8 {
		close(s.full)
	}
	s.mu.Unlock()
	select {
	case <-s.full:
	case <-time.After(2 * time.Minute):
		return fmt.Errorf("%d tools are restored at a time", s.under)
	}
	if t.Tool == s.refuse {
		close(s.refused)
		return errBoom
	}
	if s.refuse != "" && t.Tool > s.refuse {
		<-s.refused
	}
	return s.Store.RestoreTool(ctx, t, calls)
}

// manyTools is a store of tools with records, one of which has more than are written at once.
func manyTools(t *testing.T, n int) *mem.Store {
	t.Helper()
	s := mem.New()
	for i := range n {
		c := makeCall("a", fmt.Sprintf("t%03d", i), 1)
		_, err := s.Append(t.Context(), store.Batch{Workspace: "a", Keep: 9, Calls: []memoryd.Call{c}})
		must(t, err)
		size, records := 10, 2
		if i == n-1 {
			size, records = 1<<20, 10
		}
		for id := range records {
			_, err = s.PutRecord(t.Context(), store.Record{RecordKey: store.RecordKey{ToolRef: c.ToolRef, Kind: "note", ID: fmt.Sprint(id)}, Data: make([]byte, size)})
			must(t, err)
		}
	}
	return s
}

func TestToolsAreRestoredBesideEachOther(t *testing.T) {
	file := export(t, manyTools(t, 200), "a")
	inner := mem.New()
	_, err := backup.Restore(t.Context(), &slowStore{Store: inner, full: make(chan struct{})}, bytes.NewReader(file), backup.RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "restored", export(t, inner, "a"), file)
}

// A tool that cannot be restored ends the restore when those beside it are written; what
// is said of them is true, and the restore goes on from there.
func TestAToolThatIsNotRestoredEndsTheRestore(t *testing.T) {
	file := export(t, manyTools(t, 200), "a")
	inner := mem.New()
	s := &slowStore{Store: inner, full: make(chan struct{}), refuse: "t005", refused: make(chan struct{})}
	n, err := backup.Restore(t.Context(), s, bytes.NewReader(file), backup.RestoreOptions{})
	tools, lerr := inner.ListTools(t.Context(), "a", "", 999)
	if lerr != nil || !memoryd.IsKind(err, memoryd.Unavailable) || n.Tools != len(tools) || n.Tools >= 199 ||
		!strings.Contains(err.Error(), n.String()+" were restored: line ") {
		t.Fatalf("%d tools are there, %v; got %s, %v", len(tools), lerr, n, err)
	}
	restore(t, inner, file, backup.RestoreOptions{SkipExisting: true})
	same(t, "gone on", export(t, inner, "a"), file)
}
