package replicas

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// adders add calls to one tool, of which the history keeps so many.
const (
	adders    = 64
	keptCalls = 100
)

func keeping(n int) string {
	return "op: {parse_tool_call_result_op: {params: {max_history_tool_call_cnt: " + strconv.Itoa(n) + "}}}\nlog: {level: error}\n"
}

// TestManyWritersOnManyReplicas adds to one tool through all replicas while
// summaries of it run on all of them: the counters are exact, the newest calls
// are there, none twice, and all replicas say the same.
func TestManyWritersOnManyReplicas(t *testing.T) {
	each := daemon.Size(t, "MEMORYD_TEST_ADDS", 5)
	f := launch(t, keeping(keptCalls), "")
	stop, summed := make(chan struct{}), make(chan int)
	go func() { summed <- f.summariseUntil(stop) }()
	began := time.Now()
	var wg sync.WaitGroup
	var busy atomic.Int64
	for id := range adders {
		wg.Go(func() {
			for n := range each {
				if r, ok := addWhenFree(f.at(id+n), oneCall(id, n), &busy); !ok {
					t.Errorf("client %d: call %d was refused: %d %s", id, n, r.Status, r.Body)
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	close(stop)
	summaries := <-summed
	t.Logf("%d calls in %v (%.0f a second), %d of them sent again to a replica that was too busy, %d summaries meanwhile",
		adders*each, took, float64(adders*each)/took.Seconds(), busy.Load(), summaries)
	if summaries == 0 {
		t.Error("no summary was written meanwhile")
	}
	if t.Failed() {
		t.Fatal(f.logs())
	}
	f.checkAgreement(each)
}

// addWhenFree sends a call, again and again while the replica says that it has too
// much to do, and counts how often that is.
func addWhenFree(p *daemon.Process, call any, busy *atomic.Int64) (daemon.Reply, bool) {
	for {
		_, r, ok := send(p, "/add_tool_call_result", call)
		if ok || r.Status != 429 || r.Header.Get("Retry-After") == "" {
			return r, ok
		}
		busy.Add(1)
		tick()
	}
}

func outputOf(id, n int) string { return fmt.Sprintf("client %d call %d", id, n) }

func oneCall(id, n int) any {
	return map[string]any{"tool_name": "t", "include_history": false, "async": true, "tool_call_results": []map[string]any{{
		"input": map[string]any{"n": n}, "output": outputOf(id, n), "metadata": map[string]any{"tool_call_id": outputOf(id, n)},
	}}}
}

// summariseUntil lets the replicas in turn write guidelines, and counts them.
func (f *fleet) summariseUntil(stop <-chan struct{}) (n int) {
	for turn := 0; ; turn++ {
		select {
		case <-stop:
			return n
		default:
		}
		if _, _, ok := send(f.at(turn), "/summary_tool_memory", map[string]any{"tool_names": "t", "force": true}); ok {
			n++
		}
	}
}

// checkAgreement waits until all is judged, and expects the same of each replica:
// every call counted, and the newest kept.
func (f *fleet) checkAgreement(each int) {
	t := f.t
	t.Helper()
	eventually(t, func() string {
		if n := memory(f.at(0), "t", 0).Metadata.Statistics["pending_calls"]; n != 0.0 {
			return fmt.Sprint(n, " calls are pending")
		}
		return ""
	})
	first := memory(f.at(0), "t", keptCalls)
	for n := range replicasOf {
		m := memory(f.at(n), "t", keptCalls)
		if !reflect.DeepEqual(m, first) {
			t.Errorf("replica %d says otherwise than the first:\n%+v\n%+v", n, m, first)
		}
	}
	if first.Lifetime() != adders*each || first.Metadata.Statistics["duplicate_calls"] != 0.0 || len(first.Calls) != min(keptCalls, adders*each) {
		t.Errorf("%v counted, %d kept; want %d and %d", first.Metadata.Statistics, len(first.Calls), adders*each, keptCalls)
	}
	checkEnds(t, first.Calls, each)
}

// checkEnds expects the kept calls to be the ends of what the clients sent: of
// each its newest, without a gap, in order.
func checkEnds(t *testing.T, calls []daemon.Call, each int) {
	t.Helper()
	kept := map[int][]int{}
	for _, c := range calls {
		var id, n int
		if _, err := fmt.Sscanf(c.Output, "client %d call %d", &id, &n); err != nil {
			t.Fatalf("a call that nobody sent: %q", c.Output)
		}
		kept[id] = append(kept[id], n)
	}
	for id, got := range kept {
		want := make([]int, len(got))
		for i := range want {
			want[i] = each - len(got) + i
		}
		if !slices.Equal(got, want) {
			t.Errorf("of client %d the history holds %v, want %v", id, got, want)
		}
	}
}
