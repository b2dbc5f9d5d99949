package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"memoryd/ops"
	"memoryd/store/mem"
)

// A tool that others borrow from has its guideline before any of them looks.
func TestToolsThatLendAreSummarisedFirst(t *testing.T) {
	h := newHouse(t, mem.New(), 100)
	var names []string
	for i := range 12 {
		calls := 3
		if i%2 == 1 {
			calls = 25
		}
		name := fmt.Sprintf("%d calls %d", calls, i)
		names = append(names, name)
		var items []ops.Item
		for n := range calls {
			items = append(items, item(name, fmt.Sprint(n)))
		}
		mustRun(t, h.add, record(items...))
	}
	mustRun(t, h.summary, &ops.State{Workspace: "w", Names: ops.Names{Tools: names}})
	order := h.author.tools
	if len(order) != len(names) {
		t.Fatalf("%d of %d were written", len(order), len(names))
	}
	for i, name := range order {
		if lends := strings.HasPrefix(name, "25"); lends != (i < len(names)/2) {
			t.Errorf("order %q", order)
			break
		}
	}
}
