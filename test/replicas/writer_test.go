package replicas

import (
	"fmt"
	"sync/atomic"
	"testing"

	"memoryd/test/crash/daemon"
)

// perRequest is how many calls a request of a writer holds.
const perRequest = 3

// writer adds calls to a tool of its own, one request after another. A request
// that was not answered with success is sent again, to the next replica, until it
// is.
type writer struct {
	tool    string
	sent    atomic.Int64 // requests
	acked   atomic.Int64
	refused atomic.Int64 // answers other than success, and none at all
}

func (w *writer) output(n int) string {
	return fmt.Sprintf(`{"tool":%q,"call":%d}`, w.tool, n)
}

func (w *writer) body(request int) any {
	var items []map[string]any
	for i := range perRequest {
		n := request*perRequest + i
		items = append(items, map[string]any{
			"input": map[string]any{"n": n}, "output": w.output(n), "create_time": "2025-01-01 00:00:00",
			"metadata": map[string]any{"tool_call_id": fmt.Sprint(w.tool, n)},
		})
	}
	return map[string]any{"tool_name": w.tool, "tool_call_results": items, "include_history": false, "async": true}
}

// run writes until stop is closed; the last request is brought to its end.
func (w *writer) run(f *fleet, turn int, stop <-chan struct{}, acked func()) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		body := w.body(int(w.sent.Add(1)) - 1)
		for ; ; turn++ {
			if _, _, ok := send(f.at(turn), "/add_tool_call_result", body); ok {
				break
			}
			w.refused.Add(1)
		}
		turn++
		w.acked.Add(1)
		acked()
	}
}

// glance expects, while the writer goes on, that what was acknowledged before the
// look is there.
func (w *writer) glance(t *testing.T, p *daemon.Process, newest int) {
	t.Helper()
	least := int(w.acked.Load()) * perRequest
	m := patientMemory(t, p, w.tool, newest)
	if m == nil {
		if least > 0 {
			t.Errorf("%s: gone after %d calls", w.tool, least)
		}
		return
	}
	most := int(w.sent.Load()) * perRequest
	if total := m.Lifetime(); total < least || total > most {
		t.Errorf("%s: %d calls, want %d to %d", w.tool, total, least, most)
	}
	w.inOrder(t, m.Calls)
}

// check expects, after the writer's end, exactly its calls and the newest of them.
func (w *writer) check(t *testing.T, p *daemon.Process, keep int) {
	t.Helper()
	total := int(w.acked.Load()) * perRequest
	m := patientMemory(t, p, w.tool, keep)
	if m == nil {
		t.Errorf("%s: gone after %d calls", w.tool, total)
		return
	}
	if m.Lifetime() != total || m.Metadata.Statistics["duplicate_calls"] != 0.0 || len(m.Calls) != min(total, keep) {
		t.Errorf("%s: %d calls counted and %d kept, want %d and %d; %v", w.tool,
			m.Lifetime(), len(m.Calls), total, min(total, keep), m.Metadata.Statistics)
	}
	if n := len(m.Calls); n > 0 && m.Calls[n-1].Output != w.output(total-1) {
		t.Errorf("%s: the newest call is %q, not number %d", w.tool, m.Calls[n-1].Output, total-1)
	}
	w.inOrder(t, m.Calls)
}

// inOrder expects that calls follow each other without a gap.
func (w *writer) inOrder(t *testing.T, calls []daemon.Call) {
	t.Helper()
	first := -1
	for i, c := range calls {
		n := -1
		if _, err := fmt.Sscanf(c.Output, `{"tool":"`+w.tool+`","call":%d}`, &n); err != nil {
			t.Fatalf("%s: a call that nobody sent: %q", w.tool, c.Output)
		}
		if i == 0 {
			first = n
		}
		if n != first+i {
			t.Errorf("%s: call %d follows the first, %d, by %d places", w.tool, n, first, i)
			return
		}
	}
}
