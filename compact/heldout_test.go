package compact_test

import (
	"fmt"
	"os"
	"testing"
)

// TestHeldOutRecall fits the weights without some recordings and measures on
// those: without each kind of agent, and without each third of the conversations of
// every kind. The table in the comment of package facts comes from here.
func TestHeldOutRecall(t *testing.T) {
	if os.Getenv("MEMORYD_HELD_OUT") == "" {
		t.Skip("MEMORYD_HELD_OUT is not set: fitting eight times takes minutes")
	}
	recs := teaching(t)
	for _, family := range []string{"taubench_airline", "livemcp", "sweagent", "tau2_activegraph", "intercode"} {
		y := heldOut(t, recs, func(r *recording) (teaches, tests bool) { return r.family() != family, r.family() == family })
		report(t, "without "+family, y)
	}
	thirds := make([]tally, len(sizes))
	for k := range 3 {
		y := heldOut(t, recs, func(r *recording) (teaches, tests bool) {
			of := r.fold()
			return of >= 0 && of != k, of == k && r.File[:5] == "chats"
		})
		for i := range y {
			thirds[i].add(y[i])
		}
	}
	report(t, "without a third", thirds)
}

func heldOut(t testing.TB, recs []recording, role func(*recording) (teaches, tests bool)) []tally {
	var teachers, tested []recording
	for i := range recs {
		teaches, tests := role(&recs[i])
		if teaches {
			teachers = append(teachers, recs[i])
		}
		if tests {
			tested = append(tested, recs[i])
		}
	}
	w := fitted(t, teachers)
	out := make([]tally, len(sizes))
	for i := range tested {
		for k, y := range measure(t, w, &tested[i]) {
			out[k].add(y)
		}
	}
	return out
}

func report(t testing.TB, what string, ys []tally) {
	line := fmt.Sprintf("%-26s", what)
	for k := range ys {
		line += fmt.Sprintf("  %d %%: %.3f/%.3f", sizes[k], ys[k].recall(), ys[k].bindings())
	}
	t.Logf("%s (%d values)", line, ys[0].values)
}
