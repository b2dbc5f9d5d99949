package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"memoryd"
	"memoryd/compact"

	"github.com/go-json-experiment/json/jsontext"
)

// Part B: what must survive.

func TestCase11TheCurrentRequestIsVerbatim(t *testing.T) {
	ask := user("please book HAT136 for mia_li_3668, and nothing else")
	ms := join(system("s"), user("hello"), steps("a", 3, 60), ask, steps("x", 30, 60))
	for _, profile := range []string{"default", "deerflow", "forge", "ra_aid"} {
		res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: profile, Force: true, MaxInputTokens: 4000})
		if !res.Compacted || !contains(res.Messages, ask) {
			t.Errorf("%s: %s, request there: %t", profile, res.Reason, contains(res.Messages, ask))
		}
	}
}

func TestCase12SystemMessagesKeepOrderAndPlace(t *testing.T) {
	ms := join(system("one"), user("a"), steps("a", 10, 60), raw(obj{"role": "developer", "content": "two"}), steps("b", 12, 60), system("three"), user("z"))
	for _, profile := range []string{"default", "deerflow", "forge", "ra_aid"} {
		res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: profile, Force: true, MaxInputTokens: 3000})
		last := -1
		for _, i := range []int{0, 22, 47} {
			f := fate(res, i)
			if f.Why != "system" || f.Output <= last {
				t.Errorf("%s: message %d: %+v after place %d", profile, i, f, last)
			}
			last = f.Output
		}
	}
}

func TestCase13UserMessagesInsideAToolWindowSurviveInOrder(t *testing.T) {
	ms := join(user("go"), steps("a", 6, 50), user("also this"), steps("b", 6, 50), user("and that"), steps("c", 12, 50))
	res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: "forge"})
	if !res.Compacted {
		t.Fatal(res.Reason)
	}
	last := -1
	for _, i := range []int{0, 13, 26} {
		if f := fate(res, i); f.Output <= last {
			t.Errorf("user message %d is at %d, after %d", i, f.Output, last)
		} else {
			last = f.Output
		}
	}
}

func TestCase14EarlierSummariesSurvive(t *testing.T) {
	for _, profile := range []string{"default", "deerflow", "forge", "ra_aid"} {
		c := newCompactor(t)
		ms := join(user("first, the order number is ZX-9981-Q"), steps("a", 25, 60), user("go on"))
		for round := range 3 {
			res := run(t, c, compact.Request{Messages: ms, Profile: profile, Force: true, MaxInputTokens: 5000})
			if !res.Compacted {
				t.Fatalf("%s round %d: %s %s", profile, round, res.Reason, res.Detail)
			}
			all := fmt.Sprintf("%s", res.Messages)
			if !strings.Contains(all, "ZX-9981-Q") || round > 0 && !strings.Contains(all, "a-0-arg") && !strings.Contains(all, "a-24-arg") {
				t.Errorf("%s round %d: the first summary's facts are gone\n%s", profile, round, res.Summary)
			}
			ms = join(res.Messages, steps(fmt.Sprintf("r%d", round), 25, 60), user("go on"))
		}
	}
}

func TestCase15And16ExcludedGroupsStayWholeInPlace(t *testing.T) {
	ms := join(user("go"), steps("a", 6, 60), calls("q1@ask_question", "q2@read_file"), result("q1", "which one?"), result("q2", long("file", 60)), steps("b", 30, 60))
	res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: "forge"})
	for i := 13; i <= 15; i++ {
		if f := fate(res, i); !res.Compacted || f.Disposition != compact.Excluded || f.Output != fate(res, 13).Output+i-13 {
			t.Errorf("message %d: %+v", i, f)
		}
	}
	if res.Report.ExcludedTools["ask_question"] != 1 || res.Report.ExcludedTools["read_file"] != 1 {
		t.Errorf("reported %v", res.Report.ExcludedTools)
	}
}

func TestCase17EveryListOfExclusionsCanBeSaid(t *testing.T) {
	ms := join(user("go"))
	for i, tool := range []string{"converse", "mine", "other"} {
		id := fmt.Sprint("t", i)
		ms = append(ms, calls(id+"@"+tool), result(id, long(id, 60)))
	}
	ms = join(ms, steps("z", 30, 60))
	tests := map[string]struct{ overrides, kept string }{
		"defaults":  {`{}`, "converse"},
		"none":      {`{"excluded_tools":[]}`, ""},
		"only mine": {`{"excluded_tools":["mine"]}`, "mine"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: "forge", Overrides: jsontext.Value(tc.overrides), Force: true})
			var kept []string
			for i, tool := range []string{"converse", "mine", "other"} {
				if fate(res, 1+2*i).Disposition == compact.Excluded {
					kept = append(kept, tool)
				}
			}
			if got := strings.Join(kept, " "); got != tc.kept {
				t.Errorf("kept %q, want %q", got, tc.kept)
			}
		})
	}
}

func TestCase18PinsAreHonouredAndTooManyAreNamed(t *testing.T) {
	ms := join(user("go"), says("keep "+long("me", 20)), steps("x", 30, 60), user("next"))
	res := run(t, newCompactor(t), compact.Request{Messages: ms, Pins: []int{1, 2}, Force: true, MaxInputTokens: 4000})
	for i := 1; i <= 3; i++ { // a pinned call keeps its result
		if f := fate(res, i); !res.Compacted || f.Disposition != compact.Pinned {
			t.Errorf("message %d: %+v", i, f)
		}
	}
	all := make([]int, len(ms))
	for i := range all {
		all[i] = i
	}
	res = run(t, newCompactor(t), compact.Request{Messages: ms, Pins: all, MaxInputTokens: 1000})
	if res.Compacted || res.Reason != compact.PinsTooLarge || !strings.Contains(res.Detail, "tokens must stay") {
		t.Errorf("%s: %s", res.Reason, res.Detail)
	}
	_, err := newCompactor(t).Compact(t.Context(), compact.Request{Messages: ms, Pins: []int{len(ms)}})
	if !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("a pin outside of the list: %v", err)
	}
}

func TestCase19TheTaskListIsInTheSummary(t *testing.T) {
	todo := `{"todos":[{"id":"T-1","content":"read the report","status":"completed"},{"id":"T-2","content":"mail the summary","status":"in_progress"}]}`
	ms := join(user("go"), steps("a", 10, 60),
		raw(obj{"role": "assistant", "content": nil, "tool_calls": []obj{{"id": "todo", "type": "function", "function": obj{"name": "write_todos", "arguments": todo}}}}),
		result("todo", "ok"), steps("b", 30, 60), user("next"))
	res := run(t, newCompactor(t), compact.Request{Messages: ms, Force: true, MaxInputTokens: 5000})
	for _, want := range []string{"T-1", "completed", "T-2", "mail the summary", "in_progress"} {
		if !strings.Contains(res.Summary, want) {
			t.Errorf("%q is missing:\n%s", want, res.Summary)
		}
	}
}
