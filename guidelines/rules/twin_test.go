package rules

import (
	"fmt"
	"testing"
)

func TestTwoParametersThatWereAlwaysMissingTogetherAreToldAtOnce(t *testing.T) {
	for _, tc := range []struct{ full, want string }{
		{`{"file_path":"a","n":1}`, "Always give `file_path` and `n`\n"},
		{`{"files":[{"file_path":"a","n":1},{"file_path":"b","n":1}]}`, "Always give `file_path` and `n` in each of `files`\n"},
	} {
		var calls []Call
		for i := range 30 {
			calls = append(calls, good(i, tc.full))
		}
		for i := range 4 {
			empty := fmt.Sprintf(`{"q":"a%d"}`, i)
			if tc.full[2:7] == "files" {
				empty = `{"files":[{"q":"a"}]}`
			}
			calls = append(calls, bad(40+i, empty, "E17"))
		}
		if got := lines(Find("own", calls)); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

// Where two conditions held for the same calls, and the messages name the parameter of the one or repeat its value, the other is
// not told: whoever heeds it does without something for nothing.
func TestOfTwoConditionsTheOneThatMessagesSpeakOfIsTold(t *testing.T) {
	for name, tc := range map[string]struct{ message, want string }{
		"named":    {"tasks: expected objects", "Give `tasks` as a list of objects\n"},
		"repeated": {"no sheet Draft here", "Do not give `title` as \"Draft\"; \"Plan\" worked\n"},
		"neither":  {"E17", "Give `tasks` as a list of objects, and give `title` as \"Plan\", not \"Draft\"\n"},
	} {
		var calls []Call
		for i := range 30 {
			calls = append(calls, good(i, `{"title":"Plan","tasks":[{"a":1}]}`))
		}
		for i := range 6 {
			calls = append(calls, bad(40+i, `{"title":"Draft","tasks":["a"]}`, tc.message))
		}
		if got := lines(Find("own", calls)); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// A parameter that no good call gave is to blame by itself, whatever stood beside it.
func TestWhatNoGoodCallGaveIsNotToldWithAnother(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, `{"kind":"list"}`))
	}
	for i := range 6 {
		calls = append(calls, bad(40+i, fmt.Sprintf(`{"kind":"list","least":%d,"most":%d}`, i, i+9), "least: expected text; most: expected text"))
	}
	if got := lines(Find("own", calls)); got != "Leave out `least` and `most`\n" {
		t.Errorf("got %q", got)
	}
}

// Two parameters of which no good call gave one: that they exclude each other, or that one needs the other, forbids less
// than that each is wrong, and says as much. That both work together is told only where they did.
func TestParametersThatNoGoodCallGaveAreToldTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		message, want string
		good, bad     []string
	}{
		"one without a good call": {
			"Choose between unit and code.", "Give `code` or `unit`, not both\n",
			[]string{`{"a":1,"code":"x"}`, `{"a":1}`},
			[]string{`{"a":1,"code":"x","unit":"m"}`, `{"a":1,"code":"y","unit":"m"}`},
		},
		"neither with one": {
			"E17", "Leave out `batch`\nLeave out `grade`\n",
			[]string{`{"a":1}`, `{"a":1}`},
			[]string{`{"a":1,"batch":"x"}`, `{"a":1,"grade":4}`},
		},
		"one that needs another": {
			"E17", "Where `recur` is given, always give `due`\n",
			[]string{`{"a":1,"due":"x"}`, `{"a":1,"due":"x","recur":"y"}`, `{"a":1}`},
			[]string{`{"a":1,"recur":"y"}`, `{"a":2,"recur":"z"}`},
		},
		"one that needs another, as messages say, and never had it": {
			"That takes a due date.", "Where `recur` is given, always give `due`\n",
			[]string{`{"a":1,"due":"x"}`, `{"a":1}`},
			[]string{`{"a":1,"recur":"y"}`, `{"a":2,"recur":"z"}`},
		},
		"one that is wrong by itself": {
			"E17", "Leave out `recur`\n",
			[]string{`{"a":1,"due":"x"}`, `{"a":1}`},
			[]string{`{"a":1,"recur":"y"}`, `{"a":2,"recur":"z"}`},
		},
	} {
		var calls []Call
		for i := range 20 {
			calls = append(calls, good(i, tc.good[i%len(tc.good)]))
		}
		for i := range 8 {
			calls = append(calls, bad(40+i, tc.bad[i%len(tc.bad)], tc.message))
		}
		if got := lines(Find("own", calls)); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// What one parameter needs is suggested where one value of it worked.
func TestWhatAParameterNeedsIsSuggested(t *testing.T) {
	var calls []Call
	for i := range 24 {
		calls = append(calls, good(i, []string{`{"a":1}`, `{"a":1,"due":"today"}`, `{"a":1,"due":"today","recur":"weekly"}`}[i%3]))
	}
	for i := range 8 {
		calls = append(calls, bad(40+i, fmt.Sprintf(`{"a":%d,"recur":"weekly"}`, i), "E17"))
	}
	found := broken(Find("own", calls), `{"a":1,"recur":"weekly"}`)
	if len(found) != 1 || found[0].Line != "Where `recur` is given, always give `due`" {
		t.Fatalf("got %q", lines(found))
	}
	edits := found[0].Mend(Plan(&Call{Input: []byte(`{"a":1,"recur":"weekly"}`)}), nil)
	if len(edits) != 1 || edits[0].Path != "due" || edits[0].Text != "today" {
		t.Errorf("%+v", edits)
	}
}

// Of a pair that all good calls gave, each is needed by itself, whatever else a message names.
func TestParametersThatAllGoodCallsGaveAreToldEachByItself(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"key":"k","run_id":"r-%d","value":1}`, i)))
	}
	for i := range 6 {
		calls = append(calls, bad(40+i, `{"key":"k","value":1}`, "Missing value for required parameter 'run_id'"),
			bad(50+i, fmt.Sprintf(`{"key":"k","run_id":"r-%d"}`, i), "Missing value for required parameter 'value'"))
	}
	if got := lines(Find("own", calls)); got != "Always give `run_id`\nAlways give `value`, such as 1\n" {
		t.Errorf("got %q", got)
	}
}
