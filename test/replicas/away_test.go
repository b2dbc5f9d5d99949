package replicas

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// TestTheServerIsAway takes the server away in two ways, asks for everything that
// a client can, and expects clean refusals, a replica that says so, and that all
// goes on when the server is back.
func TestTheServerIsAway(t *testing.T) {
	for name, how := range map[string]state{"connections end": cut, "no answer comes": stuck} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := launch(t, "log: {level: error}\n", ", timeout: 500ms, patience: 1s")
			w := &writer{tool: "t"}
			w.add(t, f.at(0), true)
			checkReady(t, f, 200)
			f.wire.become(how)
			gone := time.Now()
			w.sent.Store(1)
			var all sync.WaitGroup // each waits for a time-out
			for n := range replicasOf {
				all.Go(func() { w.add(t, f.at(n), false) })
				refusesReads(t, f.at(n), &all)
			}
			all.Wait()
			checkReady(t, f, 503)
			outage := daemon.Size(t, "MEMORYD_TEST_OUTAGE", 1)
			<-time.After(time.Until(gone.Add(time.Duration(outage) * time.Second)))
			f.wire.become(whole)
			back := time.Now()
			eventually(t, func() string {
				for n := range replicasOf {
					if r := f.at(n).Get("/readyz"); r.Status != 200 {
						return fmt.Sprintf("replica %d is not ready again: %s", n, r.Body)
					}
				}
				return ""
			})
			t.Logf("away for %v, all are ready again after %v", back.Sub(gone).Round(time.Millisecond), time.Since(back).Round(time.Millisecond))
			for n := range replicasOf { // the same request to all; some connections may still be down
				eventually(t, func() string {
					if _, r, ok := send(f.at(n), "/add_tool_call_result", w.body(1)); !ok {
						return fmt.Sprintf("replica %d refuses: %d %s", n, r.Status, r.Body)
					}
					return ""
				})
			}
			w.sent.Store(2)
			w.acked.Store(2)
			for n := range replicasOf {
				w.check(t, f.at(n), 100)
			}
			if t.Failed() {
				t.Log(f.logs())
			}
		})
	}
}

// add sends the request after those sent, and expects that it is done, or refused
// as a client can understand.
func (w *writer) add(t *testing.T, p *daemon.Process, done bool) {
	t.Helper()
	_, r, ok := send(p, "/add_tool_call_result", w.body(int(w.sent.Load())))
	switch {
	case done && !ok:
		t.Errorf("an add was refused: %d %s\n%s", r.Status, r.Body, p.Log())
	case !done:
		checkRefusal(t, "an add", r)
	}
}

// checkRefusal expects what the contract promises while the store is down.
func checkRefusal(t *testing.T, what string, r daemon.Reply) {
	t.Helper()
	if r.Status != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("%s: status %d, Retry-After %q: %s", what, r.Status, r.Header.Get("Retry-After"), r.Body)
	}
	for _, leak := range []string{"rpc error", "127.0.0.1", "grpc", "collection"} {
		if strings.Contains(string(r.Body), leak) {
			t.Errorf("%s: the answer shows the inside: %s", what, r.Body)
		}
	}
}

func refusesReads(t *testing.T, p *daemon.Process, all *sync.WaitGroup) {
	t.Helper()
	for path, v := range map[string]any{
		"/retrieve_tool_memory": map[string]any{"tool_names": "t"},
		"/summary_tool_memory":  map[string]any{"tool_names": "t", "force": true},
		"/preflight_tool_call":  map[string]any{"tool_name": "t", "input": map[string]any{"n": 1}},
		"/vector_store":         map[string]any{"action": "list"},
	} {
		all.Go(func() {
			_, r, _ := send(p, path, v)
			checkRefusal(t, path, r)
		})
	}
	for _, path := range []string{"/v1/workspaces", "/v1/workspaces/default/tools"} {
		all.Go(func() { checkRefusal(t, path, p.Get(path)) })
	}
	for _, path := range []string{"/livez", "/health"} {
		if r := p.Get(path); r.Status != 200 {
			t.Errorf("%s: status %d", path, r.Status)
		}
	}
}

// checkReady expects of all replicas the status, and that an unready one names
// the store.
func checkReady(t *testing.T, f *fleet, status int) {
	t.Helper()
	var all sync.WaitGroup // each may wait for a time-out
	for n := range replicasOf {
		all.Go(func() {
			r := f.at(n).Get("/readyz")
			if r.Status != status || status != 200 && !strings.Contains(string(r.Body), `"store"`) {
				t.Errorf("replica %d: /readyz says %d %s, want %d", n, r.Status, r.Body, status)
			}
		})
	}
	all.Wait()
}
