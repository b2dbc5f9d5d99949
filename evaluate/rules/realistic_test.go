package rules_test

import (
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
)

// What no recording holds and agents meet every day: the conditions behind these verdicts move
// no figure when they are left out.
func TestChecksThatCouldNotRunAndFilesThatAreMissingAreFailures(t *testing.T) {
	j := rules.New()
	for _, c := range []struct{ tool, input, output string }{
		{"validate_config", `{"path":"x.yaml"}`, `{"error":"connection refused"}`},
		{"lint_file", `{"path":"x.py"}`, `{"path":"x.py","error":"permission denied","warnings":[]}`},
		{"diagnose", `{"host":"a"}`, `{"error":"timeout after 30s","result":null}`},
		{"review_pr", `{"number":3}`, `{"error":"Not Found","status":404}`},
		{"find_user", `{"name":"x"}`, `{"error":"No result because the database is down","shard":1,"took":2}`},
		{"execute_bash", `{"command":"diff a b"}`, "diff: b: No such file or directory\nexit status 1"},
		{"execute_bash", `{"command":"grep x a.txt"}`, "grep: a.txt: No such file or directory\n[exit code: 1]"},
		{"execute_bash", `{"command":"cmp a b"}`, "cmp: b: No such file or directory\nExit code: 1"},
		{"execute_bash", `{"command":"./run.sh; echo \"rc=$?\""}`, "{\"error\":\"no such table\"}\nrc=0"},
		{"run_tool", `{"command":"tool --x"}`, "usage tool [options]\n  --y  why"},
	} {
		call := memoryd.Call{ToolRef: memoryd.ToolRef{Tool: c.tool}, Input: []byte(c.input), Output: c.output, Success: true, TokenCost: -1}
		if e := j.Judge(&call, nil).Evaluation; e.Score != memoryd.ScoreFailure {
			t.Errorf("%s %s, %q: got %v by %s", c.tool, c.input, c.output, e.Score, e.Rule)
		}
	}
}

// A findings list of a check, and the statuses by which grep and diff answer, are no failures.
func TestFindingsAndAnswersByStatusAreNoFailures(t *testing.T) {
	j := rules.New()
	for _, c := range []struct{ tool, input, output string }{
		{"lint_file", `{"path":"x.py"}`, `{"errors":["line 3: unused import"]}`},
		{"execute_bash", `{"command":"grep x a.txt"}`, "[exit code: 1]"},
		{"execute_bash", `{"command":"diff a b"}`, "1c1\n< x\n---\n> y"},
		{"execute_bash", `{"command":"cat app.log"}`, "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: x"},
	} {
		call := memoryd.Call{ToolRef: memoryd.ToolRef{Tool: c.tool}, Input: []byte(c.input), Output: c.output, Success: true, TokenCost: -1}
		if e := j.Judge(&call, nil).Evaluation; e.Score == memoryd.ScoreFailure {
			t.Errorf("%s %s, %q: got %v by %s", c.tool, c.input, c.output, e.Score, e.Rule)
		}
	}
}
