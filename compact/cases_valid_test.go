package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"memoryd/compact"

	"github.com/go-json-experiment/json/jsontext"
)

// The cases are those of the list "what a compaction must pass"; a test's name
// begins with the number of its case. Part A: the result is valid.

func deerflowKeep(n int) jsontext.Value {
	return jsontext.Value(fmt.Sprintf(`{"keep":{"type":"messages","value":%d},"trigger":{"messages":1}}`, n))
}

func TestCase01EveryResultHasItsCallAndEveryCallItsResults(t *testing.T) {
	ms := join(system("s"), user("first"), steps("a", 6, 60), user("second"), steps("b", 30, 60), user("last"))
	for _, profile := range []string{"default", "deerflow", "forge", "ra_aid"} {
		res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: profile, Force: true, MaxInputTokens: 6000})
		if !res.Compacted {
			t.Errorf("%s: %s %s", profile, res.Reason, res.Detail)
		}
	}
}

func TestCase02ParallelCallsAreNeverCutInside(t *testing.T) {
	var ids []string
	for i := range 10 {
		ids = append(ids, fmt.Sprintf("p%d", i))
	}
	ms := join(user("go"), steps("x", 4, 80), calls(ids...))
	first := len(ms) - 1
	for _, id := range ids {
		ms = append(ms, result(id, long(id, 40)))
	}
	ms = append(ms, says("done"), user("next"))
	for keep := range 13 {
		res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: "deerflow", Overrides: deerflowKeep(keep), Force: true})
		there := 0
		for i := first; i <= first+10; i++ {
			if fate(res, i).Output >= 0 {
				there++
			}
		}
		if there != 0 && there != 11 {
			t.Errorf("keep %d: %d of 11 messages of the group are there", keep, there)
		}
	}
}

func TestCase03ResultsOfTwoOwnersInOneRun(t *testing.T) {
	ms := join(user("go"), steps("x", 4, 80), calls("a"), calls("b"), result("a", long("a", 50)), result("b", long("b", 50)), user("next"))
	for keep := range 6 {
		run(t, newCompactor(t), compact.Request{Messages: ms, Profile: "deerflow", Overrides: deerflowKeep(keep), Force: true})
	}
}

func TestCase04AnOldCallStaysWithItsRecentResult(t *testing.T) {
	ms := join(user("go"), steps("x", 12, 60), calls("late"), user("wait"), user("still"), result("late", "the answer 4711"), says("ok"))
	res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: "deerflow", Overrides: deerflowKeep(3), Force: true})
	call, answer := 25, 28
	if fate(res, call).Output < 0 || fate(res, answer).Output < 0 {
		t.Errorf("call at %d, result at %d", fate(res, call).Output, fate(res, answer).Output)
	}
}

func TestCase05APendingCallStaysWithNothingBehindIt(t *testing.T) {
	ms := join(user("go"), steps("x", 3, 60), calls("open"), steps("y", 12, 60), user("next"))
	pending := 7
	for _, profile := range []string{"default", "deerflow", "forge", "ra_aid"} {
		res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: profile, Force: true, MaxInputTokens: 3000})
		out := fate(res, pending).Output
		if out < 0 {
			t.Fatalf("%s: the pending call is gone", profile)
		}
		if res.Compacted && out+1 < len(res.Messages) && strings.Contains(string(res.Messages[out+1]), "[memoryd c_") {
			t.Errorf("%s: the summary stands right behind the pending call", profile)
		}
	}
}

func TestCase06AnOrphanOfTheInputIsSummarisedAndReported(t *testing.T) {
	ms := join(user("go"), result("nobody", "orphan text about order 99887"), steps("x", 10, 60), user("next"))
	res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: "deerflow", Overrides: deerflowKeep(4)})
	f := fate(res, 1)
	if !res.Compacted || f.Disposition != compact.Summarised || f.Why != "result without its call" || f.Original == "" {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(res.Summary, "99887") {
		t.Errorf("the orphan's text is not in the summary:\n%s", res.Summary)
	}
}

