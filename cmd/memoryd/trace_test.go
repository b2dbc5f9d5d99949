package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"memoryd/config"
	"memoryd/test/llmtest"
	"memoryd/test/tracetest"
)

// configuredApp builds the server in memory, on a free port, with more
// environment than the process has.
func configuredApp(t testing.TB, key string, environ ...string) *app {
	t.Helper()
	cfg, err := config.Parse(nil, "test", append(environ, "MEMORYD_STORE_BACKEND=mem", "MEMORYD_HTTP_LISTEN=127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	return appOf(t, cfg, key)
}

func appOf(t testing.TB, cfg *config.Config, key string) *app {
	t.Helper()
	a, err := newApp(t.Context(), cfg, func(string) string { return key }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
)

// send posts a body with canaries in the headers and returns the answer.
func send(t testing.TB, a *app, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+a.Addr().String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-"+callerTrace+"-"+callerSpan+"-01")
	for _, name := range []string{"Tracestate", "Baggage"} {
		req.Header.Set(name, "k=CANARY")
	}
	for _, name := range []string{"Authorization", "User-Agent", "Cookie", "X-Request-Id", "Idempotency-Key"} {
		req.Header.Set(name, "CANARY-"+name)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

func TestARequestIsTracedFromTheCallerToTheModelAndNothingSaidLeaves(t *testing.T) {
	model := llmtest.New(llmtest.Always(llmtest.Answer(`CANARY {"score": 0.5, "summary": "CANARY", "evaluation": "CANARY"}`)))
	c := tracetest.Start(t, nil)
	a := configuredApp(t, "sk-CANARY-key", "OPENAI_BASE_URL="+model.Start(t)+"/v1", "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL(),
		"MEMORYD_EVALUATE_JUDGE=llm", "MEMORYD_OP_PARSE_TOOL_CALL_RESULT_OP_PARAMS_EVALUATION_SLEEP_INTERVAL=0",
		"MEMORYD_OP_SUMMARY_TOOL_MEMORY_OP_PARAMS_SUMMARY_SLEEP_INTERVAL=0")
	a.Start(t.Context())
	for _, r := range []struct{ path, body string }{
		{"/add_tool_call_result", `{"workspace_id":"team","tool_name":"search","tool_call_results":[` +
			`{"input":{"CANARY":"CANARY"},"output":"CANARY was found","metadata":{"CANARY":"CANARY"}},{"input":"CANARY 2","output":"CANARY 2"}]}`},
		{"/summary_tool_memory", `{"workspace_id":"team","tool_names":"search"}`},
		{"/retrieve_tool_memory", `{"workspace_id":"team","tool_names":["search","fetch"]}`},
		{"/add_tool_call_result", `{"tool_call_results": "CANARY"`},
		{"/CANARY/not/there", `{}`},
	} {
		if code, answer := send(t, a, r.path, r.body); code >= 500 || code >= 400 && !strings.Contains(r.path+r.body, `"CANARY"`) && r.path[1] != 'C' {
			t.Errorf("%s: %d %s", r.path, code, answer)
		}
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()

	checkSummaryTrace(t, c)
	if s := c.One(t, "parse_tool_call_result_op"); s.Attributes["memoryd.calls"] != "2" || s.Attributes["memoryd.tool"] != "search" || s.Attributes["memoryd.workspace"] != "team" {
		t.Errorf("%+v", s)
	}
	if s := c.One(t, "retrieve_tool_memory_op"); s.Attributes["memoryd.tools"] != "2" || s.Attributes["memoryd.tool"] != "" {
		t.Errorf("%+v", s)
	}
	if raw := c.Raw(); strings.Contains(raw, "CANARY") {
		at := strings.Index(raw, "CANARY")
		t.Errorf("text from outside left the server: %q", raw[max(0, at-100):min(len(raw), at+100)])
	}
	told := c.Named("evaluate_tool_call")
	if len(told) != 2 {
		t.Errorf("%d verdicts were told of, want 2", len(told))
	}
	for _, s := range told {
		if e := s.Told["gen_ai.evaluation.result"]; e["gen_ai.evaluation.score.value"] != "0.5" || e["gen_ai.evaluation.score.label"] != "partial" || s.Attributes["memoryd.tool"] != "search" {
			t.Errorf("%+v", s)
		}
	}
	judged := 0
	for _, s := range c.Named("chat gpt-4o-mini") {
		if s.Attributes["memoryd.op"] == "evaluate" && s.Attributes["memoryd.tool"] == "search" {
			judged++
		}
		if s.Attributes["memoryd.workspace"] != "team" || s.Attributes["memoryd.outcome"] == "" || s.Attributes["gen_ai.usage.input_tokens"] == "" {
			t.Errorf("%+v", s)
		}
	}
	if judged < 2 {
		t.Errorf("%d requests of the judge were traced, want at least 2", judged)
	}
}

// checkSummaryTrace follows one trace from the caller down to the model.
func checkSummaryTrace(t *testing.T, c *tracetest.Collector) {
	t.Helper()
	server, op := c.One(t, "POST /summary_tool_memory"), c.One(t, "summary_tool_memory_op")
	if server.TraceID != callerTrace || server.Parent != callerSpan || op.TraceID != callerTrace || op.Parent != server.ID {
		t.Errorf("server %+v, op %+v", server, op)
	}
	if server.Attributes["http.response.status_code"] != "200" || server.Took < op.Took || op.Took <= 0 {
		t.Errorf("server %+v took %d, op took %d", server, server.Took, op.Took)
	}
	below := 0
	for _, s := range c.Named("chat gpt-4o-mini") {
		if s.Attributes["memoryd.op"] == "summary" && s.TraceID == callerTrace && s.Parent == op.ID {
			below++
		}
	}
	if below == 0 {
		t.Errorf("no request to the model hangs below the op: %+v", c.Named("chat gpt-4o-mini"))
	}
}

// A collector that never answers holds up neither requests nor, beyond
// its bound, the server's end: without that, the test would take an hour.
func TestRequestsDoNotWaitForTheCollector(t *testing.T) {
	c := tracetest.Start(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	cfg, err := config.Parse(nil, "test", []string{"MEMORYD_TRACE_OTLP_ENDPOINT=" + c.URL(), "MEMORYD_STORE_BACKEND=mem", "MEMORYD_HTTP_LISTEN=127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Trace.Queue, cfg.Trace.StopTimeout, cfg.Trace.Timeout = 8, 20*time.Millisecond, time.Hour
	a := appOf(t, cfg, "")
	a.Start(t.Context())
	for range 200 {
		if code, answer := send(t, a, "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"fine"}]}`); code != 200 {
			t.Fatalf("%d %s", code, answer)
		}
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestTracingIsOffUnlessACollectorIsNamed(t *testing.T) {
	a := configuredApp(t, "")
	a.Start(t.Context())
	if a.tracer != nil || a.traceRequests() != nil {
		t.Error("something is traced")
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}
