package mcp_test

import (
	"bufio"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"memoryd/integrations/mcp"
)

// wrapped starts a wrapper around a fake server and gives its client's ends.
func wrapped(tb testing.TB, m *memory) (toServer io.WriteCloser, fromServer *bufio.Reader, stop func()) {
	tb.Helper()
	memory := mcp.Memory{URL: m.URL, HTTP: m.Client()}
	log := slog.New(slog.DiscardHandler)
	outbox := mcp.NewOutbox(memory, "", log)
	outbox.Start(tb.Context())
	in, toServer := io.Pipe()
	out, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = mcp.NewWrapper(mcp.Options{Memory: memory, Outbox: outbox, Log: log}).Serve(tb.Context(), []string{os.Args[0]}, in, w, io.Discard)
	}()
	return toServer, bufio.NewReader(out), func() {
		toServer.Close()
		<-ended
		outbox.Stop()
		m.CloseClientConnections()
	}
}

func exchange(tb testing.TB, w io.Writer, r *bufio.Reader, line string) {
	if _, err := io.WriteString(w, line); err != nil {
		tb.Fatal(err)
	}
	if _, err := r.ReadBytes('\n'); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkCall times calls to a server over stdio, bare and wrapped in turn, and
// gives what the wrapper adds at the median.
func BenchmarkCall(b *testing.B) {
	b.Setenv("MEMORYD_FAKE_SERVER", "tools")
	bare := exec.Command(os.Args[0])
	in, _ := bare.StdinPipe()
	stdout, _ := bare.StdoutPipe()
	if err := bare.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = bare.Wait()
	}()
	out := bufio.NewReader(stdout)
	toServer, fromServer, stop := wrapped(b, newMemory(b))
	defer stop()
	line := call(1, `{"text":"fine"}`)
	var direct, through []time.Duration
	for b.Loop() {
		began := time.Now()
		exchange(b, in, out, line)
		middle := time.Now()
		exchange(b, toServer, fromServer, line)
		direct, through = append(direct, middle.Sub(began)), append(through, time.Since(middle))
	}
	slices.Sort(direct)
	slices.Sort(through)
	p50 := func(d []time.Duration) float64 { return float64(d[len(d)/2].Microseconds()) }
	b.ReportMetric(p50(direct), "bare-p50-us")
	b.ReportMetric(p50(through), "wrapped-p50-us")
	b.ReportMetric((p50(through)-p50(direct))/200, "added/200us")
}

func TestMemoryStaysFlatOverManyCalls(t *testing.T) {
	calls := 100_000
	if testing.Short() {
		calls = 5_000
	}
	t.Setenv("MEMORYD_FAKE_SERVER", "tools")
	m := newMemory(t)
	m.forget = true
	toServer, fromServer, stop := wrapped(t, m)
	defer stop()
	heap := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	line := call(1, `{"text":"fine"}`)
	for range calls / 10 {
		exchange(t, toServer, fromServer, line)
	}
	before := heap()
	for range calls * 9 / 10 {
		exchange(t, toServer, fromServer, line)
	}
	// What may wait for memoryd is bounded by the outbox; the rest must not grow.
	if after := heap(); after > before+16<<20 {
		t.Errorf("the heap grew from %d to %d KiB", before>>10, after>>10)
	}
}
