package crash

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"memoryd/test/crash/daemon"
)

// writers send calls at the same time, each to a tool of its own.
const writers = 8

// perRequest is how many calls a request holds: all of them are there, or none.
const perRequest = 3

// writer adds calls one request after another. A request without an answer is
// sent again after the restart, as a client would.
type writer struct {
	tool  string
	pad   string // makes its calls longer
	sent  int    // requests
	acked int
	last  daemon.Reply
}

// output is what the n-th call of the writer says.
func (w *writer) output(n int) string {
	return fmt.Sprintf(`{"tool":%q,"call":%d,"text":%q}`, w.tool, n, w.pad)
}

// add sends the next request, or the last again, and reports whether there was
// an answer.
func (w *writer) add(p *daemon.Process) bool {
	if w.sent == w.acked {
		w.sent++
	}
	var items []map[string]any
	for i := range perRequest {
		n := w.acked*perRequest + i
		items = append(items, map[string]any{
			"input": map[string]any{"n": n}, "output": w.output(n), "create_time": "2025-01-01 00:00:00",
			"metadata": map[string]any{"tool_call_id": fmt.Sprint(w.tool, n)},
		})
	}
	body, err := json.Marshal(map[string]any{"tool_name": w.tool, "tool_call_results": items, "include_history": false})
	if err != nil {
		panic(err)
	}
	var a daemon.Answer
	w.last, err = p.Send("/add_tool_call_result", body)
	if err != nil || w.last.Status != 200 || json.Unmarshal(w.last.Body, &a) != nil || !a.Success {
		return false
	}
	w.acked++
	return true
}

// TestEveryAcknowledgedCallIsThereOnceAfterKill9 kills the server in the middle
// of a stream of adds and summaries, again and again: what was acknowledged has
// to be there once.
func TestEveryAcknowledgedCallIsThereOnceAfterKill9(t *testing.T) {
	for name, keep := range map[string]int{"whole histories": 100_000, "while histories are trimmed": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killLoop(t, keep)
		})
	}
}

func killLoop(t *testing.T, keep int) {
	dir, config, rng := t.TempDir(), keeping(t, keep), daemon.Dice(t)
	var all []*writer
	for n := range writers {
		all = append(all, &writer{tool: fmt.Sprint("tool-", n)})
	}
	guided := map[string]string{} // tool -> the last guideline that was answered
	n := daemon.Size(t, "MEMORYD_KILL_ROUNDS", 8)
	for round := range n {
		p := binary.Start(t, dir, nil, "--config", config)
		newest := 100 // to read all each time would be most of the work
		if round%20 == 19 {
			newest = keep
		}
		checkAll(t, p, all, min(keep, newest), guided)
		runRound(p, all, int64(1+rng.IntN(150)), guided)
		if t.Failed() {
			return
		}
	}
	p := binary.Start(t, dir, nil, "--config", config)
	for _, w := range all {
		if w.sent > w.acked && !w.add(p) {
			t.Fatalf("%s: a request sent again was not answered\n%s", w.tool, p.Log())
		}
	}
	checkAll(t, p, all, keep, guided)
	total := 0
	for _, w := range all {
		total += w.acked * perRequest
	}
	t.Logf("%d kills, %d calls acknowledged, %d guidelines", n, total, len(guided))
	if code := p.Stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

// runRound lets all write until the server is killed, after so many requests.
func runRound(p *daemon.Process, all []*writer, after int64, guided map[string]string) {
	var answered atomic.Int64
	var wg sync.WaitGroup
	for _, w := range all {
		wg.Go(func() {
			for w.add(p) {
				if answered.Add(1) == after {
					p.Kill()
				}
			}
		})
	}
	wg.Go(func() { summaries(p, all, guided) })
	wg.Wait()
	p.Kill() // if it died by itself, the next round shows what of
}

// summaries writes guidelines until the server is gone.
func summaries(p *daemon.Process, all []*writer, guided map[string]string) {
	for n := 0; ; n++ {
		body, err := json.Marshal(map[string]any{"tool_names": all[n%len(all)].tool, "force": true})
		if err != nil {
			panic(err)
		}
		r, err := p.Send("/summary_tool_memory", body)
		if err != nil {
			return
		}
		var a daemon.Answer
		if json.Unmarshal(r.Body, &a) == nil && a.Success && len(a.Metadata.MemoryList) == 1 {
			m := a.Metadata.MemoryList[0]
			guided[m.WhenToUse] = m.Content
		}
	}
}

// checkAll compares the newest calls of each tool with what its writer knows.
func checkAll(t *testing.T, p *daemon.Process, all []*writer, newest int, guided map[string]string) {
	t.Helper()
	for _, w := range all {
		a := p.Post("/retrieve_tool_memory", map[string]any{"tool_names": []string{w.tool}, "include_calls": newest})
		if !a.Success {
			if w.acked > 0 {
				t.Errorf("%s: gone after %d requests: %s", w.tool, w.acked, a.Answer)
			}
			continue
		}
		m := a.Metadata.MemoryList[0]
		w.check(t, &m, newest)
		if guided[w.tool] != "" && m.Content == "" {
			t.Errorf("%s: its guideline is gone", w.tool)
		}
	}
}

// check expects all acknowledged calls, perhaps those of the request under way,
// and no others: the newest keep of them, in order, counted exactly.
func (w *writer) check(t *testing.T, m *daemon.Memory, keep int) {
	t.Helper()
	total := m.Lifetime()
	if total != w.acked*perRequest && total != w.sent*perRequest {
		t.Errorf("%s: %d calls, want those of %d acknowledged or %d sent requests of %d", w.tool, total, w.acked, w.sent, perRequest)
	}
	if want := min(total, keep); len(m.Calls) != want {
		t.Errorf("%s: the history holds %d calls of %d, want %d", w.tool, len(m.Calls), total, want)
	}
	for i, c := range m.Calls {
		if want := w.output(total - len(m.Calls) + i); c.Output != want {
			t.Errorf("%s: call %d of %d is %q, want %q", w.tool, i, len(m.Calls), c.Output, want)
			return
		}
	}
}
