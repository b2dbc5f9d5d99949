package window

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/store"
	"memoryd/store/mem"
)

func pendingCall(id byte) memoryd.Call {
	return memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "fetch"}, Key: memoryd.CallKey{id}, Input: json.RawMessage(`{}`), Output: "'mode' is a required property",
		Success: true, Evaluation: memoryd.PendingEvaluation(),
	}
}

// Adds waited for the calls that were being observed: a few hundred microseconds for
// each failure.
func TestAnAddDoesNotWaitForTheReadingOfOthers(t *testing.T) {
	w := New(mem.New(), 100, slog.New(slog.DiscardHandler), time.Now)
	w.reading.Lock() // as while calls are observed
	c := pendingCall(1)
	if _, err := w.Over().Append(t.Context(), store.Batch{Workspace: "w", Calls: []memoryd.Call{c}, Keep: 10}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Over().Settle(t.Context(), []store.Verdict{{ToolRef: c.ToolRef, Key: c.Key, Evaluation: memoryd.Evaluation{State: memoryd.Judged}}}); err != nil {
		t.Fatal(err)
	}
	w.reading.Unlock()
	if list, err := w.Observations(t.Context(), c.ToolRef); err != nil || len(list) != 1 || list[0].Evaluation.State != memoryd.Judged {
		t.Errorf("observed: %+v (%v)", list, err)
	}
}

func TestAVerdictThatComesWhileACallIsReadReachesIt(t *testing.T) {
	w := New(mem.New(), 100, slog.New(slog.DiscardHandler), time.Now)
	c := pendingCall(1)
	w.take(store.Batch{Workspace: "w", Calls: []memoryd.Call{c}}, []store.Appended{{New: true, Seq: 1}})
	waits := w.queue[0]
	call := waits.Call
	seen := w.observe(t.Context(), &call)
	w.judged([]store.Verdict{{ToolRef: c.ToolRef, Key: c.Key, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1}}})
	w.keep(waits, seen)
	if got, err := w.Observations(t.Context(), c.ToolRef); err != nil || len(got) != 1 || got[0].Evaluation.State != memoryd.Judged || got[0].Evaluation.Score != 1 {
		t.Errorf("observed: %+v (%v)", got, err)
	}
	if err := w.fold(t.Context(), true); err != nil || len(w.late) > 0 {
		t.Errorf("left waiting: %d (%v)", len(w.late), err)
	}
}

func TestWhatIsReadAndWrittenIsLetGo(t *testing.T) {
	w := New(mem.New(), 1000, slog.New(slog.DiscardHandler), time.Now)
	var b store.Batch
	var done []store.Appended
	for i := range 200 {
		c := pendingCall(byte(i))
		c.Evaluation, c.Output = memoryd.Evaluation{State: memoryd.Judged, Score: 1}, strings.Repeat("x", 2048)
		b.Calls, done = append(b.Calls, c), append(done, store.Appended{New: true, Seq: int64(i + 1)})
	}
	b.Workspace = "w"
	w.take(b, done)
	ref := b.Calls[0].ToolRef
	clear(b.Calls) // the sender's
	body := weak.Make(unsafe.StringData(w.queue[0].Output))
	w.read(t.Context())
	if runtime.GC(); body.Value() != nil || len(w.queue) != 200-readAtOnce {
		t.Errorf("a call that was read stays in memory beside %d that wait", len(w.queue))
	}
	for w.read(t.Context()) {
	}
	first, held := weak.Make(w.fresh[ref].list[0]), w.fresh[ref].list[1]
	if err := w.fold(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if runtime.GC(); first.Value() != nil {
		t.Error("an observation that was written stays in memory beside one that is used")
	}
	runtime.KeepAlive(held)
	if n := len(w.fresh[ref].list); n != 200-pieceCalls {
		t.Errorf("%d observations wait", n)
	}
}

// countingRecords counts the writes of pieces with their bytes, and the requests that list them.
type countingRecords struct {
	store.Store
	puts, lists, bytes int
}

func (s *countingRecords) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	if from.Kind == recordKind {
		s.lists++
	}
	return s.Store.ListRecords(ctx, from, limit)
}

func (s *countingRecords) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	if r.Kind == recordKind {
		s.puts++
		s.bytes += len(r.Data)
	}
	return s.Store.PutRecord(ctx, r)
}

func (s *countingRecords) PutRecords(ctx context.Context, rs []store.Record) error {
	for i := range rs {
		s.puts++
		s.bytes += len(rs[i].Data)
	}
	return s.Store.PutRecords(ctx, rs)
}

