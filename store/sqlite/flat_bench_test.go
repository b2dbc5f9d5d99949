//go:build linux

package sqlite_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/sqlite"
	"memoryd/store/storetest"
)

// million says whether the benchmarks that store a million calls (4 GB, some
// minutes) shall run.
func million(b *testing.B) {
	b.Helper()
	if testing.Short() || os.Getenv("MEMORYD_MILLION") == "" {
		b.Skip("stores a million calls; set MEMORYD_MILLION=1 to run it")
	}
}

// filled makes a store that holds n calls of tools and reopens it.
func filled(b *testing.B, dir string, n uint64, tools int) *sqlite.Store {
	b.Helper()
	s := openDir(b, dir)
	fill(b, s, 1, n, tools)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return openDir(b, dir)
}

// BenchmarkFlatness sets the cost of appending and reading beside a million
// stored calls of 10,000 tools against that beside a thousand of ten. The two
// stores take turns; medians of the rounds are compared.
func BenchmarkFlatness(b *testing.B) {
	million(b)
	const stored, tools = 1_000_000, 10_000
	small := filled(b, b.TempDir(), 1000, 10)
	defer small.Close()
	dir := b.TempDir()
	large := filled(b, dir, stored, tools)
	defer func() { large.Close() }()

	const rounds, each = 5, 4000
	next := uint64(10 * stored)
	var appends, reads [2][]float64
	for range rounds {
		for i, s := range []*sqlite.Store{small, large} {
			n := []int{10, tools}[i]
			start := time.Now()
			hammer(b, s, 64, next, each, n)
			appends[i] = append(appends[i], float64(time.Since(start).Microseconds())/each)
			next += each
			reads[i] = append(reads[i], readCost(b, s, n))
		}
	}
	for i, name := range []string{"small", "large"} {
		b.ReportMetric(median(appends[i]), name+"-append-µs")
		b.ReportMetric(median(reads[i]), name+"-tool-µs")
	}
	b.ReportMetric(median(appends[1])/median(appends[0]), "append-ratio")
	b.ReportMetric(median(reads[1])/median(reads[0]), "tool-ratio")

	if err := large.Close(); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	large = openDir(b, dir)
	b.ReportMetric(float64(time.Since(start).Milliseconds()), "open-ms")
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	b.ReportMetric(float64(mem.HeapAlloc)/(1<<20), "heap-MB")
}

// readCost is the time of one Tool, in microseconds.
func readCost(b *testing.B, s *sqlite.Store, tools int) float64 {
	b.Helper()
	const n = 20_000
	refs := make([]memoryd.ToolRef, 512)
	for i := range refs {
		refs[i] = benchRef(uint64(i)+1, tools)
	}
	start := time.Now()
	for i := range n {
		if _, err := s.Tool(b.Context(), refs[i%len(refs)]); err != nil {
			b.Fatal(err)
		}
	}
	return float64(time.Since(start).Nanoseconds()) / n / 1000
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// BenchmarkRead reads one of 1,000 tools with full histories.
func BenchmarkRead(b *testing.B) {
	const tools = 1000
	s := filled(b, b.TempDir(), 100_000, tools)
	defer s.Close()
	ops := map[string]func(memoryd.ToolRef) error{
		"Tool":       func(r memoryd.ToolRef) error { _, err := s.Tool(b.Context(), r); return err },
		"Described":  func(r memoryd.ToolRef) error { _, err := s.Described(b.Context(), r); return err },
		"History20":  func(r memoryd.ToolRef) error { _, err := s.History(b.Context(), r, 20); return err },
		"History100": func(r memoryd.ToolRef) error { _, err := s.History(b.Context(), r, 100); return err },
	}
	for _, name := range []string{"Tool", "Described", "History20", "History100"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := ops[name](benchRef(uint64(i), tools)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRunCalls looks up a run of 200 calls of 2 KB over ten tools, among
// 20,000 calls of others.
func BenchmarkRunCalls(b *testing.B) {
	s := openDir(b, b.TempDir())
	defer s.Close()
	for n := range 200 {
		batch := store.Batch{Workspace: "w", Keep: 1000}
		for i := range 100 {
			c := memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprint("t", i%10)}, Evaluation: memoryd.PendingEvaluation(),
				Input: []byte(`{"query":"` + strings.Repeat("q", 500) + `"}`), Output: storetest.Noise(1500),
				Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d","tool_call_id":"c"}`, i),
			}
			copy(c.Key[:], fmt.Sprint(n, " ", i))
			batch.Calls = append(batch.Calls, c)
		}
		if _, err := s.Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		calls, err := s.RunCalls(b.Context(), "w", "r7", 256)
		if err != nil || len(calls) != 100 && len(calls) != 200 {
			b.Fatal(len(calls), err)
		}
	}
}
