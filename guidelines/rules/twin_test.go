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
