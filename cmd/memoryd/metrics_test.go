package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memoryd/config"
	"memoryd/test/llmtest"
	"memoryd/test/qdranttest"
)

// realApp is the started server with settings from the environment.
func realApp(t *testing.T, environ ...string) *app {
	t.Helper()
	cfg, err := config.Parse(nil, "test", append(environ, "MEMORYD_HTTP_LISTEN=127.0.0.1:0", "MEMORYD_STORE_SQLITE_DIR="+t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a.Start(t.Context())
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return a
}

// scrapeOf is what the server tells a scraper.
func scrapeOf(t *testing.T, a *app) string {
	t.Helper()
	resp, err := http.Get("http://" + a.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	return string(text)
}

// documented are the names in the table of docs/metrics.md.
func documented(t *testing.T) (names []string) {
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(memoryd_\\w+)` \\| (\\w+)").FindAllStringSubmatch(string(page), -1) {
		if m[2] == "histogram" {
			m[1] += "_count"
		}
		names = append(names, m[1])
	}
	if len(names) < 30 {
		t.Fatalf("%d metrics in docs/metrics.md", len(names))
	}
	return names
}

// Every metric of docs/metrics.md comes out of the real program: one with a model
// that answers well, then badly, a collector of spans and prices; and one on
// a Qdrant.
func TestTheProgramEmitsEveryMetricOfTheDocuments(t *testing.T) {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	var asked atomic.Int64
	model := llmtest.New(func(r llmtest.Request) llmtest.Reply {
		switch {
		case r.Schema == nil: // not the judge
			return llmtest.Answer("The user asked for lines, and got them.")
		case asked.Add(1) == 1:
			return llmtest.Answer("```json\n" + `{"evaluation":"It says so.","failed_checks":[],"score":1.0,"summary":"Done."}` + "\n```")
		}
		return llmtest.Status(http.StatusUnauthorized, nil)
	})
	judged := realApp(t, "MEMORYD_EVALUATE_JUDGE=llm", "OPENAI_BASE_URL="+model.Start(t)+"/v1", "MEMORYD_LLM_DEFAULT_PRICE_PROMPT=1", "MEMORYD_LLM_DEFAULT_PRICE_COMPLETION=2",
		"MEMORYD_TRACE_OTLP_ENDPOINT="+collector.URL)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := qdranttest.New(t, "1.16.3")
	go server.Serve(listener)
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	remote := realApp(t, "MEMORYD_STORE_BACKEND=qdrant", "MEMORYD_STORE_QDRANT_HOST=127.0.0.1", "MEMORYD_STORE_QDRANT_PORT="+port)
	for _, r := range []struct {
		app        *app
		path, body string
	}{
		{remote, "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"x","success":false}]}`}, // judged by rules
		{judged, "/compact_conversation", talk()},
		{judged, "/v1/traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"execute_tool t",
			"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}]}]}]}]}`},
		{judged, "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"It ended well."}]}`},
		{judged, "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"It ended badly."}]}`},
	} {
		if status, answer := (&brittle{T: t, app: r.app}).ask("POST", r.path, r.body); status != 200 {
			t.Fatalf("%s: %d %s", r.path, status, answer)
		}
	}
	var missing []string
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		text := scrapeOf(t, judged) + scrapeOf(t, remote)
		missing = nil
		for _, name := range documented(t) {
			if !strings.Contains(text, "\n"+name+" ") && !strings.Contains(text, "\n"+name+"{") {
				missing = append(missing, name)
			}
		}
		if len(missing) == 0 {
			return
		}
	}
	t.Errorf("documented, but not emitted: %v", missing)
}
