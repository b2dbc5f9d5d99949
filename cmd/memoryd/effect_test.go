package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"memoryd/config"
)

// Runs that ask are marked by what they were told, in what is recorded of them; those that
// are dealt to the other side get neither guideline nor warning; and the effect of it is
// found. The control: a run that never asked is on no side.
func TestRunsThatAskAreToldOrNotAndTheEffectIsFound(t *testing.T) {
	t.Setenv("MEMORYD_LOG_LEVEL", "error")
	cfg, err := config.Parse([]byte("revisions: {untold_share: 0.5}\nop: {parse_tool_call_result_op: {params: {max_history_tool_call_cnt: 1000}}}\n"), "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store.SQLite.Dir, cfg.HTTP.Listen = t.TempDir(), "127.0.0.1:0"
	a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a.Start(t.Context())
	defer func() { _ = a.Stop(context.Background()) }()
	url := "http://" + a.Addr().String()
	record := func(run, input string, good bool) {
		output := "done"
		if !good {
			output = "Error: customer is required"
		}
		post(t, url+"/add_tool_call_result", fmt.Sprintf(`{"workspace_id":"w","include_history":false,"tool_call_results":[{"tool_name":"book","input":%s,"output":%q,"success":%t,"time_cost":2,"metadata":{"trajectory_id":%q}}]}`, input, output, good, run))
	}
	for i := range 40 {
		run := fmt.Sprintf("early-%d", i/4)
		record(run, fmt.Sprintf(`{"n":%d}`, i), false)
		record(run, fmt.Sprintf(`{"n":%d,"customer":"c%d"}`, i, i), true)
	}
	post(t, url+"/summary_tool_memory", `{"workspace_id":"w","tool_names":"book"}`)
	told, untold := 0, 0
	for i := range 60 {
		run := fmt.Sprintf("run-%d", i)
		text := post(t, url+"/retrieve_tool_memory", fmt.Sprintf(`{"workspace_id":"w","tool_names":"book","include_history":false,"session_id":%q}`, run))
		knows := strings.Contains(text, "## Best Practices")
		if knows == strings.Contains(text, "This run is in the control group") {
			t.Fatal(text)
		}
		forecast := post(t, url+"/preflight_tool_call", fmt.Sprintf(`{"workspace_id":"w","tool_name":"book","input":{"n":1},"trajectory_id":%q}`, run))
		if !knows && !strings.Contains(forecast, `"warnings":[]`) {
			t.Fatalf("a run that is told nothing is warned: %s", forecast)
		}
		if knows {
			told++
		} else {
			untold++
		}
		for k := range 5 {
			record(run, fmt.Sprintf(`{"n":%d%s}`, 100*i+k, map[bool]string{true: `,"customer":"x"`}[knows]), knows || k%2 == 0)
		}
	}
	if told < 15 || untold < 15 {
		t.Fatalf("%d told, %d untold", told, untold)
	}
	record("never-asked", `{"n":1}`, false)
	for range 4 {
		record("stuck", `{"n":7}`, false)
	}
	if text := scrapeOf(t, a); !strings.Contains(text, fmt.Sprintf("memoryd_judged_calls_total{advice=\"told\",outcome=\"succeeded\"} %d\n", 5*told)) ||
		!strings.Contains(text, fmt.Sprintf("memoryd_judged_calls_total{advice=\"untold\",outcome=\"failed\"} %d\n", 2*untold)) {
		t.Errorf("the metrics count other calls than the effect: %d told, %d untold:\n%s", told, untold, text)
	}
	code, out, errs := printed(t, "effect", "--workspace", "w", "--url", url)
	if code != exitDone || !strings.Contains(out, "failed calls avoided.") || !strings.Contains(out, fmt.Sprintf("0 %% of %d calls", 5*told)) || !strings.Contains(out, fmt.Sprintf("40 %% of %d calls", 5*untold)) {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if code, out, errs = printed(t, "runs", "--workspace", "w", "--url", url, "--limit", "1"); code != exitDone || !strings.Contains(out, "\nstuck ") || !strings.Contains(out, "4 times the same failing call of book") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if code, out, errs = printed(t, "digest", "--workspace", "w", "--url", url); code != exitDone || !strings.Contains(out, "failed calls avoided.**") || !strings.Contains(out, "1. `book`") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	status, answer := posted(t, url, body)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", url, status, answer)
	}
	return string(answer)
}
