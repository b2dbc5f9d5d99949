package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// With few file descriptors, silent connections beyond them keep nobody out.
func TestFewFileDescriptorsKeepNobodyOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no ulimit")
	}
	limited := filepath.Join(t.TempDir(), "limited")
	if err := os.WriteFile(limited, []byte("#!/bin/sh\nulimit -n 64\nexec '"+string(binary)+"' \"$@\"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	s := daemon.Binary(limited).Start(t, t.TempDir(), nil)
	dial(t, s, 200, "")
	for i := range 5 {
		start := time.Now()
		if a := s.Post("/add_tool_call_result", map[string]any{"tool_name": "t", "tool_call_results": []any{map[string]any{"input": fmt.Sprint(i), "output": "ok"}}}); !a.Success {
			t.Fatalf("add %d: %s", i, a.Answer)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("add %d took %v", i, took)
		}
	}
}

// Clients that send requests all the time, on connections that they keep or on one
// each, see a server that ends as one that is not there, and no answer cut off.
func TestAServerThatEndsCutsNoRequests(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	body := []byte(`{"tool_name": "t", "async": true, "include_history": false, "tool_call_results": [{"output": "ok"}]}`)
	var answered, cut atomic.Int64
	var wg sync.WaitGroup
	for n := range 12 {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: n%4 == 3}}
		wg.Go(func() {
			defer client.CloseIdleConnections()
			for {
				fresh := false
				trace := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { fresh = !c.Reused }})
				req, err := http.NewRequestWithContext(trace, http.MethodPost, s.URL+"/add_tool_call_result", bytes.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Content-Type", "application/json")
				resp, err := client.Do(req)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				switch refused, ok := errors.AsType[*net.OpError](err); {
				case err == nil:
					if answered.Add(1); resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusServiceUnavailable {
						t.Errorf("status %d", resp.StatusCode)
					}
				case ok && refused.Op == "dial" && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)):
					return
				default:
					// The system resets who waits to be accepted: that is told once, to who writes or
					// to who reads, and then an end.
					unaccepted := fresh && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF))
					if cut.Add(1); !unaccepted {
						t.Errorf("after %d answers: %v", answered.Load(), err)
					}
				}
			}
		})
	}
	for answered.Load() < 500 {
		if s.ExitCode() >= 0 {
			break
		}
		runtime.Gosched()
	}
	if err := s.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	<-s.Done()
	if code := s.ExitCode(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.Log())
	}
	t.Logf("%d answered, %d cut before they were accepted", answered.Load(), cut.Load())
}
