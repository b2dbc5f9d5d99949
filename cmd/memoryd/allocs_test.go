package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"memoryd/config"
)

// discard is an answer that nobody reads.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// TestHotPathsKeepTheirBudget holds the requests that stand in the way of every
// tool call to a number of allocations: what they cost in time depends on the
// machine, this does not. The request's own, about fifteen, are counted too.
func TestHotPathsKeepTheirBudget(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector lets pools forget what they hold: allocations are counted without it")
	}
	a := testApp(t, config.BackendSQLite, t.TempDir(), "")
	a.Start(t.Context())
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	pad, n := strings.Repeat("lorem ipsum dolor sit amet ", 70), 0
	call := func() string {
		n++
		return fmt.Sprintf(`{"input":{"query":"q%d","k":10},"output":"found %d results %s","time_cost":1.5,"token_cost":12}`, n, n, pad)
	}
	calls := func(k int) string {
		list := make([]string, k)
		for i := range list {
			list[i] = call()
		}
		return `{"tool_name":"t","async":true,"include_history":false,"tool_call_results":[` + strings.Join(list, ",") + `]}`
	}
	ask := func(path, body string) {
		w := &discard{header: http.Header{}}
		a.server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body)))
		if w.status != http.StatusOK {
			t.Fatalf("%s: %d", path, w.status)
		}
	}
	for range 10 {
		ask("/add_tool_call_result", calls(50))
	}
	ask("/summary_tool_memory", `{"tool_names":"t"}`)
	const rounds, runs = 5, 10
	var bodies []string
	for range rounds * (runs + 1) {
		bodies = append(bodies, calls(1))
	}
	for range rounds * (runs + 1) {
		bodies = append(bodies, calls(50))
	}
	next := func(path string) func() {
		return func() {
			ask(path, bodies[0])
			bodies = bodies[1:]
		}
	}
	for _, tc := range []struct {
		name   string
		do     func()
		budget float64
	}{
		{"add of a call", next("/add_tool_call_result"), 200},
		{"add of 50 calls", next("/add_tool_call_result"), 50 * 61},
		{"guideline", func() { ask("/retrieve_tool_memory", `{"tool_names":"t","include_history":false}`) }, 56},
	} {
		// What works in the background at the time is counted too: the round with the
		// least of it tells what the request costs.
		got := math.Inf(1)
		for range rounds {
			got = min(got, testing.AllocsPerRun(runs, tc.do))
		}
		if got > tc.budget {
			t.Errorf("%s: %.0f allocations, the budget is %.0f", tc.name, got, tc.budget)
		} else {
			t.Logf("%s: %.0f allocations of %.0f", tc.name, got, tc.budget)
		}
	}
}