// Each round of a busy tool read, unpacked and packed again what the round before had
// written of an unfinished piece.
func TestAFloodPacksEachObservationOnce(t *testing.T) {
	s := &countingRecords{Store: mem.New()}
	w := New(s, 2000, slog.New(slog.DiscardHandler), time.Now)
	ref := memoryd.ToolRef{Workspace: "w", Tool: "fetch"}
	const rounds, each = 8, 160
	for round := range rounds {
		calls := make([]memoryd.Call, each)
		for i := range calls {
			calls[i] = pendingCall(0)
			n := round*each + i
			calls[i].Key, calls[i].Evaluation = memoryd.CallKey{byte(n), byte(n >> 8), 1}, memoryd.Evaluation{State: memoryd.Judged, Score: 1}
			calls[i].Input = fmt.Appendf(nil, `{"n":%d}`, n)
		}
		if _, err := w.Over().Append(t.Context(), store.Batch{Workspace: "w", Calls: calls, Keep: 10}); err != nil {
			t.Fatal(err)
		}
		for w.read(t.Context()) {
		}
		if err := w.fold(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	if want := rounds * each / pieceCalls; s.puts != want {
		t.Errorf("%d pieces written, want %d full ones", s.puts, want)
	}
	if s.lists > rounds {
		t.Errorf("pieces were listed %d times for %d rounds of writing", s.lists, rounds)
	}
	if n := w.decoded.Len(); n > 0 {
		t.Errorf("%d full pieces were unpacked", n)
	}
	if list, err := w.Observations(t.Context(), ref); err != nil || len(list) != rounds*each {
		t.Errorf("%d observations (%v)", len(list), err)
	}
	w.Stop(t.Context())
	if list, err := w.Observations(t.Context(), ref); err != nil || len(list) != rounds*each {
		t.Errorf("%d observations after all was written (%v)", len(list), err)
	}
}

// To forget one source dropped all that was observed of the tool: what the others recorded beyond its history was lost.
func TestWhatOthersRecordedStaysWhenASourceIsForgotten(t *testing.T) {
	s := mem.New()
	w := New(s, 2000, slog.New(slog.DiscardHandler), time.Now)
	ref := memoryd.ToolRef{Workspace: "w", Tool: "fetch"}
	record := func(from, to int) {
		batch := make([]memoryd.Call, 0, to-from)
		for i := from; i < to; i++ {
			c := pendingCall(0)
			c.Key = memoryd.CallKey{byte(i), byte(i >> 8), 1}
			if i%2 == 0 {
				c.Metadata = memoryd.WithSource(nil, []string{"mallory", "ann"}[i/2%2])
			}
			batch = append(batch, c)
		}
		if _, err := w.Over().Append(t.Context(), store.Batch{Workspace: "w", Calls: batch, Keep: 10}); err != nil {
			t.Fatal(err)
		}
	}
	counts := func() map[uint64]int {
		list, err := w.Observations(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		by := map[uint64]int{}
		for i := range list {
			by[list[i].Writer]++
		}
		return by
	}
	record(0, 400)
	if err := w.fold(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	record(400, 440) // not written yet
	for i, source := range []string{"mallory", memoryd.LocalSource} {
		left := []int{330, 110}[i]
		if err := w.Forget(t.Context(), ref, source); err != nil {
			t.Fatal(err)
		}
		by := counts()
		if sum := by[0] + by[evidence.WriterOf("ann")] + by[evidence.WriterOf("mallory")]; by[evidence.WriterOf(source)] != 0 || by[evidence.WriterOf("ann")] != 110 || sum != left {
			t.Errorf("after %s was forgotten: %v", source, by)
		}
	}
	record(440, 444)
	if err := w.fold(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if by := counts(); by[evidence.WriterOf("ann")] != 111 || by[0] != 2 || w.waiting != 0 {
		t.Errorf("later: %v, %d wait", by, w.waiting)
	}
}

// What is left of a tool after a source was forgotten takes no more room than other calls: thinned pieces counted as full, and
// honest calls went before the window was full.
func TestAWindowIsAsLongAfterASourceWasForgotten(t *testing.T) {
	const calls = 6 * pieceCalls
	w := New(mem.New(), calls, slog.New(slog.DiscardHandler), time.Now)
	ref := memoryd.ToolRef{Workspace: "w", Tool: "fetch"}
	record := func(from, to, every int) {
		batch := make([]memoryd.Call, 0, to-from)
		for i := from; i < to; i++ {
			c := pendingCall(0)
			c.Key = memoryd.CallKey{byte(i), byte(i >> 8), 1}
			if i%every == 0 {
				c.Metadata = memoryd.WithSource(nil, "mallory")
			}
			batch = append(batch, c)
		}
		if _, err := w.Over().Append(t.Context(), store.Batch{Workspace: "w", Calls: batch, Keep: 10}); err != nil {
			t.Fatal(err)
		}
		if err := w.fold(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	record(0, calls, 2)
	for range 2 { // the second time changes nothing
		if err := w.Forget(t.Context(), ref, "mallory"); err != nil {
			t.Fatal(err)
		}
	}
	record(calls, calls+calls/2, 2*calls)
	list, err := w.Observations(t.Context(), ref)
	if err != nil || len(list) != calls {
		t.Fatalf("%d observations of %d that fit (%v)", len(list), calls, err)
	}
	for i := 1; i < len(list); i++ {
		if list[i].Seq <= list[i-1].Seq {
			t.Fatalf("%d comes after %d", list[i].Seq, list[i-1].Seq)
		}
	}
}
