package metrics_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/guidelines/revisions"
	"memoryd/internal/accounts"
	"memoryd/internal/telemetry/metrics"
	"memoryd/llm"
	"memoryd/store/mem"
	"memoryd/store/qdrant"
	"memoryd/store/sqlite"
)

// full is a registry in which every metric has been fed.
func full(t *testing.T) *metrics.Registry {
	t.Helper()
	r := metrics.New(metrics.Build{Version: "v1", Commit: "abc"})
	r.Observe("/add_tool_call_result", "POST", 200, 3*time.Millisecond)
	r.ModelRequest(memoryd.Attempt{
		Model: "gpt-4o-mini", Op: "evaluate", Outcome: "ok", Took: time.Second,
		Usage: memoryd.Usage{PromptTokens: 900, CompletionTokens: 45},
	}, 0.002)
	r.Judged("told", "succeeded")
	r.Judged("", "failed")
	r.Compaction("tokens", "compacted", 1200, time.Second)
	metrics.Pull(r, func() evaluate.Stats {
		return evaluate.Stats{
			Verdicts:     map[string]int64{"rules": 5, "cache": 4, "model": 7, "failed": 1},
			RuleVerdicts: map[string]int64{"not_success": 3, "error_text": 2}, CacheHits: 4, Joined: 1,
			Repaired: map[string]int64{"fence": 2}, Failures: map[string]int64{"rate_limited": 6}, Reasked: 1, LedgerErrors: 1, Queued: 8, InHand: 9,
		}
	})
	metrics.Pull(r, func() evaluate.Compared {
		return evaluate.Compared{Agreed: map[string]int64{"rules": 3}, Differed: map[string]int64{"rules": 1}}
	})
	metrics.PullEach(r, "model", func() map[string]llm.Stats {
		return map[string]llm.Stats{"default": {Reason: "breaker_open", Queued: 3, InFlight: 2, Concurrency: 32, Retries: 5}}
	})
	metrics.PullEach(r, "source", func() map[string]accounts.Came {
		return map[string]accounts.Came{"otlp:gen_ai": {Calls: map[string]int64{"new": 3, "known": 1}}}
	})
	metrics.Pull(r, func() qdrant.State { return qdrant.State{Differing: 2} })
	metrics.Pull(r, func() sqlite.State {
		return sqlite.State{FileBytes: 2 << 20, WALBytes: 1 << 20, Queued: 3, Pending: 12}
	})
	r.Panics(func() map[string]int64 { return map[string]int64{"mining": 1} })
	r.Quotas(func() map[string]int64 { return map[string]int64{"tools": 2} })
	r.InFlight(func() int64 { return 11 })
	metrics.Pull(r, func() revisions.State { return revisions.State{Written: 5, Stale: 2, Oldest: time.Hour} })
	s := metrics.Store(mem.New(), r)
	if _, err := s.Tool(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "t"}); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Fatalf("got %v", err)
	}
	return r
}

// scrape is the text that a scraper gets.
func scrape(t *testing.T, r *metrics.Registry) string {
	t.Helper()
	rec := httptest.NewRecorder()
	r.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	if rec.Code != 200 {
		t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	return rec.Body.String()
}

func TestNumbersArriveAtTheScraper(t *testing.T) {
	text := scrape(t, full(t))
	for _, want := range []string{
		`memoryd_http_request_duration_seconds_count{method="POST",route="/add_tool_call_result",status="2xx"} 1`,
		`memoryd_http_request_duration_seconds_bucket{method="POST",route="/add_tool_call_result",status="2xx",le="0.0025"} 0`,
		`memoryd_http_request_duration_seconds_bucket{method="POST",route="/add_tool_call_result",status="2xx",le="0.005"} 1`,
		`memoryd_model_requests_total{model="gpt-4o-mini",op="evaluate",outcome="ok"} 1`,
		`memoryd_model_tokens_total{kind="prompt",model="gpt-4o-mini",op="evaluate"} 900`,
		`memoryd_model_tokens_total{kind="completion",model="gpt-4o-mini",op="evaluate"} 45`,
		`memoryd_model_cost_total{model="gpt-4o-mini",op="evaluate"} 0.002`,
		`memoryd_verdicts_total{judge="rules"} 5`,
		`memoryd_verdicts_total{judge="cache"} 4`,
		`memoryd_verdicts_total{judge="model"} 7`,
		`memoryd_verdicts_total{judge="failed"} 1`,
		`memoryd_rule_verdicts_total{rule="not_success"} 3`,
		`memoryd_judged_calls_total{advice="told",outcome="succeeded"} 1`, `memoryd_judged_calls_total{advice="unknown",outcome="failed"} 1`,
		`memoryd_judge_failures_total{reason="rate_limited"} 6`,
		`memoryd_judge_queue_depth 8`,
		`memoryd_model_available{model="default"} 0`,
		`memoryd_model_halted{model="default",reason="breaker_open"} 1`,
		`memoryd_http_requests_in_flight 11`,
		`memoryd_pending_calls 12`,
		`memoryd_guideline_oldest_age_seconds 3600`,
		`memoryd_compactions_total{outcome="compacted",trigger="tokens"} 1`,
		`memoryd_compaction_saved_tokens_total 1200`,
		`memoryd_store_calls_total{method="tool",outcome="not_found"} 1`,
		`memoryd_store_calls_total{method="tool",outcome="ok"} 0`,
		`memoryd_store_wal_bytes 1.048576e+06`,
		`go_goroutines `, `process_resident_memory_bytes `, `go_sched_latencies_seconds_count `,
		`memoryd_build_info{commit="abc",go="go1.`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing: %s", want)
		}
	}
}

func TestTextFromOutsideNeverBecomesALabel(t *testing.T) {
	r := metrics.New(metrics.Build{})
	for i, method := range []string{"", "a\nb", "\xff\xfe", "{route=\"x\"}", strings.Repeat("x", 1<<20)} {
		r.Observe("", method, i*1000-1, time.Millisecond)
	}
	if want := `memoryd_http_request_duration_seconds_count{method="other",route="other",status="other"} 5`; !strings.Contains(scrape(t, r), want) {
		t.Errorf("missing: %s", want)
	}
}

func TestTwoSourcesOfOneMetricAreAMistake(t *testing.T) {
	r := metrics.New(metrics.Build{})
	r.InFlight(func() int64 { return 1 })
	defer func() {
		if recover() == nil {
			t.Error("a second source was accepted")
		}
	}()
	r.InFlight(func() int64 { return 2 })
}

func BenchmarkObserve(b *testing.B) {
	r := metrics.New(metrics.Build{})
	b.ReportAllocs()
	for b.Loop() {
		r.Observe("/add_tool_call_result", "POST", 200, 150*time.Microsecond)
	}
}

func BenchmarkStoreTool(b *testing.B) {
	s := metrics.Store(mem.New(), metrics.New(metrics.Build{}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Tool(b.Context(), memoryd.ToolRef{Workspace: "w", Tool: "t"}); err == nil {
			b.Fatal(errors.New("found"))
		}
	}
}
