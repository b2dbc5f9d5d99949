package main

import (
	"io"
	"log/slog"
	"net"
	"net/http"
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

func TestTheServerDoesNotStartWhileQdrantIsAway(t *testing.T) {
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
