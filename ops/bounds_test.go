package ops_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd"
	"memoryd/ops"
	"memoryd/store/mem"
)

// TestCostsThatNoCallCanHaveAreRefused: their sums would be no numbers, and a
// workspace that holds one could not be shown any more.
func TestCostsThatNoCallCanHaveAreRefused(t *testing.T) {
	h := newFixture(t, mem.New(), 10)
	for _, c := range []memoryd.Call{{TimeCost: 1.7e308}, {TimeCost: 1e160}, {TimeCost: 1.1e9}, {TokenCost: 2e9}} {
		it := item("t", "1")
		it.Call.TimeCost, it.Call.TokenCost = c.TimeCost, c.TokenCost
		out, err := h.AddToolCallResult.Run(t.Context(), record(it, item("t", "2")))
		if err != nil || len(out.Rejected) != 1 || !strings.Contains(out.Rejected[0].Reason, "1e9") {
			t.Errorf("%v: %+v, %v", c, out, err)
		}
	}
}

// TestAnAnswerHoldsABoundedHistory: a hundred calls of a megabyte are not one answer.
func TestAnAnswerHoldsABoundedHistory(t *testing.T) {
	h := newFixture(t, mem.New(), 100)
	long := strings.Repeat("x", 1<<20)
	for i := range 12 {
		it := item("t", fmt.Sprint(i))
		it.Call.Output, it.Call.Input = long, json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
		if _, err := h.AddToolCallResult.Run(t.Context(), record(it)); err != nil {
			t.Fatal(err)
		}
	}
	r := named("t")
	r.WholeHistory = true
	out, err := h.RetrieveToolMemory.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	calls := out.Memories[0].Calls
	for i := range calls {
		size += len(calls[i].Output)
	}
	if size > ops.MaxHistoryBytes || len(calls) < 3 || string(calls[len(calls)-1].Input) != `{"n":11}` || calls[0].Seq >= calls[1].Seq {
		t.Errorf("%d calls with %d bytes, the last %s", len(calls), size, calls[len(calls)-1].Input)
	}
}
