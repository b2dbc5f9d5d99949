package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"memoryd"

	"memoryd/config"
)

// portOfNobody is one on which nothing listens.
func portOfNobody(t *testing.T) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
}

// asked sends a request and gives status, Retry-After and body.
func asked(t *testing.T, a *app, method, path, body string) (int, string, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+a.Addr().String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Retry-After"), string(text)
}

func TestTheServerStartsWhileQdrantIsAwayAndASpoolIsThere(t *testing.T) {
	cfg, err := config.Parse(nil, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.HTTP.Listen, cfg.Store.Backend = "127.0.0.1:0", config.BackendQdrant
	cfg.Store.Qdrant.Host, cfg.Store.Qdrant.Port = "127.0.0.1", portOfNobody(t)
	cfg.Store.Journal.Dir = t.TempDir()
	a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a.Start(t.Context())
	defer http.DefaultClient.CloseIdleConnections()
	defer func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if answer := add(t, a, "fine"); !strings.Contains(answer, `"success":true`) {
		t.Errorf("answered %s", answer)
	}
	for _, q := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/readyz", "", 200, `"status":"degraded"`},
		{"GET", "/readyz", "", 200, "verdicts and deletions wait for it"},
		{"GET", "/metrics", "", 200, "memoryd_spool_remote_available 0"},
		{"GET", "/metrics", "", 200, "memoryd_spool_backlog_entries 1"},
		{"POST", "/retrieve_tool_memory", `{"tool_names":"t"}`, 200, "t"},
		{"POST", "/retrieve_tool_memory", `{"tool_names":"unknown"}`, 503, ""},
		{"POST", "/vector_store", `{"workspace_id":"default","action":"dump"}`, 503, "remote store"},
		{"POST", "/summary_tool_memory", `{"tool_names":"t"}`, 503, ""},
	} {
		status, after, body := asked(t, a, q.method, q.path, q.body)
		if status != q.status || !strings.Contains(body, q.says) {
			t.Errorf("%s %s: %d %s", q.path, q.body, status, body)
		}
		if seconds, err := strconv.Atoi(after); status == http.StatusServiceUnavailable && (err != nil || seconds < 1) {
			t.Errorf("%s %s: Retry-After is %q", q.path, q.body, after)
		}
	}
}

// A backup of what one server recorded must not pass for one of the whole store.
func TestNothingIsExportedWhileQdrantIsAway(t *testing.T) {
	t.Setenv("MEMORYD_STORE_BACKEND", "qdrant")
	t.Setenv("MEMORYD_STORE_QDRANT_PORT", strconv.Itoa(portOfNobody(t)))
	t.Setenv("MEMORYD_STORE_JOURNAL_DIR", t.TempDir())
	t.Setenv("MEMORYD_LOG_LEVEL", "error")
	var said bytes.Buffer
	code := run(t.Context(), []string{"export", "-"}, streams{in: strings.NewReader(""), out: &said, err: &said})
	if code != 1 || !strings.Contains(said.String(), "the remote store is away") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
}

func TestTheServerDoesNotStartWhileQdrantIsAwayWithoutASpool(t *testing.T) {
	cfg, err := config.Parse(nil, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.HTTP.Listen, cfg.Store.Backend = "127.0.0.1:0", config.BackendQdrant
	cfg.Store.Qdrant.Host, cfg.Store.Qdrant.Port, cfg.Store.Qdrant.Retries = "127.0.0.1", portOfNobody(t), 0
	cfg.Store.Qdrant.Patience = time.Second
	if _, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("it started")
	}
}

func TestAnUnsetKeyOfQdrantIsAnError(t *testing.T) {
	cfg, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store.Backend, cfg.Store.Qdrant.APIKeyEnv = config.BackendQdrant, "QDRANT_KEY_THAT_IS_NOT_SET"
	_, _, err = openStore(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if !memoryd.IsKind(err, memoryd.Invalid) || !strings.Contains(err.Error(), "api_key_env") || !strings.Contains(err.Error(), "QDRANT_KEY_THAT_IS_NOT_SET") {
		t.Errorf("got %v", err)
	}
}
