package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"memoryd/config"
)

// profiled asks the pprof server of a.
func profiled(t *testing.T, a *app, host, path string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+a.pprofAddr.String()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

func TestPprofIsServedOnAnAddressOfItsOwn(t *testing.T) {
	a := configuredApp(t, "", "MEMORYD_HTTP_PPROF_LISTEN=127.0.0.1:0")
	a.Start(t.Context())
	address := a.pprofAddr.String()
	if code, body := profiled(t, a, "", "/debug/pprof/goroutine?debug=1"); code != 200 || !bytes.Contains(body, []byte("memoryd/cmd/memoryd")) {
		t.Errorf("goroutines: %d, %d bytes", code, len(body))
	}
	code, body := profiled(t, a, "", "/debug/pprof/heap")
	if _, err := gzip.NewReader(bytes.NewReader(body)); code != 200 || err != nil {
		t.Errorf("heap: %d, %v", code, err)
	}
	if code, _ := profiled(t, a, "evil.example.org:6060", "/debug/pprof/cmdline"); code != http.StatusForbidden {
		t.Errorf("asked by a foreign name: %d", code)
	}
	if code, _ := profiled(t, a, "localhost:6060", "/debug/pprof/cmdline"); code != 200 {
		t.Errorf("asked by localhost: %d", code)
	}
	resp, err := http.Get("http://" + a.Addr().String() + "/debug/pprof/")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != 404 {
		t.Errorf("pprof on the main address: %d", resp.StatusCode)
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("pprof still listens after Stop")
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestPprofIsOffByDefaultAndRefusesThePublic(t *testing.T) {
	a := configuredApp(t, "")
	if a.pprofAddr != nil {
		t.Error("pprof is on")
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	_ = a.listener.Close()
	_, err := config.Parse([]byte("http:\n  pprof_listen: 0.0.0.0:6060\n"), "f.yaml", nil)
	if err == nil || !strings.Contains(err.Error(), "f.yaml: line 2: http.pprof_listen: must be a loopback address") {
		t.Errorf("got %v", err)
	}
}

func TestAPprofAddressInUseStopsTheStartAndLeavesNothingOpen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg, err := config.Parse(nil, "test", []string{
		"MEMORYD_STORE_BACKEND=mem", "MEMORYD_HTTP_LISTEN=127.0.0.1:0", "MEMORYD_HTTP_PPROF_LISTEN=" + taken.Addr().String(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), "http.pprof_listen: ") {
		t.Errorf("got %v", err)
	}
}

func TestAPprofServerThatNeverStartedCanBeStopped(t *testing.T) {
	a := configuredApp(t, "", "MEMORYD_HTTP_PPROF_LISTEN=127.0.0.1:0")
	for range 2 {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if _, err := net.Dial("tcp", a.pprofAddr.String()); err == nil {
		t.Error("the listener is open")
	}
}
