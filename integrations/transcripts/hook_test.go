package transcripts

import (
	"encoding/json"
	"testing"
	"time"

	"memoryd/internal/accounts"
)

var hookTime = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// The bodies are those of the hosts' own documents and of real runs.
func TestHooksOfTheHosts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, host, body string
		moment           accounts.Moment
		want             accounts.Call
	}{
		{
			"claude, before", "claude-code", `{"session_id":"s","transcript_path":"/t.jsonl","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1"}`,
			accounts.BeforeCall,
			accounts.Call{Tool: "Bash", ID: "toolu_1", Input: json.RawMessage(`{"command":"ls"}`)},
		},
		{
			"claude, after", "claude-code", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1","duration_ms":120,"agent_id":"a1",
				"tool_response":{"stdout":"one\ntwo\n","stderr":"warned","interrupted":false}}`,
			accounts.AfterCall,
			accounts.Call{Tool: "Bash", ID: "toolu_1", Agent: "a1", Input: json.RawMessage(`{"command":"ls"}`), Output: "one\ntwo\nwarned", Ended: true, Outcome: accounts.Succeeded, Duration: 120 * time.Millisecond},
		},
		{
			"claude, failed", "claude-code", `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"x"},"tool_use_id":"toolu_2","error":"Exit code 127\nx: command not found"}`,
			accounts.AfterCall,
			accounts.Call{Tool: "Bash", ID: "toolu_2", Input: json.RawMessage(`{"command":"x"}`), Output: "x: command not found", Ended: true, Outcome: accounts.Failed, ExitCode: new(127)},
		},
		{
			"claude, interrupted by a person", "claude-code", `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{},"tool_use_id":"toolu_3","error":"","is_interrupt":true}`,
			accounts.AfterCall,
			accounts.Call{Tool: "Bash", ID: "toolu_3", Input: json.RawMessage(`{}`), Ended: true, Outcome: accounts.Cancelled},
		},
		{
			"claude forgets", "claude-code", `{"session_id":"s","hook_event_name":"SessionStart","source":"compact"}`, accounts.Begins, accounts.Call{},
		},
		{
			"claude begins", "claude-code", `{"session_id":"s","hook_event_name":"SessionStart","source":"startup","cwd":"/p"}`, accounts.Begins, accounts.Call{Project: "/p"},
		},
		{
			"codex", "codex", `{"session_id":"s","turn_id":"1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"cat /x; exit 3"},"tool_response":"cat: /x: No such file\n","tool_use_id":"call_2"}`,
			accounts.AfterCall,
			accounts.Call{Tool: "exec_command", ID: "call_2", Input: json.RawMessage(`{"cmd":"cat /x; exit 3"}`), Output: "cat: /x: No such file\n", Ended: true, Outcome: accounts.Claimed},
		},
		{
			"codex, a tool of MCP that failed", "codex", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"mcp__ev__echo","tool_input":{},"tool_use_id":"call_3","tool_response":{"content":[{"type":"text","text":"no"}],"isError":true}}`,
			accounts.AfterCall,
			accounts.Call{Tool: "mcp__ev__echo", ID: "call_3", Input: json.RawMessage(`{}`), Output: "no", Ended: true, Outcome: accounts.Failed},
		},
		{
			"gemini, an exit code in the text", "gemini", `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"cat /x; exit 3"},
				"tool_response":{"llmContent":"<untrusted_context>\nOutput: cat: no\nExit Code: 3\nProcess Group PGID: 6787\n</untrusted_context>","returnDisplay":"cat: no"}}`,
			accounts.AfterCall,
			accounts.Call{Tool: "run_shell_command", Input: json.RawMessage(`{"command":"cat /x; exit 3"}`), Output: "cat: no", Ended: true, Outcome: accounts.Failed, ExitCode: new(3)},
		},
		{
			"gemini, an error", "gemini", `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"read_file","tool_input":{"path":"/x"},"tool_response":{"llmContent":"","error":{"message":"File not found: /x","type":"file_not_found"}}}`,
			accounts.AfterCall,
			accounts.Call{Tool: "read_file", Input: json.RawMessage(`{"path":"/x"}`), Output: "file_not_found: File not found: /x", Ended: true, Outcome: accounts.Failed},
		},
		{
			"cursor", "cursor", `{"conversation_id":"s","hook_event_name":"postToolUse","tool_name":"Shell","tool_input":{"command":"npm test"},"tool_output":"{\"exitCode\":1,\"stdout\":\"1 failed\"}","tool_use_id":"abc","duration":5432}`,
			accounts.AfterCall,
			accounts.Call{Tool: "Shell", ID: "abc", Input: json.RawMessage(`{"command":"npm test"}`), Output: "1 failed", Ended: true, Outcome: accounts.Failed, ExitCode: new(1), Duration: 5432 * time.Millisecond},
		},
		{
			"cursor, timed out", "cursor", `{"conversation_id":"s","hook_event_name":"postToolUseFailure","tool_name":"Shell","tool_input":{},"tool_use_id":"abc","error_message":"too slow","failure_type":"timeout","duration":5000}`,
			accounts.AfterCall,
			accounts.Call{Tool: "Shell", ID: "abc", Input: json.RawMessage(`{}`), Output: "too slow", Ended: true, Outcome: accounts.Failed, ErrorType: "timeout", Duration: 5 * time.Second},
		},
		{
			"cursor, not allowed", "cursor", `{"conversation_id":"s","hook_event_name":"postToolUseFailure","tool_name":"Shell","tool_input":{},"tool_use_id":"abc","error_message":"no","failure_type":"permission_denied"}`,
			accounts.AfterCall,
			accounts.Call{Tool: "Shell", ID: "abc", Input: json.RawMessage(`{}`), Output: "no", Ended: true, Outcome: accounts.Cancelled, ErrorType: "permission_denied"},
		},
		{
			"copilot, its own form", "copilot", `{"sessionId":"s","timestamp":1,"toolName":"bash","toolArgs":"{\"command\":\"ls\"}","toolResult":{"resultType":"success","textResultForLlm":"one"}}`,
			accounts.AfterCall,
			accounts.Call{Tool: "bash", Input: json.RawMessage(`{"command":"ls"}`), Output: "one", Ended: true, Outcome: accounts.Claimed},
		},
		{
			"copilot, an exit code at the end", "copilot", `{"sessionId":"s","timestamp":1,"toolName":"bash","toolArgs":"{\"command\":\"ls\"}","toolResult":{"resultType":"success","textResultForLlm":"none\n<exited with exit code 2>"}}`,
			accounts.AfterCall,
			accounts.Call{Tool: "bash", Input: json.RawMessage(`{"command":"ls"}`), Output: "none", Ended: true, Outcome: accounts.Failed, ExitCode: new(2)},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h, err := Readers{}.Hook(tc.host, []byte(tc.body), hookTime)
			if err != nil {
				t.Fatal(err)
			}
			if h.Moment != tc.moment {
				t.Fatalf("moment %q, want %q", h.Moment, tc.moment)
			}
			want := tc.want
			want.Source, want.Conversation, want.Begun = "hook:"+tc.host, "s", hookTime.Add(-want.Duration)
			if want.Ended {
				want.Done = hookTime
			}
			got, _ := json.Marshal(h.Call) //nolint:errchkjson // plain values
			wanted, _ := json.Marshal(want)
			if string(got) != string(wanted) {
				t.Errorf("got  %s\nwant %s", got, wanted)
			}
		})
	}
}

func TestWhatHostsAreAnswered(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ host, event, context, deny, want string }{
		{"claude-code", "SessionStart", "x", "no", `{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"SessionStart"}}`},
		{"gemini", "BeforeAgent", "x", "", `{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"BeforeAgent"}}`},
		{"claude-code", "PreToolUse", "x", "", `{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"PreToolUse"}}`},
		{"codex", "PreToolUse", "", "no", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`},
		{"claude-code", "PostToolUse", "x", "no", `{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"PostToolUse"}}`},
		{"gemini", "BeforeTool", "x", "", ``}, // it can add no context there
		{"gemini", "BeforeTool", "x", "no", `{"decision":"deny","reason":"no"}`},
		{"gemini", "AfterTool", "x", "", `{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"AfterTool"}}`},
		{"cursor", "preToolUse", "x", "", ``},
		{"cursor", "preToolUse", "x", "no", `{"agent_message":"no","permission":"deny","user_message":"no"}`},
		{"cursor", "postToolUse", "x", "", `{"additional_context":"x"}`},
		{"claude-code", "PreToolUse", "", "", ``},
		{"claude-code", "SessionEnd", "x", "no", ``},
	} {
		h, err := Readers{}.Hook(tc.host, []byte(`{"tool_name":"t","hook_event_name":"`+tc.event+`"}`), hookTime)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Readers{}.Answer(h, accounts.HookReply{Context: tc.context, Deny: tc.deny})); got != tc.want {
			t.Errorf("%s %s: %s, want %s", tc.host, tc.event, got, tc.want)
		}
	}
}

