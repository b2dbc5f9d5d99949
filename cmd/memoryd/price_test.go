package main

import (
	"encoding/json"
	"log/slog"
	"regexp"
	"strconv"
	"testing"

	"memoryd/ops"
	"memoryd/test/llmtest"
)

var costMetric = regexp.MustCompile(`(?m)^memoryd_model_cost_total\{model="gpt-4o-mini",op="evaluate"\} (\S+)$`)

// costs gives what the ledger and the metrics say that judging cost, and how many
// tokens that took.
func costs(t *testing.T, a *app) (ledger, metric float64, prompt, completion int64) {
	t.Helper()
	addOne(t, a)
	_, _, body := asked(t, a, "GET", "/v1/spend?workspace=default", "")
	var report ops.UsageReport
	if err := json.Unmarshal([]byte(body), &report); err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Rows {
		ledger += r.Cost
		prompt += r.PromptTokens
		completion += r.CompletionTokens
	}
	_, _, scrape := asked(t, a, "GET", "/metrics", "")
	if m := costMetric.FindStringSubmatch(scrape); m != nil {
		var err error
		if metric, err = strconv.ParseFloat(m[1], 64); err != nil {
			t.Fatal(err)
		}
	}
	return ledger, metric, prompt, completion
}

func TestPricesMakeCosts(t *testing.T) {
	verdict := llmtest.Answer(`{"score": 0.5, "summary": "partly", "evaluation": "Some was left."}`)
	a, _ := loggingApp(t, "llm", verdict, slog.LevelError, "MEMORYD_LLM_DEFAULT_PRICE_PROMPT=1000", "MEMORYD_LLM_DEFAULT_PRICE_COMPLETION=5000")
	ledger, metric, prompt, completion := costs(t, a)
	want := float64(prompt)/1e3 + 5*float64(completion)/1e3
	if prompt == 0 || completion == 0 || ledger < want-1e-6 || ledger > want+1e-6 || metric < want-1e-6 || metric > want+1e-6 {
		t.Errorf("the ledger says %v, the metrics %v, want %v", ledger, metric, want)
	}
}

func TestWithoutAPriceThereIsNoCost(t *testing.T) {
	a, _ := loggingApp(t, "llm", llmtest.Answer(`{"score": 0.5, "summary": "partly", "evaluation": "Some was left."}`), slog.LevelError)
	if ledger, metric, prompt, _ := costs(t, a); ledger != 0 || metric != 0 || prompt == 0 {
		t.Errorf("the ledger says %v, the metrics %v", ledger, metric)
	}
	_, _, scrape := asked(t, a, "GET", "/metrics", "")
	if regexp.MustCompile(`(?m)^memoryd_model_cost_total`).MatchString(scrape) {
		t.Error("the metric is there")
	}
}
