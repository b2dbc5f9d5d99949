package accounts

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// A further account of a call is recorded as that call, whichever source came first;
// what is another call, of another workspace or of yesterday, is not.
func TestAnIntakeKnowsACallAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	in := NewIntake(func() time.Time { return now })
	account := func(source, id, tool string) Call {
		return Call{Source: source, Sources: []string{source}, ID: id, Conversation: "s", Tool: tool, Input: json.RawMessage(`{"a":1}`), Ended: true, Begun: now}
	}
	wrapped := account(wrapper, "", "mcp__files__read")
	wrapped.As = "mcp-wrap/1"
	in.recognise("w", &wrapped)
	for i, tc := range []struct {
		call     Call
		as, tool string
	}{
		{account("otlp:genai", "call_1", "read"), "mcp-wrap/1", "mcp__files__read"},
		{account("hook:x", "call_1", "read"), "mcp-wrap/1", "mcp__files__read"},
		{account("hook:x", "call_2", "read"), "", "read"},
		{account("hook:y", "", "write"), "", "write"},
	} {
		if in.recognise("w", &tc.call); tc.call.As != tc.as || tc.call.Tool != tc.tool {
			t.Errorf("%d: recorded as %q, %q, want %q, %q", i, tc.call.As, tc.call.Tool, tc.as, tc.tool)
		}
	}
	elsewhere := account("otlp:genai", "call_1", "read")
	if in.recognise("other", &elsewhere); elsewhere.As != "" {
		t.Error("a call of another workspace is another call")
	}
	if got := in.Counts(); got["hook:x"].Calls["new"] != 1 || got["hook:x"].Calls["known"] != 1 {
		t.Error(got)
	}
	now = now.Add(remembered + time.Second)
	late := account("otlp:genai", "", "read")
	if in.recognise("w", &late); late.As != "" {
		t.Error("it is remembered for ever")
	}
}

// What an Intake holds is bounded, however many workspaces and sources there are.
func TestAnIntakeIsBounded(t *testing.T) {
	t.Parallel()
	in := NewIntake(time.Now)
	for i := range 10 * maxSources {
		in.recognise(fmt.Sprint(i), &Call{Source: fmt.Sprint("hook:", i), ID: "1", Tool: "t", Ended: true})
	}
	if len(in.recent) > maxRecent || len(in.counts) > maxSources+1 {
		t.Error(len(in.recent), len(in.counts))
	}
}

// Among thousands of equal calls (git status) a further account of one is looked for
// among those of its time.
func TestEqualCallsAreFoundByTheirTimes(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	j := NewJoiner(func(Call) {})
	const calls = 3000
	for i := range calls {
		at := begun.Add(time.Duration(i) * time.Minute)
		account := Call{Source: "otlp:genai", Tool: "shell", Input: json.RawMessage(`{"command":"git status"}`), Ended: true, Begun: at, Done: at.Add(time.Second)}
		j.Add(account, at)
		account.Source, account.Input = "claude-code", json.RawMessage(`{ "command" : "git status" }`)
		j.Add(account, at)
	}
	if j.Held() != calls {
		t.Errorf("%d calls are held, want %d", j.Held(), calls)
	}
	for _, alike := range j.alike {
		if len(alike) > 70 {
			t.Fatalf("%d calls are compared", len(alike))
		}
	}
	j.Flush()
	if len(j.alike)+len(j.byRef)+j.bytes != 0 {
		t.Errorf("of no calls are left: %d traits, %d refs, %d bytes", len(j.alike), len(j.byRef), j.bytes)
	}
}

// Metadata may name a source in another spelling, which is no report's.
func TestACallOfNoToolThatNoSourceReportsIsCounted(t *testing.T) {
	in := NewIntake(time.Now)
	in.NoSuchTool([]byte(`{"source":"x","SOURCES":["hook:a"]}`), nil)
	if got := in.Counts(); got["api"].Calls["no_such_tool"] != 1 {
		t.Errorf("%+v", got)
	}
}
