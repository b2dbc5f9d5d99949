package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestHealth(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		code   int
		says   string
	}{
		"ready":    {200, `{"status":"ready","checks":[{"name":"store","status":"ok"}]}`, 0, "ready\n"},
		"degraded": {200, `{"status":"degraded","checks":[{"name":"store","status":"ok"},{"name":"llm.default","status":"degraded","detail":"no\nkey"}]}`, 0, "degraded: llm.default degraded (no key)\n"},
		"unready":  {503, `{"status":"unready","checks":[{"name":"store","status":"failed","detail":"the disk is full"},{"name":"x","status":"failed"}]}`, 1, "unready: store failed (the disk is full), x failed\n"},
		"another":  {200, `<html>`, 1, "is not memoryd"},
		"no such":  {404, `{"detail":"?"}`, 1, "answered 404"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				w.WriteHeader(c.status)
				if _, err := w.Write([]byte(c.body)); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			defer http.DefaultClient.CloseIdleConnections()
			code, said := health(t, "--url", server.URL+"/")
			if code != c.code || !strings.Contains(said, c.says) || strings.Count(said, "\n") != 1 {
				t.Errorf("exit code %d, said %q", code, said)
			}
		})
	}
}

func health(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var said bytes.Buffer
	code := run(t.Context(), append([]string{"health"}, args...), streams{in: strings.NewReader(""), out: &said, err: &said})
	return code, said.String()
}

func TestHealthOfNobody(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	url := server.URL
	server.Close()
	if code, said := health(t, "--url", url); code != 1 || !strings.Contains(said, "no answer from") || strings.Count(said, "\n") != 1 {
		t.Errorf("exit code %d, said %q", code, said)
	}
}

func TestHealthDoesNotWaitForEver(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer server.Close()
	defer close(hang)
	begun := time.Now()
	if code, said := health(t, "--url", server.URL, "--timeout", "20ms"); code != 1 || !strings.Contains(said, "no answer") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
