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

// A text that never worked is warned of in what calls give it alone, and not once it worked.
func TestATextThatNeverWorkedWarnsForItself(t *testing.T) {
	t.Parallel()
	const never = `{"pattern":"{w*}(<=a+)b","deep":true}`
	var calls []memoryd.Call
	for i := range 30 {
		input, score := fmt.Sprintf(`{"pattern":"%c(%d*)<=a+b{w}","deep":true}`, 'a'+i%24, i), 1.0
		if i%6 == 5 {
			input, score = strings.Replace(never, "true", fmt.Sprint(i%4 > 1), 1), 0
		}
		calls = append(calls, call(i, input, "E17", score, 1))
	}
	obs := evidence.Merge(nil, calls)
	found, hints := evidence.RulesAndHints("t", obs)
	m := preflight.Learn(obs, preflight.Options{Tool: "t", Tested: found, Hints: hints})
	a := assess(m, strings.Replace(never, `"deep"`, `"n":1,"deep"`, 1))
	last := a.Warnings[max(0, len(a.Warnings)-1):] // after what a first failure shows
	if len(last) != 1 || !strings.Contains(last[0].Text, "never worked") || last[0].Severity != preflight.Ask || a.Suggestion != nil {
		t.Errorf("%+v, suggested %s", a.Warnings, a.Suggestion)
	}
	if a := assess(m, `{"pattern":"h(7*)<=a","deep":true}`); len(a.Warnings) > 0 {
		t.Errorf("of another one: %+v", a.Warnings)
	}
	worked := evidence.Merge(nil, []memoryd.Call{call(40, never, "found", 1, 1)})
	if a := m.Assess(preflight.Planned{Input: []byte(never), Since: worked}); len(a.Warnings) > 0 && a.Warnings[0].Rule == "tested_rule" {
		t.Errorf("after it worked: %+v", a.Warnings)
	}
}

// What never worked holds back neither a change that a rule asks for nor what a first failure shows.
func TestATextThatNeverWorkedHoldsBackNoOtherAdvice(t *testing.T) {
	t.Parallel()
	var calls []memoryd.Call
	for i := range 40 {
		pattern, size, message, score := fmt.Sprintf("%c(%d*)<=a+b{w}", 'a'+i%24, i), i%20, "", 1.0
		switch i % 8 {
		case 3:
			size, message, score = 60+i, "E17", 0
		case 6:
			pattern, message, score = "{w*}(<=a+)b", "E18", 0
		}
		calls = append(calls, call(i, fmt.Sprintf(`{"pattern":%q,"size":%d,"mode":"fast"}`, pattern, size), message, score, 1))
	}
	calls = append(calls, call(40, `{"pattern":"x(4*)<=a","size":4}`, "E19", 0, 1)) // without mode, once
	obs := evidence.Merge(nil, calls)
	found, hints := evidence.RulesAndHints("t", obs)
	m := preflight.Learn(obs, preflight.Options{Tool: "t", Tested: found, Hints: hints})
	for _, c := range []struct {
		source, input, without string
		warned                 []string
		suggested              bool
	}{
		{"", `{"pattern":"{w*}(<=a+)b","size":90,"mode":"fast"}`, "never worked", []string{"`size`"}, true},
		{"", `{"pattern":"{w*}(<=a+)b","size":9}`, "`size`", []string{"`mode`", "never worked"}, false},
		{"ann", `{"pattern":"{w*}(<=a+)b","size":9}`, "`mode`", []string{"never worked"}, false}, // whose failures these are not
	} {
		p := preflight.Planned{Input: []byte(c.input), Source: obs[0].Writer}
		if c.source != "" {
			p.Source = evidence.SourceOf(c.source)
		}
		a := m.Assess(p)
		said := ""
		for _, w := range a.Warnings {
			said += w.Text + "\n"
		}
		for _, w := range c.warned {
			if !strings.Contains(said, w) {
				t.Errorf("%q: %s: %q is not among %q", c.source, c.input, w, said)
			}
		}
		if strings.Contains(said, c.without) || (a.Suggestion != nil) != c.suggested {
			t.Errorf("%q: %s: %q, suggested %s", c.source, c.input, said, a.Suggestion)
		}
	}
}
