package window

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/store"
	"memoryd/store/mem"
)

// filled is a window over a store, with so many written observations of each tool.
func filled(tb testing.TB, s store.Store, calls, tools int) *Window {
	tb.Helper()
	w := New(s, 2000, slog.New(slog.DiscardHandler), time.Now)
	for tool := range tools {
		batch := make([]memoryd.Call, calls)
		for i := range batch {
			batch[i] = pendingCall(0)
			batch[i].Tool = fmt.Sprintf("tool%d", tool)
			batch[i].Key, batch[i].Evaluation = memoryd.CallKey{byte(i), byte(i >> 8), byte(tool), 1}, memoryd.Evaluation{State: memoryd.Judged, Score: float64(i % 3 / 2)}
			batch[i].Input = fmt.Appendf(nil, `{"n":%d,"query":"what is asked for the %dth time","mode":"raw"}`, i, i)
		}
		if _, err := w.Over().Append(tb.Context(), store.Batch{Workspace: "w", Calls: batch, Keep: 10}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.fold(tb.Context(), true); err != nil {
		tb.Fatal(err)
	}
	return w
}

func observations(tb testing.TB, w *Window, tool int) []evidence.Observation {
	tb.Helper()
	list, err := w.Observations(tb.Context(), memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprintf("tool%d", tool)})
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

// Each summary of a busy tool unpacked its 2,000 observations anew: 9 of its 24 ms.
func TestAPieceIsDecodedOnceAsLongAsItStaysAsItIs(t *testing.T) {
	s := mem.New()
	w := filled(t, s, 2*pieceCalls, 1)
	first := observations(t, w, 0)
	pieces, err := w.pieces(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "tool0"})
	if err != nil || len(pieces) != 2 {
		t.Fatalf("%d pieces (%v)", len(pieces), err)
	}
	for _, p := range w.decoded.Values() {
		p.list[0].Output = "from memory"
	}
	again := observations(t, w, 0)
	if again[0].Output != "from memory" || again[pieceCalls].Output != "from memory" {
		t.Error("pieces were decoded again")
	}
	again[1].Output = "changed by the reader" // whose list it is
	if observations(t, w, 0)[1].Output != first[1].Output {
		t.Error("a reader's change reached the others")
	}
	// Another server writes the second piece anew.
	other, err := encode([]evidence.Observation{first[pieceCalls]})
	if err != nil {
		t.Fatal(err)
	}
	pieces[1].Data, pieces[1].Revision = other, store.AnyRevision
	if _, err := s.PutRecord(t.Context(), pieces[1]); err != nil {
		t.Fatal(err)
	}
	if now := observations(t, w, 0); len(now) != pieceCalls+1 || now[0].Output != "from memory" || now[pieceCalls].Output != first[pieceCalls].Output {
		t.Errorf("%d observations; what another server wrote is not read", len(now))
	}
	w.forget("w", func(memoryd.ToolRef, uint64) bool { return true })
	if n := w.decoded.Len(); n != 0 {
		t.Errorf("%d pieces of a tool that is gone are kept", n)
	}
}

func TestWhatIsKeptDecodedIsBounded(t *testing.T) {
	const tools = 12
	s := mem.New()
	w := filled(t, s, 3*pieceCalls, tools)
	w.decoded.Resize(10)
	for tool := range tools {
		for range 2 {
			if list := observations(t, w, tool); len(list) != 3*pieceCalls {
				t.Fatalf("%d observations", len(list))
			}
		}
		if n := w.decoded.Len(); n > 10 {
			t.Fatalf("%d pieces are kept, at most 10 may be", n)
		}
	}
	last := memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprintf("tool%d", tools-1)}
	if !slices.ContainsFunc(w.decoded.Keys(), func(k store.RecordKey) bool { return k.ToolRef == last }) {
		t.Error("the tool that was read last is not kept")
	}
}

// BenchmarkObservations reads and mines 2,000 observations: the first time, and again.
func BenchmarkObservations(b *testing.B) {
	w := filled(b, mem.New(), 2000, 1)
	mine := func() time.Duration {
		from := time.Now()
		evidence.Mine("t", observations(b, w, 0), nil)
		return time.Since(from)
	}
	var first, again time.Duration
	for b.Loop() {
		w.decoded.Purge()
		first += mine()
		again += mine()
	}
	b.ReportMetric(float64(first)/float64(again), "first/again")
}
