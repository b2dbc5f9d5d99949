package preflight_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
)

// A first failure of a kind warns the source that made the call, and nobody else; it stops
// nobody and suggests nothing. The control is what the source itself is told.
func TestAFirstFailureWarnsOnlyItsOwnSource(t *testing.T) {
	t.Parallel()
	o := evidence.NewObserver()
	var calls []memoryd.Call
	var obs []evidence.Observation
	add := func(source, input, output string, score float64) {
		n := len(calls)
		c := memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Key: memoryd.CallKey{byte(n), 7}, Seq: int64(n), Input: json.RawMessage(input), Output: output, Success: score > 0,
			Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d","memoryd_source":%q}`, n, source), Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: score},
		}
		calls, obs = append(calls, c), append(obs, o.Observe(&c))
	}
	for i := range 20 {
		add([]string{"ann", "bob"}[i%2], fmt.Sprintf(`{"lane":%d,"note":"n%d"}`, i, i), `{"rows":[1]}`, 1)
	}
	add("mallory", `{"note":"n3"}`, "lane: field may not be absent", 0)
	found, hints := evidence.RulesAndHints("t", obs)
	if len(found) != 0 || len(hints) != 1 {
		t.Fatalf("%d rules, %d hints", len(found), len(hints))
	}
	m := preflight.Learn(shared(obs), preflight.Options{Tool: "t", FalseAlarms: 0.05, Tested: found, Hints: hints})
	for source, told := range map[string]bool{"mallory": true, "ann": false, "": false} {
		p := preflight.Planned{Input: json.RawMessage(`{"note":"n9"}`)}
		if source != "" {
			p.Source = evidence.SourceOf(source)
		}
		a := m.Assess(p)
		warned := false
		for _, w := range a.Warnings {
			warned = warned || strings.Contains(w.Text, "`lane`")
			if w.Severity != preflight.Note {
				t.Errorf("%q is stopped: %+v", source, w)
			}
		}
		if warned != told || a.Suggestion != nil {
			t.Errorf("%q: %+v, suggested %s", source, a.Warnings, a.Suggestion)
		}
	}
}

// A value that nobody tried may work: a rule on a set of values warns of those that failed alone.
func TestAValueThatNobodyTriedIsNotWarnedOf(t *testing.T) {
	t.Parallel()
	var calls []memoryd.Call
	for i := range 24 {
		mode, score := []string{"fast", "slow", "eco"}[i%3], 1.0
		if i%4 == 3 {
			mode, score = []string{"odd", "raw"}[i/4%2], 0
		}
		calls = append(calls, call(i, fmt.Sprintf(`{"mode":%q}`, mode), "E17", score, 1))
	}
	obs := evidence.Merge(nil, calls)
	m := preflight.Learn(obs, preflight.Options{Tool: "t", FalseAlarms: 0.05, Tested: evidence.Rules("t", obs)})
	for mode, warned := range map[string]bool{"odd": true, "new": false} {
		if a := assess(m, fmt.Sprintf(`{"mode":%q}`, mode)); len(a.Warnings) > 0 != warned {
			t.Errorf("%q: %+v", mode, a.Warnings)
		}
	}
}
