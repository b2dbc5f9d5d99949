package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd/test/crash/daemon"
)

// specific and generic are the two calls of the documented usage example.
func specific(at string) map[string]any {
	return map[string]any{
		"create_time": at, "tool_name": "web_search",
		"input": map[string]any{
			"query": "Python asyncio tutorial", "max_results": 10, "language": "en", "filter_type": "technical_docs",
		},
		"output":     "Found 10 relevant results including official documentation and tutorials",
		"token_cost": 150, "success": true, "time_cost": 2.3,
	}
}

func generic(at string) map[string]any {
	return map[string]any{
		"create_time": at, "tool_name": "web_search",
		"input":      map[string]any{"query": "test", "max_results": 100, "language": "unknown"},
		"output":     "Warning: language 'unknown' not supported. Query too generic, limited results.",
		"token_cost": 80, "success": true, "time_cost": 3.5,
	}
}

func TestTheDocumentedUsageExample(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	if !strings.Contains(s.Ready, "sqlite") || !strings.Contains(s.Ready, "rules") {
		t.Errorf("the ready line %q does not name store and judge", s.Ready)
	}
	var calls []map[string]any
	for i := range 15 {
		calls = append(calls, specific(fmt.Sprintf("2025-10-15 14:%02d:00", i)), generic(fmt.Sprintf("2025-10-15 14:%02d:30", i)))
	}
	a := s.Post("/add_tool_call_result", map[string]any{
		"workspace_id": "demo", "tool_name": "web_search", "tool_call_results": calls,
	})
	if !a.Success || len(a.Metadata.MemoryList) != 1 || len(a.Metadata.MemoryList[0].Calls) != 30 {
		t.Fatalf("answer %q with %d memories", a.Answer, len(a.Metadata.MemoryList))
	}
	for i, want := range []float64{1, 0.5} {
		c := a.Metadata.MemoryList[0].Calls[i]
		if c.Score != want || c.Summary == "" || c.Evaluation == "" || c.Metadata["judged_by"] != "rules" {
			t.Errorf("call %d: score %v by %v: %s | %s", i, c.Score, c.Metadata["judged_by"], c.Summary, c.Evaluation)
		}
	}
	if hash := a.Metadata.MemoryList[0].Calls[0].CallHash; hash != "17c0b60d931d86adcbb4f23887cb0b94" {
		t.Errorf("call_hash %s", hash)
	}
	checkGuideline(t, s)
}

func checkGuideline(t *testing.T, s *daemon.Process) {
	t.Helper()
	a := s.Post("/summary_tool_memory", map[string]any{"workspace_id": "demo", "tool_names": "web_search, nothing"})
	if !a.Success || len(a.Metadata.Unknown) != 1 || a.Metadata.Unknown[0] != "nothing" {
		t.Fatalf("answer %q, unknown %v", a.Answer, a.Metadata.Unknown)
	}
	m := a.Metadata.MemoryList[0]
	for _, want := range []string{
		"Core Function", "Success Patterns", "Common Issues", "Best Practices", "unknown", "max_results", "100", "15", "2.3",
		"## Statistics", "- **Success Rate**: 100.00%", "- **Average Score**: 0.750", "- **Average Time Cost**: 2.900s", "- **Average Token Cost**: 115.0",
	} {
		if !strings.Contains(m.Content, want) {
			t.Errorf("the guideline does not say %q:\n%s", want, m.Content)
		}
	}
	again := s.Post("/summary_tool_memory", map[string]any{"workspace_id": "demo", "tool_names": []string{"web_search"}})
	if again.Metadata.Skipped != 1 || again.Metadata.MemoryList[0].Content != m.Content {
		t.Errorf("a second summary was not skipped: %s", again.Answer)
	}
	got := s.Post("/retrieve_tool_memory", map[string]any{"workspace_id": "demo", "tool_names": "web_search", "include_calls": 2})
	if !strings.HasPrefix(got.Answer, "Retrieved 1 tool memory(ies):") || !strings.Contains(got.Answer, "Tool: web_search\n"+m.Content) {
		t.Errorf("retrieved %q", got.Answer)
	}
	if calls := got.Metadata.MemoryList[0].Calls; len(calls) != 2 || !calls[1].Summarised {
		t.Errorf("%d calls, summarised %v", len(calls), calls)
	}
}

func TestTheTwoFormsOfARequest(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	a := s.Post("/add_tool_call_result", map[string]any{
		"tool_name": "alpha", "tool_call_results": []map[string]any{
			{"input": "x", "output": "1"}, {"tool_name": "beta", "output": "2"}, {"output": ""}, {"tool_name": "Alpha", "input": map[string]any{}},
		},
	})
	var names []string
	for _, m := range a.Metadata.MemoryList {
		names = append(names, fmt.Sprintf("%s:%d", m.WhenToUse, len(m.Calls)))
	}
	if got := strings.Join(names, " "); got != "alpha:2 beta:1 Alpha:1" {
		t.Errorf("got %s", got)
	}
	b := s.Post("/add_tool_call_result", map[string]any{"tool_call_results": []map[string]any{{"output": "1"}}})
	if b.Success || b.Answer != "tool_name is required" {
		t.Errorf("got %v %q", b.Success, b.Answer)
	}
}

func TestTheSameCallSentAgainCountsOnce(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil)
	timed, _ := json.Marshal(map[string]any{"tool_name": "t", "tool_call_results": []map[string]any{{"output": "o", "create_time": "2025-01-01 00:00:00"}}})
	bare, _ := json.Marshal(map[string]any{"tool_name": "t", "tool_call_results": []map[string]any{{"output": "o"}, {"output": "o"}}})
	total := func(want float64, what string) {
		t.Helper()
		a := s.Post("/retrieve_tool_memory", map[string]any{"tool_names": "t"})
		if got := a.Metadata.MemoryList[0].Metadata.Statistics["lifetime_calls"]; got != want {
			t.Errorf("%s: %v calls, want %v", what, got, want)
		}
	}
	add := func(body []byte, header ...string) {
		t.Helper()
		if r, err := s.Send("/add_tool_call_result", body, header...); err != nil || r.Status != 200 {
			t.Fatal(r.Status, err)
		}
	}
	add(timed)
	add(timed)
	total(1, "the same time")
	add(bare)
	add(bare)
	total(5, "no time and no key: always new")
	add(bare, "Idempotency-Key", "k1")
	add(bare, "Idempotency-Key", "k1")
	total(7, "the same key")
	s.Kill()
	s = start(t, dir, nil)
	add(bare, "Idempotency-Key", "k1")
	add(timed)
	total(7, "after a restart")
	add(bare, "Idempotency-Key", "k2")
	total(9, "another key")
}
