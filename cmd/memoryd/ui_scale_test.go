package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/config"
	"memoryd/store"
	"memoryd/store/sqlite"
)

// fillStore puts judged calls of many tools into a new embedded store, some of them
// failed in one of a few ways, all tools in turns.
func fillStore(t testing.TB, dir string, tools, each int) {
	t.Helper()
	cfg := configtest.Section[sqlite.Config]("store.sqlite")
	cfg.Dir = dir
	s, err := sqlite.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Start(t.Context())
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	batch := store.Batch{Workspace: "w", Keep: each}
	for n := range tools * each {
		tool, round := n%tools, n/tools
		c := memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprintf("service_%02d/tool_%04d", tool%40, tool)},
			Input:   fmt.Appendf(nil, `{"query":"order %d","limit":%d,"region":"%s"}`, n, n%50, []string{"north", "south", "east"}[n%3]),
			Output:  fmt.Sprintf("Found %d results for order %d: %s", n%90, n, strings.Repeat("item, ", n%20)), Success: true,
			TimeCost: float64(n%97) / 10, TokenCost: int64(n % 300), Time: began.Add(time.Duration(n) * time.Second),
			Metadata:   fmt.Appendf(nil, `{"trajectory_id":"run-%d","agent_id":"agent-%d"}`, n/8, n%12),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1, Summary: "Succeeded: found results", JudgedBy: "rules", Rule: "plain"},
		}
		if kind := (round*7 + tool) % 9; kind < 2 {
			c.Output = []string{"Error: the region is not known", fmt.Sprintf("Error: order %d was closed", n)}[kind]
			c.Evaluation.Score, c.Evaluation.Summary, c.Evaluation.Rule = 0, "Failed: "+c.Output, "error_text"
		}
		c.CreateTime = c.Time.Format(memoryd.TimeLayout)
		binary.BigEndian.PutUint64(c.Key[:], uint64(n)+1)
		if batch.Calls = append(batch.Calls, c); len(batch.Calls) == 1000 || n == tools*each-1 {
			if _, err := s.Append(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			batch.Calls = batch.Calls[:0]
		}
	}
}

// TestPagesOfAFullStore opens each view of a store with many tools: none is larger than
// 300 KB on the wire, and of a million calls of 5,000 tools (MEMORYD_MILLION) none takes
// longer than 100 ms.
func TestPagesOfAFullStore(t *testing.T) {
	oneByOne(t)
	tools, each, million := 60, 50, os.Getenv("MEMORYD_MILLION") != "" && !testing.Short()
	switch {
	case million:
		tools, each = 5000, 200
	case testing.Short():
		tools = 20
	}
	dir := t.TempDir()
	began := time.Now()
	fillStore(t, dir, tools, each)
	t.Logf("%d calls were stored in %v", tools*each, time.Since(began).Round(time.Millisecond))
	cfg, err := config.Parse(nil, "test", []string{fmt.Sprintf("MEMORYD_OP_PARSE_TOOL_CALL_RESULT_OP_PARAMS_MAX_HISTORY_TOOL_CALL_CNT=%d", each)})
	if err != nil {
		t.Fatal(err)
	}
	cfg.SetDataDir(dir)
	cfg.HTTP.Listen = "127.0.0.1:0"
	a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a.Start(t.Context())
	t.Cleanup(func() { _ = a.Stop(context.Background()) })
	p := &pages{T: t, app: a}
	const tool = "service_07/tool_0007"
	for range 3 {
		p.api("POST", "/summary_tool_memory", `{"workspace_id":"w","force":true,"tool_names":["`+tool+`"]}`, 200)
	}
	first, whole := time.Now(), time.Duration(0)
	slowest := p.timed("/ui/?w=w", 1) // nothing was read yet
	for page := ""; page == "" || strings.Contains(page, "data-reload"); page = p.get("/ui/?w=w", 200) {
		if time.Since(first) > 10*time.Minute || strings.Contains(page, `class="alarm"`) {
			t.Fatalf("the workspace is not read: %.3000s", page)
		}
		slowest = max(slowest, p.timed("/ui/?w=w", 1), p.timed("/ui/tools?w=w", 1), p.timed("/ui/calls?w=w", 1))
		whole = time.Since(first)
	}
	t.Logf("the workspace was read in %v; meanwhile a page took at most %v", whole.Round(time.Millisecond), slowest)
	key := fmt.Sprintf("%016x%016x", 8, 0)
	for _, path := range []string{
		"/ui/?w=w", "/ui/?w=w&by=time", "/ui/tools?w=w", "/ui/tools?w=w&page=90", "/ui/tools?w=w&sort=name&q=tool_00", "/ui/tools?w=w&state=failing&sort=-p95",
		"/ui/tool?w=w&t=" + tool, "/ui/versions?w=w&t=" + tool, "/ui/calls?w=w", "/ui/calls?w=w&verdict=failed", "/ui/calls?w=w&q=closed", "/ui/calls?w=w&q=nowhere",
		"/ui/calls?w=w&t=" + tool, "/ui/calls?w=w&agent=agent-7&verdict=failed", "/ui/call?w=w&t=" + tool + "&k=" + key, "/ui/run?w=w&run=run-2000", "/ui/review?w=w",
		"/ui/forecast?w=w&t=" + tool + "&p.region=north", "/ui/compaction?w=w", "/ui/judge?w=w", "/ui/spend?w=w", "/ui/sources?w=w", "/ui/live?w=w", "/ui/workspaces?w=w",
	} {
		took := p.timed(path, 7)
		size := p.ask("GET", path, "", "", "Accept-Encoding", "gzip").Body.Len()
		t.Logf("%-60s %8.1f ms %7.1f KB", path, float64(took.Microseconds())/1000, float64(size)/1000)
		if size > 300_000 {
			t.Errorf("%s: %d bytes on the wire", path, size)
		}
		if million && took > 100*time.Millisecond {
			t.Errorf("%s took %v", path, took)
		}
	}
}

