package evidence_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
)

func failing(t *testing.T, outputs ...string) evidence.Evidence {
	t.Helper()
	var calls []memoryd.Call
	for i, out := range outputs {
		calls = append(calls, call(t, i, object{"a": i}, out, 0, 0, -1))
	}
	return evidence.Mine(calls)
}

func TestMessagesOfOneFormAreOneCluster(t *testing.T) {
	e := failing(t,
		"Error: payment amount does not add up, total price is 375, but paid 299",
		"Error: flight HAT030 not available on date 2024-05-13",
		"Error: payment amount does not add up, total price is 1203, but paid 833",
		"Error: gift card balance is not enough",
		"Error: flight HAT223 not available on date 2024-05-13",
		"Error: payment amount does not add up, total price is 375, but paid 254",
	)
	var got []string
	for _, c := range e.Errors {
		got = append(got, fmt.Sprintf("%d %s", c.Count, c.Template))
	}
	want := []string{
		"3 Error: payment amount does not add up, total price is N, but paid N",
		"2 Error: flight ID not available on date 2024-05-13",
		"1 Error: gift card balance is not enough",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	first := e.Errors[0]
	if len(first.Calls) != 3 {
		t.Errorf("got %+v", first)
	}
}

func TestTheMessageIsFoundInTheOutput(t *testing.T) {
	tests := map[string]struct{ output, want string }{
		"plain":            {"Error: no seats", "Error: no seats"},
		"later line":       {"total 3\nfile a\nls: cannot access 'b': No such file or directory\n", "ls: cannot access 'b': No such file or directory"},
		"stack trace":      {"Traceback (most recent call last):\n  File \"x.py\", line 1\n    error()\nValueError: bad day\n", "ValueError: bad day"},
		"json member":      {`{"status": 1, "error": {"code": 5, "message": "quota exceeded"}}`, "quota exceeded"},
		"json in json":     {`{"error": "", "response": "{\"msg\": \"Authentication required\"}"}`, "Authentication required"},
		"content list":     {`{"isError": true, "content": [{"type": "text", "text": "Failed to fetch"}]}`, "Failed to fetch"},
		"one short line":   {"url broken", "url broken"},
		"a page of prose":  {strings.Repeat("all is well here.\nnothing to see.\n", 20), ""},
		"empty":            {" \n\x00\n", ""},
		"a number is json": {"12", "12"},
		"far end":          {strings.Repeat("data\n", 5000) + "fatal error: out of memory", "fatal error: out of memory"},
	}
	for name, tc := range tests {
		e := failing(t, tc.output)
		if got := e.Errors[0].Template; got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
		if name == "empty" && !e.Errors[0].EmptyOutput {
			t.Error("an empty output is not seen as such")
		}
	}
}

func in(t *testing.T, c memoryd.Call, trajectory string) memoryd.Call {
	t.Helper()
	raw, err := json.Marshal(object{"note": []int{1}, "trajectory_id": trajectory})
	if err != nil {
		t.Fatal(err)
	}
	c.Metadata = raw
	return c
}

func TestRepairsAreCountedByRuns(t *testing.T) {
	var calls []memoryd.Call
	add := func(trajectory string, input object, score float64) {
		out := "ok"
		if score == 0 {
			out = fmt.Sprintf("Error: paid %d", len(calls))
		}
		calls = append(calls, in(t, call(t, len(calls), input, out, score, 0, -1), trajectory))
	}
	for i, name := range []string{"a", "b", "c"} {
		add(name, object{"user": name, "amount": 1, "pay": []object{{"id": "x"}}}, 0)
		add(name, object{"user": name, "amount": 1, "pay": []object{{"id": "x"}}}, 0) // unchanged
		if i < 2 {
			add(name, object{"user": name, "amount": 2, "pay": []object{{"id": "x"}}}, 1)
		} else {
			add(name, object{"user": name, "amount": 2, "pay": []object{{"id": "x"}}}, 0)
		}
	}
	add("d", object{"user": "d", "amount": 5, "pay": []object{{"id": "y"}}}, 1) // another trajectory is no retry
	e := evidence.Mine(calls)
	if e.Unchanged != (evidence.Retry{Tries: 3}) || e.UnchangedRuns != 3 || e.Trajectories != 4 {
		t.Errorf("unchanged %+v in %d runs, %d trajectories", e.Unchanged, e.UnchangedRuns, e.Trajectories)
	}
	if len(e.Causes) != 1 || len(e.Causes[0].Repairs) != 1 {
		t.Fatalf("got %+v", e.Causes)
	}
	if r := e.Causes[0].Repairs[0]; r.Path != "amount" || r.Change != evidence.Raised || r.Succeeded != 4 || r.Runs != 2 || r.Number != 2 {
		t.Errorf("got %+v", r) // each of two failures before the success is a pair
	}
}

// Ten failures in one trajectory are one agent's trouble, not a pattern.
func TestOneTrajectoryIsNotEnoughForACondition(t *testing.T) {
	history := func(trajectoryOf func(i int) string) []memoryd.Call {
		var calls []memoryd.Call
		for i := range 40 {
			score, mode, trajectory := 1.0, "fast", fmt.Sprint("t", i)
			if i >= 30 {
				score, mode, trajectory = 0, "slow", trajectoryOf(i)
			}
			calls = append(calls, in(t, call(t, i, object{"mode": mode, "n": i % 3}, "Error: x", score, 0, -1), trajectory))
		}
		return calls
	}
	if e := evidence.Mine(history(func(int) string { return "same" })); len(e.Conditions) != 0 {
		t.Errorf("published %+v", e.Conditions)
	}
	if e := evidence.Mine(history(func(i int) string { return fmt.Sprint("s", i) })); len(e.Conditions) != 1 {
		t.Errorf("published %+v", e.Conditions)
	}
}

func TestParametersAreDescribed(t *testing.T) {
	var calls []memoryd.Call
	for i := range 6 {
		calls = append(calls, call(t, i, object{"n": i, "x": 0.5, "list": []object{{"id": "a"}}, "text": "one two three four five"}, `{"b": 1, "a": 2}`, 1, 0, -1))
	}
	calls = append(calls, call(t, 6, "just text", "", 1, 0, -1), call(t, 7, `{"n": 3}`, "", 1, 0, -1))
	e := evidence.Mine(calls)
	got := map[string]evidence.Parameter{}
	for _, p := range e.Parameters {
		got[p.Path] = p
	}
	if p := got["n"]; p.Given != 7 || p.Of != 8 || p.Types[0] != "integer" || p.Greatest != 5 {
		t.Errorf("n: %+v", p)
	}
	if p := got["x"]; p.Types[0] != "number" {
		t.Errorf("x: %+v", p)
	}
	if p := got["list[].id"]; p.Given != 6 || p.Top[0] != (evidence.ValueCount{Value: "a", Calls: 6, Good: 6}) {
		t.Errorf("list: %+v", p)
	}
	if !slices.Equal(e.Output.Keys, []string{"b", "a"}) || e.Output.Objects != 6 || e.Output.Empty != 2 {
		t.Errorf("output: %+v", e.Output)
	}
}

func TestOutliersStandOutClearly(t *testing.T) {
	var calls []memoryd.Call
	for i := range 30 {
		seconds := 1 + float64(i%5)/10
		if i == 7 || i == 19 {
			seconds = 30
		}
		calls = append(calls, call(t, i, object{"i": i}, "ok", 1, seconds, int64(100+i)))
	}
	e := evidence.Mine(calls)
	if len(e.Outliers) != 1 || e.Outliers[0].Resource != evidence.Time || e.Outliers[0].Count != 2 || e.Outliers[0].Least != 30 {
		t.Errorf("got %+v", e.Outliers)
	}
}

// FuzzMine survives any input, output and metadata, and its counts add up.
func FuzzMine(f *testing.F) {
	f.Add(`{"a":[{"b":1}]}`, "Error: 'x", `{"trajectory_id":"t"}`)
	f.Add(`"{\"a\":1}"`, "{\"error\":null}", `{`)
	f.Add("\"\\ud800\"", "\x00\xff", "null")
	f.Add(strings.Repeat("[", 20000), strings.Repeat("`", 300), `{"trajectory_id":5}`)
	f.Add(`{"a":1e999,"b":-0,"c":NaN}`, "= =' C:\\ ~ / a@ ://", `{"x":{"trajectory_id":"t"},"trajectory_id":"é"}`)
	f.Add(`{"":{"":{"":[[],{}]}}}`, "Traceback (most recent call last)", "")
	f.Fuzz(func(t *testing.T, input, output, metadata string) {
		var calls []memoryd.Call
		for i := range 12 {
			c := call(t, i, object{"k": i}, output, float64(i%3)/2, float64(i), int64(i))
			if i%2 == 0 {
				c.Input, c.Metadata = []byte(input), []byte(metadata)
			}
			calls = append(calls, c)
		}
		e := evidence.Mine(calls)
		if e.Failed+e.Partial+e.Good != e.Judged || e.Judged != 12 {
			t.Fatalf("the counts do not add up: %+v", e)
		}
		if _, err := json.Marshal(e); err != nil {
			t.Fatalf("not encodable: %v", err)
		}
	})
}