// What an operator allows at a call is said in each host's own words; what a host has no
// words for is not said.
func TestHostsAskAndRepairInTheirOwnWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ host, event, tool, want string }{
		{"claude-code", "PreToolUse", "Read", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why","updatedInput":{"cmd":"ls"}}}`},
		{"codex", "PreToolUse", "Bash", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"}}}`},
		{"gemini", "BeforeTool", "shell", `{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"cmd":"ls"}}}`},
		{"cursor", "preToolUse", "Shell", `{"agent_message":"why","permission":"ask","user_message":"why"}`},
	} {
		h, err := Readers{}.Hook(tc.host, []byte(`{"tool_name":"`+tc.tool+`","tool_input":{"command":"x"},"hook_event_name":"`+tc.event+`"}`), hookTime)
		if err != nil {
			t.Fatal(err)
		}
		r := accounts.HookReply{}
		if h.Asks && tc.host != "gemini" {
			r.Ask = "why"
		}
		if h.Repairs {
			r.Input = Readers{}.Spoken(h, []byte(`{"cmd":"ls"}`))
		}
		if got := string(Readers{}.Answer(h, r)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.host, got, tc.want)
		}
	}
}

func FuzzHook(f *testing.F) {
	f.Add("claude-code", []byte(`{"hook_event_name":"PostToolUse","tool_name":"t","tool_response":{"stdout":"x"}}`))
	f.Add("cursor", []byte(`{"hook_event_name":"postToolUse","tool_name":"t","tool_output":"{\"exitCode\":1}"}`))
	f.Add("gemini", []byte(`{"hook_event_name":"AfterTool","tool_name":"t","tool_response":{"llmContent":[{"text":"Exit Code: x"}]}}`))
	f.Fuzz(func(t *testing.T, host string, body []byte) {
		h, err := Readers{}.Hook(host, body, hookTime)
		if err != nil {
			return
		}
		if c := h.Call.Record(); !json.Valid(c.Input) || c.TimeCost < 0 {
			t.Errorf("%+v", c)
		}
		if a := (Readers{}).Answer(h, accounts.HookReply{Context: "x", Deny: "y"}); a != nil && !json.Valid(a) {
			t.Errorf("%s", a)
		}
	})
}

// Gemini CLI calls PreCompress before each request to its model: taken as forgetting, the
// same guideline came with each call (defect W7).
func TestWhatGeminiCallsBeforeEachRequestIsNoForgetting(t *testing.T) {
	for body, want := range map[string]accounts.Moment{
		`{"hook_event_name":"PreCompress","session_id":"s","trigger":"auto"}`:  "",
		`{"hook_event_name":"SessionStart","session_id":"s","source":"clear"}`: accounts.Begins,
	} {
		h, err := Readers{}.Hook("gemini", []byte(body), time.Now())
		if err != nil || h.Moment != want || h.Forgot != (want == accounts.Begins) {
			t.Errorf("%s: %q, %v", body, h.Moment, err)
		}
	}
}