func TestCase07OddIdsAreHandledInOneWay(t *testing.T) {
	ms := join(user("go"), calls("x"), result("x", long("one", 50)), calls("x"), result("x", long("two", 50)), result("x", "again"),
		result("later", "early"), calls("later"), calls(""), result("", long("empty", 50)), steps("y", 8, 50), user("next"))
	c := newCompactor(t)
	one := run(t, c, compact.Request{Messages: ms, Profile: "deerflow", Overrides: deerflowKeep(4)})
	two := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: "deerflow", Overrides: deerflowKeep(4)})
	if !one.Compacted || !equal(one.Messages, two.Messages) {
		t.Errorf("%s, and the same again: %t", one.Reason, equal(one.Messages, two.Messages))
	}
}

func TestCase08ThinkingStaysWithItsGroupAndALongTurnCanBeCompacted(t *testing.T) {
	ms := join(user("one long task"))
	for i := range 30 {
		id := fmt.Sprintf("toolu_%d", i)
		ms = append(ms,
			raw(obj{"role": "assistant", "content": []obj{{"type": "thinking", "thinking": long("t", 10), "signature": "sig" + id}, {"type": "tool_use", "id": id, "name": "f", "input": obj{}}}}),
			raw(obj{"role": "user", "content": []obj{{"type": "tool_result", "tool_use_id": id, "content": long(id, 40)}}}))
	}
	res := run(t, newCompactor(t), compact.Request{Messages: ms, MaxInputTokens: 8000})
	if !res.Compacted {
		t.Fatalf("%s %s", res.Reason, res.Detail)
	}
	for i := 1; i < len(ms); i += 2 {
		if (fate(res, i).Output < 0) != (fate(res, i+1).Output < 0) {
			t.Errorf("thinking and result of step %d were parted", i/2)
		}
	}
	think := join(user("go"), raw(obj{"role": "assistant", "content": "", "reasoning_content": "hm"}), calls("a"), result("a", long("a", 100)), steps("x", 8, 60), user("next"))
	res = run(t, newCompactor(t), compact.Request{Messages: think, Profile: "deerflow", Overrides: deerflowKeep(len(think) - 2)})
	if (fate(res, 1).Output < 0) != (fate(res, 2).Output < 0) {
		t.Error("a thinking message was parted from its call")
	}
}

func TestCase09TheFirstMessageAfterTheSystemIsTheUsers(t *testing.T) {
	ms := join(system("s"), user("go"), steps("x", 30, 60))
	for _, profile := range []string{"default", "deerflow", "forge", "ra_aid"} {
		res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: profile, Force: true, MaxInputTokens: 4000})
		if !res.Compacted || !strings.Contains(string(res.Messages[1]), `"role":"user"`) || string(res.Messages[0]) != string(ms[0]) {
			t.Errorf("%s: %s\n%s", profile, res.Reason, res.Messages[:2])
		}
	}
}

func TestCase10WhatIsNotUnderstoodSurvivesByteForByte(t *testing.T) {
	odd := []jsontext.Value{
		jsontext.Value(`{ "role":"assistant" ,"content" : null, "function_call":{"name":"f","arguments":"{}"},"zz":[1e3, 1.0]}`),
		jsontext.Value(`{"role":"function","name":"f","content":"r"}`),
		jsontext.Value(`{"role":"assistant","refusal":"no","content":null,"annotations":[]}`),
		jsontext.Value(`{"role":"user","name":"Ann","content":[{"type":"text","text":"\u00e9"},{"type":"mystery"}]}`),
	}
	res := run(t, newCompactor(t), compact.Request{Messages: join(user("go"), steps("x", 20, 60), odd), Profile: "deerflow", Overrides: deerflowKeep(4)})
	for _, m := range odd {
		if !res.Compacted || !contains(res.Messages, m) {
			t.Errorf("%s %s, not there byte for byte: %s", res.Reason, res.Detail, m)
		}
	}
}
