package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// TestMain serves a baseline where the benchmark starts this binary for one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == baselineCommand || os.Args[1] == probeCommand) {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

func TestWrongUsageSaysSo(t *testing.T) {
	for _, args := range [][]string{nil, {"nonsense"}, {"add", "-nonsense"}, {"add", "more"}, {"add", "-docs", "x"}} {
		var errOut strings.Builder
		if code := run(t.Context(), args, io.Discard, &errOut); code != 2 || !strings.Contains(errOut.String(), "usage: bench COMMAND") {
			t.Errorf("%v: code %d, %s", args, code, errOut.String())
		}
	}
}

func TestABinaryThatDoesNotServeIsReported(t *testing.T) {
	var errOut strings.Builder
	args := []string{"batch", "-quick", "-binary", filepath.Join(t.TempDir(), "missing"), "-dir", t.TempDir()}
	if code := run(t.Context(), args, io.Discard, &errOut); code != 1 || !strings.Contains(errOut.String(), "batch: ") {
		t.Errorf("code %d, %s", code, errOut.String())
	}
}

// TestAQuickRunMeasuresTheRealBinary runs the parts that take seconds.
func TestAQuickRunMeasuresTheRealBinary(t *testing.T) {
	if os.Getenv("MEMORYD_BENCH") == "" {
		t.Skip("builds and loads the real server for a minute; set MEMORYD_BENCH=1 to run it")
	}
	for _, part := range []string{"add", "batch", "retrieve", "compact", "overload"} {
		results := filepath.Join(t.TempDir(), part+".json")
		var out, errOut strings.Builder
		if code := run(t.Context(), []string{part, "-quick", "-json", results, "-dir", t.TempDir()}, &out, &errOut); code != 0 {
			t.Fatalf("%s: code %d\n%s%s", part, code, out.String(), errOut.String())
		}
		data, err := os.ReadFile(results)
		if err != nil {
			t.Fatal(err)
		}
		var r report
		if err := json.Unmarshal(data, &r); err != nil || len(r.Goals) == 0 {
			t.Fatalf("%s: %d goals, %v", part, len(r.Goals), err)
		}
		for _, g := range r.Goals {
			if g.Verdict == goalNone {
				t.Errorf("%s: not measured: %s", part, g.Text)
			}
		}
	}
}

// The server answers only for names that it knows: with another every part failed at its
// first request.
func TestRequestsNameAHostThatTheServerAnswersFor(t *testing.T) {
	for _, text := range []string{post("/x", "{}"), get("/livez")} {
		if !strings.Contains(text, "\r\nHost: localhost\r\n") {
			t.Errorf("the request %q does not name localhost", text)
		}
	}
}
