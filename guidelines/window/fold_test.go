package window

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
)

// addTo adds so many calls of a tool, the first with this number, and reads them.
func addTo(tb testing.TB, w *Window, tool, first, calls int) {
	tb.Helper()
	batch := make([]memoryd.Call, calls)
	for i := range batch {
		n := first + i
		batch[i] = pendingCall(0)
		batch[i].Tool = fmt.Sprintf("tool%d", tool)
		batch[i].Key = memoryd.CallKey{byte(n), byte(n >> 8), byte(tool), byte(tool >> 8), 2}
		batch[i].Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: 1}
		batch[i].Input = fmt.Appendf(nil, `{"n":%d,"query":"what is asked for the %dth time","mode":"raw"}`, i, n)
	}
	if _, err := w.Over().Append(tb.Context(), store.Batch{Workspace: "w", Calls: batch, Keep: 10}); err != nil {
		tb.Fatal(err)
	}
	for w.read(tb.Context()) {
	}
}

// wantWhole checks that a tool's observations are the newest so many calls, each once and in order.
func wantWhole(t *testing.T, w *Window, last int64, n int) {
	t.Helper()
	list := observations(t, w, 0)
	if len(list) != n {
		t.Fatalf("%d observations, want %d", len(list), n)
	}
	for i := range list {
		if list[i].Seq != last-int64(n-1-i) {
			t.Fatalf("observation %d is of call %d, want %d", i, list[i].Seq, last-int64(n-1-i))
		}
	}
}

// piecesOf are the sizes of a tool's records.
func piecesOf(t *testing.T, w *Window) (n, bytes int) {
	t.Helper()
	pieces, err := w.pieces(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "tool0"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pieces {
		bytes += len(pieces[i].Data)
	}
	return len(pieces), bytes
}

// Each fold read, unpacked and wrote again all that a tool had in its last piece: 14 KB and 2.6 ms for three calls
// more of each of many tools.
func TestAFoldOfFewWritesWhatIsNewAndPiecesStayFew(t *testing.T) {
	s := &countingRecords{Store: mem.New()}
	w := filled(t, s, 100, 1)
	_, before := piecesOf(t, w)
	s.bytes = 0
	const rounds, few = 700, 3
	for round := range rounds {
		if round%50 == 9 { // a process of its own
			w = New(s, 2000, slog.New(slog.DiscardHandler), time.Now)
		}
		addTo(t, w, 0, round*few, few)
		if err := w.fold(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if s.bytes > before && round < 5 {
			t.Fatalf("%d bytes were written for %d calls of a tool with %d", s.bytes, few*(round+1), before)
		}
		if n, _ := piecesOf(t, w); n > 2000*3/2/pieceCalls+1 {
			t.Fatalf("%d pieces after %d rounds", n, round)
		}
		if round%97 == 0 || round == rounds-1 {
			wantWhole(t, w, int64(100+few*(round+1)), min(2000, 100+few*(round+1)))
		}
	}
}

// failing fails all writes of records after so many.
type failing struct {
	store.Store
	left int
}

var errFails = errors.New("it fails")

func (s *failing) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	if s.left--; s.left < 0 {
		return 0, errFails
	}
	return s.Store.PutRecord(ctx, r)
}

func (s *failing) DeleteRecord(ctx context.Context, k store.RecordKey) error {
	if s.left--; s.left < 0 {
		return errFails
	}
	return s.Store.DeleteRecord(ctx, k)
}

// A process may die after any write while it joins pieces.
func TestWhatIsCutShortWhileJoiningPiecesIsThereOnce(t *testing.T) {
	for cut := range 40 {
		s := &failing{Store: mem.New(), left: 1000}
		w := filled(t, s, 100, 1)
		n, at := 0, 100
		for ; n < 2000*3/2/pieceCalls; n++ {
			addTo(t, w, 0, at, 20)
			if at += 20; w.fold(t.Context(), true) != nil {
				t.Fatal("a fold failed")
			}
		}
		addTo(t, w, 0, at, 20)
		s.left = cut
		failed := w.fold(t.Context(), true) != nil
		s.left = 1000
		again := New(s, 2000, slog.New(slog.DiscardHandler), time.Now)
		if !failed {
			wantWhole(t, again, int64(at+20), at+20)
			if cut == 0 {
				t.Fatal("nothing was joined")
			}
			return
		}
		if list := observations(t, again, 0); len(list) != at && len(list) != at+20 {
			t.Fatalf("%d observations after a cut, want %d or %d", len(list), at, at+20)
		}
		if err := w.fold(t.Context(), true); err != nil { // the writer tries again
			t.Fatal(err)
		}
		wantWhole(t, w, int64(at+20), at+20)
	}
	t.Error("it never came to an end")
}

// A tool that went while its observations were written does not keep those of others from the store.
func TestAToolThatIsGoneDoesNotHoldUpOthers(t *testing.T) {
	s := mem.New()
	w := New(s, 2000, slog.New(slog.DiscardHandler), time.Now)
	for tool := range 3 {
		addTo(t, w, tool, 0, 5)
	}
	if err := s.DeleteTool(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "tool1"}); err != nil { // another server did
		t.Fatal(err)
	}
	if err := w.fold(t.Context(), true); err != nil || w.waiting != 0 {
		t.Fatalf("%d wait (%v)", w.waiting, err)
	}
	again := New(s, 2000, slog.New(slog.DiscardHandler), time.Now)
	for tool, want := range []int{5, 0, 5} {
		if n := len(observations(t, again, tool)); n != want {
			t.Errorf("tool %d has %d observations, want %d", tool, n, want)
		}
	}
}
