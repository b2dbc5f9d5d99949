package window_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/window"
	"memoryd/store"
	"memoryd/store/mem"
)

var ref = memoryd.ToolRef{Workspace: "w", Tool: "fetch"}

func callOf(i int, state memoryd.EvaluationState, score float64) memoryd.Call {
	c := memoryd.Call{
		ToolRef: ref, Key: memoryd.CallKey{byte(i), byte(i >> 8), 7}, Input: json.RawMessage(fmt.Sprintf(`{"url":"u%d"}`, i)), Output: "fine", Success: true, TokenCost: -1,
		Time: time.Unix(int64(i), 0), CreateTime: "2025-01-01 00:00:00", Metadata: json.RawMessage(fmt.Sprintf(`{"trajectory_id":"t%d"}`, i%9)),
		Evaluation: memoryd.Evaluation{State: state, Score: score},
	}
	if state == memoryd.Judged && score == 0 {
		c.Output = `{"error": "'mode' is a required property"}`
	}
	return c
}

func add(t testing.TB, s store.Store, from, to int) {
	t.Helper()
	var calls []memoryd.Call
	for i := from; i < to; i++ {
		calls = append(calls, callOf(i, memoryd.Judged, float64(i%2)))
	}
	if _, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: calls, Keep: 100}); err != nil {
		t.Fatal(err)
	}
}

func newWindow(s store.Store, calls int) *window.Window {
	return window.New(s, calls, slog.New(slog.DiscardHandler), time.Now)
}

func seqs(t *testing.T, w *window.Window) (first, last int64, n int) {
	t.Helper()
	list, err := w.Observations(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		return 0, 0, 0
	}
	for i := 1; i < len(list); i++ {
		if list[i].Seq != list[i-1].Seq+1 {
			t.Fatalf("call %d follows %d", list[i].Seq, list[i-1].Seq)
		}
	}
	return list[0].Seq, list[len(list)-1].Seq, len(list)
}

func TestTheWindowHoldsMoreThanTheHistoryAndTheHistoryStaysFIFO(t *testing.T) {
	s := mem.New()
	w := newWindow(s, 2000)
	over := w.Over()
	for i := 0; i < 1500; i += 250 {
		add(t, over, i, i+250)
	}
	if first, last, n := seqs(t, w); first != 1 || last != 1500 || n != 1500 {
		t.Errorf("the window holds %d calls, %d to %d", n, first, last)
	}
	history, err := over.History(t.Context(), ref, 0)
	if err != nil || len(history) != 100 || history[0].Seq != 1401 {
		t.Errorf("the history holds %d calls (%v)", len(history), err)
	}
}

func TestWhatWasFoldedSurvivesARestartAndTheOldestGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		for round := range 10 { // each a process of its own
			w := newWindow(s, 300)
			w.Start(t.Context())
			add(t, w.Over(), 100*round, 100*round+100)
			time.Sleep(5 * time.Second)
			w.Stop(t.Context())
			w.Stop(t.Context())
		}
		if first, last, n := seqs(t, newWindow(s, 300)); first != 701 || last != 1000 || n != 300 {
			t.Errorf("the window holds %d calls, %d to %d", n, first, last)
		}
		records, err := s.ListRecords(t.Context(), store.RecordKey{ToolRef: ref, Kind: window.Kinds()[0]}, 100)
		if err != nil || len(records) > 5 {
			t.Errorf("%d records are kept (%v)", len(records), err)
		}
	})
}

// A burst beyond the history in one request is folded whole: its calls are taken in
// before the history lets them go.
func TestABurstBeyondTheHistoryIsNotLost(t *testing.T) {
	s := mem.New()
	w := newWindow(s, 2000)
	add(t, w.Over(), 0, 1000)
	if _, _, n := seqs(t, w); n != 1000 {
		t.Errorf("the window holds %d calls", n)
	}
}

// While more comes than is read, what was read is written.
func TestAFloodIsFoldedWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		w := newWindow(s, 2000)
		w.Start(t.Context())
		defer w.Stop(t.Context())
		add(t, w.Over(), 0, 25_000) // four seconds of reading
		time.Sleep(5 * time.Second)
		if records, err := s.ListRecords(t.Context(), store.RecordKey{ToolRef: ref, Kind: window.Kinds()[0]}, 100); err != nil || len(records) == 0 {
			t.Errorf("%d records (%v)", len(records), err)
		}
	})
}

func TestAVerdictThatComesLateReachesTheObservation(t *testing.T) {
	for _, when := range []string{"before reading", "after reading"} {
		s := mem.New()
		w := newWindow(s, 2000)
		over := w.Over()
		c := callOf(1, memoryd.Pending, 0)
		c.Output = "'mode' is a required property"
		if _, err := over.Append(t.Context(), store.Batch{Workspace: "w", Calls: []memoryd.Call{c}, Keep: 100}); err != nil {
			t.Fatal(err)
		}
		if when == "after reading" {
			seqs(t, w)
		}
		if _, err := over.Settle(t.Context(), []store.Verdict{{ToolRef: ref, Key: c.Key, Evaluation: memoryd.Evaluation{State: memoryd.Judged}}}); err != nil {
			t.Fatal(err)
		}
		list, err := w.Observations(t.Context(), ref)
		if err != nil || len(list) != 1 || list[0].Evaluation.State != memoryd.Judged || list[0].Output != c.Output {
			t.Errorf("%s: got %+v (%v)", when, list, err)
		}
	}
}

func TestTheWindowLeavesWithItsTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		w := newWindow(s, 2000)
		w.Start(t.Context())
		add(t, w.Over(), 0, 200)
		time.Sleep(time.Minute)
		add(t, w.Over(), 200, 250) // not written yet
		if err := w.Over().DeleteTool(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if _, _, n := seqs(t, w); n != 0 {
			t.Errorf("%d observations of a deleted tool are left", n)
		}
		w.Stop(t.Context())
		if records, err := s.ListRecords(t.Context(), store.RecordKey{ToolRef: ref, Kind: window.Kinds()[0]}, 100); err != nil || len(records) > 0 {
			t.Errorf("%d records are left (%v)", len(records), err)
		}
	})
}

func TestTheRecordsOfAToolAreBoundedInBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 5,000 calls to reach the bound")
	}
	s := mem.New()
	w := newWindow(s, 1_000_000)
	r := rand.New(rand.NewPCG(1, 2))
	n := 0
	for range 5 {
		var calls []memoryd.Call
		for range 1000 {
			n++
			c := callOf(n, memoryd.Judged, 0)
			c.Key = memoryd.CallKey{byte(n), byte(n >> 8), byte(n >> 16)}
			var b strings.Builder
			for range 150 {
				fmt.Fprintf(&b, "%x ", r.Uint64())
			}
			c.Input, c.Output = json.RawMessage(`{"q":"`+b.String()[:900]+`"}`), "error: "+b.String()
			calls = append(calls, c)
		}
		if _, err := w.Over().Append(t.Context(), store.Batch{Workspace: "w", Calls: calls, Keep: 10}); err != nil {
			t.Fatal(err)
		}
		w.Stop(t.Context())
	}
	size := 0
	records, err := s.ListRecords(t.Context(), store.RecordKey{ToolRef: ref, Kind: window.Kinds()[0]}, 10000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		size += len(r.Data)
	}
	if size > 3<<20 || size < 1<<20 {
		t.Errorf("the records hold %d bytes in %d pieces", size, len(records))
	}
}

// What adding a call costs beyond the store's own work.
func BenchmarkTake(b *testing.B) {
	w := newWindow(mem.New(), 2000)
	over := w.Over()
	c := callOf(1, memoryd.Judged, 1)
	c.Output = strings.Repeat("x", 2048)
	for i := range b.N {
		c.Key = memoryd.CallKey{byte(i), byte(i >> 8), byte(i >> 16), byte(i >> 24), 9}
		if _, err := over.Append(b.Context(), store.Batch{Workspace: "w", Calls: []memoryd.Call{c}, Keep: 100}); err != nil {
			b.Fatal(err)
		}
	}
}

// Who recorded calls in a workspace is known after a restart, and to other servers after a second; a tool of
// one alone does not change it, nor does the other workspace.
func TestSourcesOfAWorkspaceAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		shared := func(w *window.Window, want bool) {
			t.Helper()
			if got, err := w.Shared(t.Context(), "w"); got != want || err != nil {
				t.Errorf("shared is %v, %v, want %v", got, err, want)
			}
		}
		w, other := newWindow(s, 10), newWindow(s, 10)
		of := func(workspace, tool, source string, n int) {
			t.Helper()
			c := callOf(n, memoryd.Judged, 1)
			c.ToolRef = memoryd.ToolRef{Workspace: workspace, Tool: tool}
			c.Metadata = memoryd.WithSource(c.Metadata, source)
			if _, err := w.Over().Append(t.Context(), store.Batch{Workspace: workspace, Calls: []memoryd.Call{c}, Keep: 9}); err != nil {
				t.Fatal(err)
			}
		}
		shared(w, false)
		of("w", "a", "ann", 1)
		of("w", "b", "ann", 2)
		of("v", "a", "bob", 3)
		shared(w, false)
		shared(other, false)
		of("w", "b", "bob", 4)
		shared(w, true)
		shared(newWindow(s, 10), true)
		time.Sleep(time.Second)
		shared(other, true)
		shared(newWindow(s, 10), true)
		if err := w.ForgetSource(t.Context(), "w", "bob"); err != nil {
			t.Fatal(err)
		}
		shared(w, false)
		shared(newWindow(s, 10), false)
	})
}

// A person corrects a verdict, or a model judges at last, when the observation is written
// already; then the history lets the call go.
func TestAVerdictThatComesAfterTheWritingOutlastsTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		w := newWindow(s, 2000)
		w.Start(t.Context())
		over := w.Over()
		add(t, over, 0, 50)
		waits := callOf(50, memoryd.Pending, 0)
		if _, err := over.Append(t.Context(), store.Batch{Workspace: "w", Calls: []memoryd.Call{waits}, Keep: 100}); err != nil {
			t.Fatal(err)
		}
		early := callOf(1, memoryd.Judged, 1)
		verdict := func(key memoryd.CallKey, score float64) store.Verdict {
			return store.Verdict{ToolRef: ref, Key: key, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: score, JudgedBy: "person:ann"}}
		}
		if _, err := over.Override(t.Context(), verdict(early.Key, 0)); err != nil { // it is not written yet
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		late := callOf(3, memoryd.Judged, 1)
		if _, err := over.Override(t.Context(), verdict(late.Key, 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := over.Settle(t.Context(), []store.Verdict{verdict(waits.Key, 0)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		add(t, over, 51, 300)
		w.Stop(t.Context())
		list, err := newWindow(s, 2000).Observations(t.Context(), ref)
		if err != nil || len(list) != 300 {
			t.Fatalf("%d observations, %v", len(list), err)
		}
		for _, c := range []memoryd.Call{early, late, waits} {
			at := slices.IndexFunc(list, func(ob evidence.Observation) bool { return ob.Key == c.Key })
			if !list[at].Bad() || list[at].Output == "" {
				t.Errorf("call %d: %+v", list[at].Seq, list[at])
			}
		}
	})
}
