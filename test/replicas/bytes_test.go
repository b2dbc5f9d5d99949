package replicas

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAddingACallIsOneSmallWrite counts what goes over the wire when a call of
// 2 KB is added to a tool that has 100 such calls: one request carries it, the
// others are small. What comes back is read from it, and no history either.
func TestAddingACallIsOneSmallWrite(t *testing.T) {
	f := launch(t, "log: {level: error}\nevaluate: {lease: 24h}\n", "")
	for n := range 130 {
		f.addBig(n)
	}
	if m := memory(f.at(0), "t", 1); m.Lifetime() != 130 || m.Metadata.Statistics["total_calls"] != 100.0 {
		t.Fatalf("not a tool with 100 calls: %v", m.Metadata.Statistics)
	}
	var ups, downs []int
	more := 0 // windows into which a write of the background fell
	for n := range 10 {
		stop := f.wire.count()
		f.addBig(1000 + n)
		up, down := stop()
		t.Logf("one call of 2 KB: %d bytes to the server, %d back; requests %v, replies %v", up.total(), down.total(), up.sizes(), down.sizes())
		ups, downs = append(ups, up.total()), append(downs, down.total())
		sizes := up.sizes()
		if len(sizes) == 0 || sizes[0] < 2048 || sizes[0] > 4096 || len(sizes) > 1 && sizes[1] > 1024 {
			more++
		}
	}
	if more > 2 {
		t.Errorf("in %d of 10 windows: want one request of 2 to 4 KB, and small ones", more)
	}
	slices.Sort(ups)
	slices.Sort(downs)
	t.Logf("median: %d bytes to the server, %d back; a rewrite of the history would be %d", ups[5], downs[5], 100*2048)
	if ups[5] > 8<<10 || downs[5] > 64<<10 {
		t.Error("a call of 2 KB costs more than 8 KB of requests or 64 KB of replies")
	}
}

// addBig adds a call of 2 KB and waits for its verdict.
func (f *fleet) addBig(n int) {
	f.t.Helper()
	item := map[string]any{"input": map[string]any{"n": n}, "output": strings.Repeat(fmt.Sprintf("line %06d\n", n), 180)}
	_, r, ok := send(f.at(0), "/add_tool_call_result", map[string]any{
		"tool_name": "t", "include_history": false, "tool_call_results": []any{item},
	})
	if !ok {
		f.t.Fatalf("call %d: %d %s", n, r.Status, r.Body)
	}
}
