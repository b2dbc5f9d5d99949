package usage_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd/llm/usage"
	"memoryd/store/mem"
)

func TestPrice(t *testing.T) {
	p := usage.Price{Prompt: 0.15, Completion: 0.6}
	for _, c := range []struct {
		prompt, completion int
		want               float64
	}{
		{1_000_000, 0, 0.15}, {0, 1_000_000, 0.6}, {1000, 100, 0.00021}, {-5, -5, 0}, {math.MaxInt, 0, 1.5},
	} {
		if got := p.Cost(tokenUsage(c.prompt, c.completion)); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d and %d tokens cost %v, want %v", c.prompt, c.completion, got, c.want)
		}
	}
	if got := (usage.Price{}).Cost(tokenUsage(7, 7)); got != 0 {
		t.Errorf("without a price it costs %v", got)
	}
}

// The cost is added up where there is a price, over replicas, and survives the
// memory; a later price does not change it.
func TestTheLedgerKnowsCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		one, two := newLedger(t, s, nil), newLedger(t, s, nil)
		prices := usage.Prices{"dear": {Prompt: 10, Completion: 30}}
		one.SetPrices(prices)
		two.SetPrices(prices)
		one.Start(t.Context())
		two.Start(t.Context())
		for range 3 {
			one.Attempt("w", "t", "evaluate", "dear", true, tokenUsage(1000, 100))
		}
		two.Attempt("w", "t", "evaluate", "dear", false, tokenUsage(1000, 0))
		two.Attempt("w", "t", "evaluate", "cheap", true, tokenUsage(1000, 100))
		want := []usage.Row{
			{Workspace: "w", Tool: "t", Op: "evaluate", By: "llm:cheap", Requests: 1, PromptTokens: 1000, CompletionTokens: 100},
			{Workspace: "w", Tool: "t", Op: "evaluate", By: "llm:dear", Requests: 4, Failed: 1, PromptTokens: 4000, CompletionTokens: 300, Cost: 0.049},
		}
		time.Sleep(2 * configtest.Section[usage.Config]("usage").FlushInterval)
		one.SetPrices(nil)
		wantRows(t, today(t, one, "w"), want...)
		wantRows(t, today(t, two, "w"), want...)
		time.Sleep(3 * time.Hour) // the hours have left the memory
		wantRows(t, today(t, one, "w"), want...)
		one.Stop()
		two.Stop()
	})
}
