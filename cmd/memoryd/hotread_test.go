package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"memoryd/config"
)

// Guidelines waited for a place among the requests that compute, behind every add that
// was there before.
func TestAGuidelineThatWasAskedForBeforeWaitsForNoTurn(t *testing.T) {
	a := testApp(t, config.BackendSQLite, t.TempDir(), "")
	a.Start(t.Context())
	t.Cleanup(func() { _ = a.Stop(context.Background()) })
	ask := func(within time.Duration, path, body string) *httptest.ResponseRecorder {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		w := httptest.NewRecorder()
		a.server.Handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, strings.NewReader(body)))
		return w
	}
	const asked, other = `{"tool_names":"t","include_history":false}`, `{"tool_names":"t","include_history":false,"max_tokens":100}`
	if w := ask(time.Minute, "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"input":{},"output":"found"}]}`); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	before := ask(time.Minute, "/retrieve_tool_memory", asked)
	if before.Code != http.StatusOK || before.Header().Get("ETag") == "" || before.Header().Get("Cache-Control") != "private, no-cache" {
		t.Fatal(before.Code, before.Header())
	}
	full, cancel := context.WithCancel(t.Context())
	defer cancel()
	for { // until all places are taken
		ctx, stop := context.WithTimeout(full, 20*time.Millisecond)
		slot, err := a.face.Scheduler.Acquire(ctx, "w")
		stop()
		if err != nil {
			break
		}
		defer slot.Release()
	}
	if w := ask(time.Minute, "/retrieve_tool_memory", asked); w.Code != http.StatusOK || w.Body.String() != before.Body.String() {
		t.Errorf("asked again: %d %s", w.Code, w.Body)
	}
	if w := ask(20*time.Millisecond, "/retrieve_tool_memory", other); w.Code == http.StatusOK {
		t.Error("what was never asked for took a place that there was not")
	}
}
