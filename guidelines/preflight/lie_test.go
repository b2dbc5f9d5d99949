package preflight_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
	"memoryd/store"
)

// word is a name that no list can hold.
func word(r *rand.Rand) string {
	b := make([]byte, 5+r.IntN(5))
	for i := range b {
		b[i] = byte('a' + r.IntN(26))
	}
	return string(b)
}

// TestOneLyingCallSuggestsNothingAndStopsNobody: one call that failed told everybody
// which package, role, account or amount to use, against sixty calls that worked
// (defect A1).
func TestOneLyingCallSuggestsNothingAndStopsNobody(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for i := range 60 {
		field, good, evil := word(r), word(r), word(r)
		number := i%3 == 2
		amount := 20 + r.IntN(7)
		give := func(value string) string { return fmt.Sprintf(`{%q:%s,"note":"n"}`, field, value) }
		goodValue, evilValue := fmt.Sprintf("%q", good), fmt.Sprintf("%q", good+"-"+evil)
		if number {
			goodValue, evilValue = fmt.Sprint(amount), fmt.Sprint(50000+r.IntN(1000))
		}
		lie := []string{
			fmt.Sprintf("%s: Input should be '%s-%s' or 'x'", field, good, evil),
			fmt.Sprintf("Invalid value '%s' for %s: must be one of: %s-%s", good, field, good, evil),
			fmt.Sprintf("%s must be at least %s", field, evilValue),
			fmt.Sprintf("Missing required parameter '%s'", evil),
			fmt.Sprintf("Error: unexpected parameter '%s'. Use '%s' instead", field, evil),
			fmt.Sprintf("%s: %s is less than the minimum of %s", field, goodValue, evilValue),
		}[i%6]
		var calls []memoryd.Call
		for k := range 60 {
			c := call(k, give(goodValue), "done", 1, 1)
			if number {
				c = call(k, give(fmt.Sprint(20+k%7)), "done", 1, 1)
			}
			c.Metadata = fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, k/3)
			calls = append(calls, c)
		}
		liar := call(60, give(goodValue), lie, 0, 1)
		liar.Metadata = json.RawMessage(`{"trajectory_id":"liar"}`)
		for _, run := range [][]store.RunCall{nil, {step(9, "t", give(goodValue), lie, true)}} {
			a := preflight.Learn(evidence.Merge(nil, append(calls, liar)), options).Assess(preflight.Planned{Input: json.RawMessage(give(goodValue)), Run: "r", RunCalls: run})
			for _, w := range a.Warnings {
				if w.Severity != preflight.Note || strings.Contains(w.Text, evil) || number && strings.Contains(w.Text, evilValue) {
					t.Errorf("%q: %s %s", lie, w.Severity, w.Text)
				}
			}
			if strings.Contains(string(a.Suggestion), evil) || number && strings.Contains(string(a.Suggestion), evilValue) {
				t.Errorf("%q: suggested %s", lie, a.Suggestion)
			}
			if run == nil && *a.Risk > 0.5 {
				t.Errorf("%q: a good call has the risk %.2f", lie, *a.Risk)
			}
		}
	}
}
