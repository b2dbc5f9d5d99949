package rules

import (
	"fmt"
	"slices"
	"testing"
)

// Values that name nothing that there is, or that something has already.
func TestValuesThatNothingShowedAreToldWhereTheyFail(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"pad":"pad-%d"}`, 10+i)))
	}
	for i := range 6 {
		c := bad(40+i, fmt.Sprintf(`{"pad":"pad-%d"}`, 30+3*i), "not there")
		c.Strange = []string{"pad"}
		calls = append(calls, c)
	}
	if got := lines(Find("own", calls)); got != "" {
		t.Errorf("where it is not known what the workspace knew: %q", got)
	}
	for i := range calls {
		calls[i].World = true
	}
	found := Find("own", calls)
	if got := lines(found); got != "Give `pad` a value that an answer or a good call had before\n" || !found[0].About() || !found[0].Portable() {
		t.Fatalf("got %q", got)
	}
	before := slices.Clone(calls)
	for i := range before {
		before[i].World = i >= 18 // as after an upgrade
	}
	if found := Find("own", before); len(found) != 1 {
		t.Errorf("where early calls were not compared: %q", lines(found))
	}
	for i := range calls[30:] {
		before[30+i] = bad(40+i, `{"pad":"pad-x1"}`, "not there")
		before[30+i].Strange, before[30+i].World = []string{"pad"}, true
	}
	if found := Find("own", before); len(found) > 0 && found[0].when.what == nowhere {
		t.Errorf("where one value failed again and again: %q", lines(found))
	}
	for i := range calls {
		calls[i].Strange, calls[i].Taken = nil, calls[i].Strange
	}
	if got := lines(Find("own", calls)); got != "Give `pad` a value that no good call gave before\n" {
		t.Errorf("got %q", got)
	}
	for i := range calls[:30] {
		calls[i].Strange, calls[i].Taken = []string{"pad"}, []string{"pad"} // so it is in good calls
	}
	if got := lines(Find("own", calls)); got != "" {
		t.Errorf("where good calls have them: %q", got)
	}
}

// What the run showed takes the place of a value that nobody knows where this is it, cut or with other marks: one that
// only resembles it is another thing.
func TestAnUnknownValueIsMendedWhereTheRunShowedItWhole(t *testing.T) {
	var calls []Call
	for i := range 36 {
		input := fmt.Sprintf(`{"run":"%016x"}`, uint64(i+1)*0x9E3779B97F4A7C15) //nolint:gosec // small
		c := good(i, input)
		if i%4 == 0 {
			c = bad(i, input, "no such run")
			c.Strange = []string{"run"}
		}
		c.World, c.Sources = true, []Source{{Path: "run", Tool: "create_run"}}
		calls = append(calls, c)
	}
	found := Find("own", calls)
	if len(found) != 1 || found[0].Line != "Give `run` a value that an answer of `create_run` or a good call had before" {
		t.Fatalf("%q", lines(found))
	}
	seen := func(string, string) []Given {
		return []Given{{Value: "0247b8a7cae44fa9"}, {Value: "d41a8443b2114439"}, {Value: "d41a8443b211443a"}}
	}
	for given, want := range map[string]string{
		"0247b8a7": "0247b8a7cae44fa9", "0247B8A7-CAE4-4FA9": "0247b8a7cae44fa9",
		"d41a8443": "", "0247b": "", "old_0247b8a7cae44fa9": "", "0247b8a7cae44fa8": "",
	} {
		p := Plan(&Call{Input: fmt.Appendf(nil, `{"run":%q}`, given), Seen: Seen{World: true, Strange: []string{"run"}}})
		got := ""
		for _, e := range found[0].Mend(p, seen) {
			got = e.Text
		}
		if got != want {
			t.Errorf("%s: %q, not %q", given, got, want)
		}
	}
}

// One call is no hint while most good calls were not compared with what the workspace knew, as after a start.
func TestOneUnknownValueIsAHintOnceMostGoodCallsWereCompared(t *testing.T) {
	var calls []Call
	for i := range 34 {
		calls = append(calls, good(i, fmt.Sprintf(`{"pad":"pad-%d"}`, 10+i)))
		calls[i].World = i >= 30
	}
	c := bad(40, `{"pad":"pad-77"}`, "not there")
	c.Strange, c.World = []string{"pad"}, true
	calls = append(calls, c)
	told := func() bool {
		return slices.ContainsFunc(Hints("own", calls, nil), func(r Rule) bool { return r.when.what == nowhere })
	}
	if told() {
		t.Error("four compared calls of 34 made a hint")
	}
	for i := range calls {
		calls[i].World = true
	}
	if !told() {
		t.Error("no hint where all were compared")
	}
}
