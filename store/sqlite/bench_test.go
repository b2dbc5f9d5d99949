//go:build linux

package sqlite_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/store"
	"memoryd/store/sqlite"
	"memoryd/store/storetest"
)

// bodyBytes is input and output of a call of the benchmarks, together.
const bodyBytes = 2048

// benchCall makes a judged call of 2 KB with an identity of its own. Its
// numbers spread over tools as a multiplicative hash does.
func benchCall(n uint64, tools int) memoryd.Call {
	c := memoryd.Call{
		ToolRef:    benchRef(n, tools),
		Input:      benchInput,
		Output:     benchOutput,
		CreateTime: "2026-01-02 03:04:05", Time: time.Unix(1767323045, 0), Success: true, TimeCost: 1.5, TokenCost: 77,
		Metadata: json.RawMessage(`{"agent_id":"a"}`),
		Evaluation: memoryd.Evaluation{
			State: memoryd.Judged, Score: 1, Summary: "it worked", Evaluation: "the answer fits the question",
			JudgedBy: memoryd.JudgedByRules, Rule: "ok", JudgeVersion: "r1", JudgedAt: time.Unix(1767323046, 0),
		},
	}
	for i := range 8 {
		c.Key[i], c.Key[i+8] = byte(n>>(8*i)), byte(n*0x9e3779b97f4a7c15>>(8*i))
	}
	c.Hash = c.Key.String()
	return c
}

// The bodies of the benchmarks' calls.
var (
	benchInput  = json.RawMessage(`{"query":"` + strings.Repeat("q", 512-12) + `"}`)
	benchOutput = storetest.Noise(bodyBytes - 512)
)

func benchRef(n uint64, tools int) memoryd.ToolRef {
	return memoryd.ToolRef{Workspace: "bench", Tool: "tool-" + strconv.FormatUint(n*0x9e3779b97f4a7c15>>32%uint64(tools), 10)}
}

func openDir(tb testing.TB, dir string) *sqlite.Store {
	tb.Helper()
	cfg := configtest.Section[sqlite.Config]("store.sqlite")
	cfg.Dir = dir
	s, err := sqlite.Open(tb.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	s.Start(tb.Context())
	return s
}

// fill appends calls first..first+n-1 in batches.
func fill(tb testing.TB, s store.Store, first, n uint64, tools int) {
	tb.Helper()
	const batch = 500
	for at := first; at < first+n; at += batch {
		b := store.Batch{Workspace: "bench", Keep: 100}
		for i := at; i < min(at+batch, first+n); i++ {
			b.Calls = append(b.Calls, benchCall(i, tools))
		}
		if _, err := s.Append(tb.Context(), b); err != nil {
			tb.Fatal(err)
		}
	}
}

// hammer appends n calls one by one from as many writers at once and gives the
// durations of all.
func hammer(tb testing.TB, s store.Store, writers int, first uint64, n, tools int) {
	tb.Helper()
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= uint64(n) {
					return
				}
				b := store.Batch{Workspace: "bench", Keep: 100, Calls: []memoryd.Call{benchCall(first+i, tools)}}
				if _, err := s.Append(tb.Context(), b); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// rawLog appends n bodies of 2 KB to a file that has its size already, writers
// bodies to a flush, and gives the bodies per second: the floor of any store.
func rawLog(tb testing.TB, writers, n int) float64 {
	tb.Helper()
	f, err := os.Create(filepath.Join(tb.TempDir(), "raw"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	const size = 32 << 20
	if _, err := f.Write(make([]byte, size)); err != nil {
		tb.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		tb.Fatal(err)
	}
	buf := make([]byte, bodyBytes*writers)
	start := time.Now()
	for done, off := 0, int64(0); done < n; done += writers {
		if _, err := f.WriteAt(buf, off); err != nil {
			tb.Fatal(err)
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			tb.Fatal(err)
		}
		if off += int64(len(buf)); off+int64(len(buf)) > size {
			off = 0
		}
	}
	return float64(n) / time.Since(start).Seconds()
}

// written is how many bytes this process has handed to the file system.
func written(tb testing.TB) int64 {
	tb.Helper()
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		tb.Skip("this system does not count a process's writes")
	}
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, "wchar: "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			return n
		}
	}
	tb.Fatal("no count of written bytes")
	return 0
}

// cpuTime is the processor time that this process has taken.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAppend appends calls of 2 KB to full histories of 1,000 tools, and
// sets the rate beside a bare log that is flushed as often.
func BenchmarkAppend(b *testing.B) {
	const tools, prefill = 1000, 150_000
	dir := b.TempDir()
	s := openDir(b, dir)
	fill(b, s, 1, prefill, tools)
	if err := s.Close(); err != nil { // works the write-ahead log off
		b.Fatal(err)
	}
	s = openDir(b, dir)
	defer s.Close()
	first := uint64(prefill + 1)
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			before, cpu := written(b), cpuTime(b)
			b.ReportAllocs()
			b.ResetTimer()
			hammer(b, s, writers, first, b.N, tools)
			b.StopTimer()
			first += uint64(b.N)
			b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/call")
			rate := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "calls/s")
			b.ReportMetric(float64(written(b)-before)/float64(b.N*bodyBytes), "written/body")
			floor := rawLog(b, writers, max(b.N, 200))
			b.ReportMetric(rate/floor, "of-raw-log")
		})
	}
}

// BenchmarkFill appends calls of 2 KB to new tools in batches of 500.
func BenchmarkFill(b *testing.B) {
	s := openDir(b, b.TempDir())
	defer s.Close()
	before := written(b)
	b.ResetTimer()
	fill(b, s, 1, uint64(b.N), 10_000)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(written(b)-before)/float64(b.N*bodyBytes), "written/body")
}