// timed is the least of the times that a page takes: what it takes where nothing else
// keeps the machine busy.
func (p *pages) timed(path string, n int) time.Duration {
	p.Helper()
	var all []time.Duration
	for range n {
		r := httptest.NewRequest("GET", "http://127.0.0.1:8002"+path, http.NoBody)
		r.Header.Set("Accept-Encoding", "gzip")
		rec := httptest.NewRecorder()
		began := time.Now()
		p.app.handler.ServeHTTP(rec, r)
		all = append(all, time.Since(began))
		if rec.Code != 200 {
			p.Fatalf("%s: %d", path, rec.Code)
		}
	}
	slices.Sort(all)
	return all[0]
}

// BenchmarkAddWhileWatched tells what a live view costs of durable adds of ten calls, by
// a browser: phases with and without it take turns, so that the load of the
// machine falls on both. extra_% is the extra time of the median add.
func BenchmarkAddWhileWatched(b *testing.B) {
	cfg, err := config.Default()
	if err != nil {
		b.Fatal(err)
	}
	cfg.SetDataDir(b.TempDir())
	cfg.HTTP.Listen = "127.0.0.1:0"
	a, err := newApp(b.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	a.Start(b.Context())
	b.Cleanup(func() { _ = a.Stop(context.Background()) })
	var took [2][]float64
	n := 0
	add := func(phase int) {
		var calls []string
		for range 10 {
			n++
			calls = append(calls, fmt.Sprintf(`{"tool_name":"t%d","input":{"q":"%d"},"output":"found"}`, n%20, n))
		}
		body := `{"async":true,"include_history":false,"tool_call_results":[` + strings.Join(calls, ",") + `]}`
		rec := httptest.NewRecorder()
		began := time.Now()
		a.server.Handler.ServeHTTP(rec, httptest.NewRequest("POST", "http://localhost/add_tool_call_result", strings.NewReader(body)))
		took[phase] = append(took[phase], float64(time.Since(began)))
		if rec.Code != 200 {
			b.Fatal(rec.Body)
		}
	}
	for b.Loop() {
		for phase := range 2 {
			var watching sync.WaitGroup
			ctx, end := context.WithCancel(b.Context())
			for range phase {
				watching.Go(func() {
					rec := httptest.NewRecorder()
					a.server.Handler.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, "GET", "http://localhost/ui/live/events", http.NoBody))
				})
			}
			for range 100 { // a second's worth
				add(phase)
			}
			end()
			watching.Wait()
		}
	}
	b.ReportMetric(100*(median(took[1])/median(took[0])-1), "extra_%")
	b.ReportMetric(median(took[0])/1e3, "add_of_ten_µs")
}
