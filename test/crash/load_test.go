package crash

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"memoryd/test/crash/daemon"
)

// How many clients add how many calls each to one tool, and how many of these
// the history keeps.
const (
	adders    = 64
	addsEach  = 200
	keptCalls = 100
)

// TestManyWritersOfOneToolWhileItIsSummarised adds to one tool from many clients
// while summaries of it run one after another: the counters have to be exact and
// the newest calls there.
func TestManyWritersOfOneToolWhileItIsSummarised(t *testing.T) {
	dir := t.TempDir()
	p := binary.Start(t, dir, nil, "--config", keeping(t, keptCalls))
	stop, summed := make(chan struct{}), make(chan int)
	go func() { summed <- summariseUntil(p, stop) }()
	var wg sync.WaitGroup
	for id := range adders {
		wg.Go(func() {
			for n := range addsEach {
				if !addOne(p, id, n) {
					t.Errorf("client %d: call %d was refused\n%s", id, n, p.Log())
					return
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	summaries := <-summed
	checkCounters(t, p)
	p.Kill()
	p = binary.Start(t, dir, nil, "--config", keeping(t, keptCalls))
	checkCounters(t, p)
	t.Logf("%d calls, %d summaries meanwhile", adders*addsEach, summaries)
	if summaries == 0 {
		t.Error("no summary was written meanwhile")
	}
}

func outputOf(id, n int) string { return fmt.Sprintf("client %d call %d", id, n) }

func addOne(p *daemon.Process, id, n int) bool {
	body, err := json.Marshal(map[string]any{"tool_name": "t", "include_history": false, "async": true, "tool_call_results": []map[string]any{
		{"input": map[string]any{"n": n}, "output": outputOf(id, n), "metadata": map[string]any{"tool_call_id": outputOf(id, n)}},
	}})
	if err != nil {
		panic(err)
	}
	r, err := p.Send("/add_tool_call_result", body)
	var a daemon.Answer
	return err == nil && r.Status == 200 && json.Unmarshal(r.Body, &a) == nil && a.Success
}

// summariseUntil writes guidelines one after another and counts them.
func summariseUntil(p *daemon.Process, stop <-chan struct{}) (n int) {
	for {
		select {
		case <-stop:
			return n
		default:
		}
		r, err := p.Send("/summary_tool_memory", []byte(`{"tool_names": "t", "force": true}`))
		var a daemon.Answer
		if err == nil && json.Unmarshal(r.Body, &a) == nil && a.Success {
			n++
		}
	}
}

// checkCounters expects every call counted, and the newest to be the ends of what
// the clients sent: of each client its newest calls, without a gap.
func checkCounters(t *testing.T, p *daemon.Process) {
	t.Helper()
	m := p.Post("/retrieve_tool_memory", map[string]any{"tool_names": "t"}).Metadata.MemoryList[0]
	if m.Lifetime() != adders*addsEach || len(m.Calls) != keptCalls {
		t.Errorf("%d calls counted, %d kept; want %d and %d", m.Lifetime(), len(m.Calls), adders*addsEach, keptCalls)
	}
	kept := map[int][]int{}
	for _, c := range m.Calls {
		var id, n int
		if _, err := fmt.Sscanf(c.Output, "client %d call %d", &id, &n); err != nil {
			t.Fatalf("a call that nobody sent: %q", c.Output)
		}
		kept[id] = append(kept[id], n)
	}
	for id, calls := range kept {
		want := make([]int, len(calls))
		for i := range want {
			want[i] = addsEach - len(calls) + i
		}
		if !slices.Equal(calls, want) {
			t.Errorf("of client %d the history holds %v, want %v", id, calls, want)
		}
	}
}
