package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"memoryd/config"
)

// The room of a body is used again for the next request, also that of a batch: nothing that is
// kept of a call may lie in it.
func TestCallsDoNotChangeWhenTheRoomOfTheirBodyIsUsedAgain(t *testing.T) {
	for _, backend := range []string{config.BackendMem, config.BackendSQLite} {
		a := testApp(t, backend, t.TempDir(), "")
		a.Start(t.Context())
		t.Cleanup(func() { _ = a.Stop(context.Background()) })
		ask := func(path, body string) string {
			w := httptest.NewRecorder()
			a.server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body)))
			if w.Code != http.StatusOK {
				t.Fatal(w.Code, w.Body)
			}
			return w.Body.String()
		}
		kept := 0
		for _, calls := range []int{1, 50} {
			add := func(letter string) {
				text := strings.Repeat(letter, 700)
				item := `{"input":{"q":"` + text + `"},"output":"` + text + `","metadata":{"note":"` + text + `"}},`
				ask("/add_tool_call_result", `{"tool_name":"`+letter+`","async":true,"tool_call_results":[`+
					strings.TrimSuffix(strings.Repeat(item, calls), ",")+`]}`)
			}
			for range 8 {
				add("a")
				add("b")
				kept = min(kept+calls, 100)
			}
			got := ask("/retrieve_tool_memory", `{"tool_names":"a"}`)
			if whole := strings.Count(got, strings.Repeat("a", 700)); whole != 3*kept {
				t.Errorf("%s, %d calls in a body: %d of %d texts are as they were sent: %.300s", backend, calls, whole, 3*kept, got)
			}
		}
	}
}
