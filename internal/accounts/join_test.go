package accounts_test

import (
	"encoding/json"
	"testing"
	"time"

	"memoryd"
	"memoryd/internal/accounts"
)

func at(seconds float64) time.Time {
	return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

func joined(t *testing.T, parts ...accounts.Call) (calls []accounts.Call, j *accounts.Joiner) {
	t.Helper()
	j = accounts.NewJoiner(func(c accounts.Call) { calls = append(calls, c) })
	for _, p := range parts {
		j.Add(p, time.Time{})
	}
	j.Flush()
	return calls, j
}

// One call of Codex, as its hook, its trace, its transcript and a wrapper tell of it.
func TestFourAccountsAreOneCall(t *testing.T) {
	t.Parallel()
	three := 3
	input := json.RawMessage(`{"command":"cat /nonexistent; exit 3"}`)
	hook := accounts.Call{Source: "hook:codex", Conversation: "01a2", ID: "call_2", Tool: "Bash", Input: input, Output: "cat: no", Ended: true, Outcome: accounts.Claimed, Done: at(1)}
	trace := accounts.Call{Source: "otlp:codex", Conversation: "01a2", ID: "call_2", Tool: "exec_command", Input: json.RawMessage(`{"cmd":"x"}`), Ended: true, Truncated: true, Outcome: accounts.Claimed, Duration: 120 * time.Millisecond, Begun: at(0), Done: at(1)}
	asked := accounts.Call{Source: "codex", Conversation: "01a2", ID: "call_2", Tool: "exec_command", Input: input, Begun: at(0.5)}
	ended := accounts.Call{Source: "codex", Conversation: "01a2", ID: "call_2", Output: "cat: /nonexistent: No such file", Ended: true, Outcome: accounts.Failed, ExitCode: &three, Done: at(1)}
	for i, order := range [][]accounts.Call{{hook, trace, asked, ended}, {ended, asked, trace, hook}, {trace, ended, hook, asked}} {
		calls, _ := joined(t, order...)
		if len(calls) != 1 {
			t.Fatalf("order %d: %d calls, want 1: %+v", i, len(calls), calls)
		}
		c := calls[0]
		if c.Tool != "exec_command" || c.Outcome != accounts.Failed || c.ExitCode == nil || *c.ExitCode != 3 ||
			c.Output != "cat: /nonexistent: No such file" || c.Duration != 120*time.Millisecond || len(c.Sources) != 3 {
			t.Errorf("order %d: %+v", i, c)
		}
	}
}

func TestAccountsWithoutACommonIDMeetByToolArgumentsAndTime(t *testing.T) {
	t.Parallel()
	hook := accounts.Call{Source: "hook:claude-code", Conversation: "s", ID: "toolu_01AbCdEfGh23456789", Tool: "mcp__files__read", Input: json.RawMessage(`{"path": "/a", "n": 1}`), Ended: true, Begun: at(0), Done: at(2)}
	wrap := accounts.Call{Source: "mcp-wrap", Tool: "read", Input: json.RawMessage(`{"n":1,"path":"/a"}`), Output: "text", Ended: true, Outcome: accounts.Succeeded, Begun: at(0.2), Done: at(1.9)}
	calls, _ := joined(t, hook, wrap)
	if len(calls) != 1 || calls[0].Output != "text" || calls[0].Outcome != accounts.Succeeded {
		t.Errorf("not one call: %+v", calls)
	}
	later := wrap
	later.Begun, later.Done = at(60), at(61)
	if calls, _ := joined(t, hook, later); len(calls) != 2 {
		t.Errorf("calls a minute apart became %d", len(calls))
	}
	other := wrap
	other.Input = json.RawMessage(`{"n":2,"path":"/a"}`)
	if calls, _ := joined(t, hook, other); len(calls) != 2 {
		t.Errorf("calls with other arguments became %d", len(calls))
	}
	suffix := wrap
	suffix.Tool = "ead"
	if calls, _ := joined(t, hook, suffix); len(calls) != 2 {
		t.Errorf("calls of other tools became %d", len(calls))
	}
}

// The same tool with the same arguments, twice at once: two calls of the agent, each
// told by a hook and by a trace, stay two.
func TestEqualCallsAtOnceStayTwo(t *testing.T) {
	t.Parallel()
	part := func(source, id string) accounts.Call {
		return accounts.Call{Source: source, ID: id, Tool: "t", Input: json.RawMessage(`{"a":1}`), Ended: true, Begun: at(0), Done: at(1)}
	}
	calls, _ := joined(t, part("hook:gemini", ""), part("hook:gemini", ""), part("gemini", "a"), part("gemini", "b"))
	if len(calls) != 2 {
		t.Fatalf("%d calls, want 2: %+v", len(calls), calls)
	}
	for _, c := range calls {
		if len(c.Sources) != 2 {
			t.Errorf("sources %v, want both", c.Sources)
		}
	}
}

// An agent asks for the same twice in a second; a trace tells of the second call before
// its hook does.
func TestCallsWithIDsOfTheirOwnAreNotJoinedByArguments(t *testing.T) {
	t.Parallel()
	part := func(source, id string) accounts.Call {
		return accounts.Call{Source: source, Conversation: "s", ID: id, Tool: "t", Input: json.RawMessage(`{"a":1}`), Ended: true, Begun: at(0), Done: at(1)}
	}
	calls, _ := joined(t, part("hook:codex", "call_1"), part("otlp:codex", "call_2"), part("hook:codex", "call_2"), part("otlp:codex", "call_1"), part("mcp-wrap", ""), part("mcp-wrap", ""))
	if len(calls) != 2 || len(calls[0].Sources) != 3 || len(calls[1].Sources) != 3 {
		t.Errorf("%+v", calls)
	}
}

func TestCallsWithoutAResultAreCountedNotGiven(t *testing.T) {
	t.Parallel()
	calls, j := joined(t, accounts.Call{Source: "x", ID: "1", Tool: "t"}, accounts.Call{Source: "x", ID: "2", Tool: "t", Ended: true, Outcome: accounts.Cancelled})
	if len(calls) != 0 || j.Unfinished != 1 || j.Cancelled != 1 {
		t.Errorf("%d calls, %d unfinished, %d cancelled", len(calls), j.Unfinished, j.Cancelled)
	}
}

// A name of control characters and blanks is none when it is recorded.
func TestANameOfBlanksIsNone(t *testing.T) {
	t.Parallel()
	calls, j := joined(t, accounts.Call{Source: "x", ID: "1", Tool: "\x1b \x00", Ended: true})
	if len(calls) != 0 || j.Unfinished != 1 {
		t.Errorf("%d calls, %d unfinished", len(calls), j.Unfinished)
	}
}

func TestDueLetsGoOfWhatIsQuiet(t *testing.T) {
	t.Parallel()
	var n int
	j := accounts.NewJoiner(func(accounts.Call) { n++ })
	j.Add(accounts.Call{Source: "x", ID: "1", Tool: "t", Ended: true}, at(0))
	j.Add(accounts.Call{Source: "x", ID: "2", Tool: "t", Ended: true}, at(5))
	if j.Due(at(4)); n != 1 || j.Held() != 1 {
		t.Errorf("%d let go, %d held", n, j.Held())
	}
}

// Whoever sends a call first, the others are known as the same one.
func TestAccountsOfOneCallHaveOneKey(t *testing.T) {
	t.Parallel()
	key := func(c accounts.Call) memoryd.CallKey {
		r := c.Record()
		return memoryd.Identity{ToolRef: r.ToolRef, Input: r.Input, Output: r.Output, CreateTime: r.CreateTime, ToolCallID: memoryd.ToolCallID(r.Metadata)}.Key()
	}
	a := accounts.Call{Source: "codex", Conversation: "s", ID: "call_1", Tool: "exec_command", Output: "a", Ended: true}
	b := accounts.Call{Source: "hook:codex", Conversation: "s", ID: "call_1", Tool: "Bash", Output: "b", Ended: true, Begun: at(0)}
	if key(a) != key(b) {
		t.Error("two accounts of one call have two keys")
	}
	b.Conversation = "another"
	if key(a) == key(b) {
		t.Error("call_1 of two conversations is one call")
	}
	a.ID, b.ID = "toolu_01AbCdEfGh23456789", "toolu_01AbCdEfGh23456789"
	if key(a) != key(b) {
		t.Error("a conversation that was forked has its calls twice")
	}
}
