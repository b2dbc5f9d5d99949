package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What Claude Code does in a session: a call that fails is recorded, the same call is
// warned of before it is made again, and the transcript at the end adds what hooks
// were not told, each call once.
func TestASessionOfAHostWithHooks(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	hook := func(body string) string {
		t.Helper()
		code, out, errs := memoryd(t, body, "hook", "claude-code", "--url", s.URL, "--workspace", "w")
		if code != 0 || errs != "" {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		return out
	}
	const about = `"session_id":"sess-1","tool_name":"lookup","tool_input":{"order":"A1"}`
	if out := hook(`{"hook_event_name":"PreToolUse","tool_use_id":"toolu_01AbCdEfGhIjKlMnOp1",` + about + `}`); out != "" {
		t.Errorf("of a tool that nobody knows it says %s", out)
	}
	failed := func(n int) {
		hook(fmt.Sprintf(`{"hook_event_name":"PostToolUseFailure","tool_use_id":"toolu_01AbCdEfGhIjKlMnOp%d","error":"Error: no order A1 exists","duration_ms":40,`, n) + about + `}`)
	}
	planned := `{"hook_event_name":"PreToolUse","tool_use_id":"toolu_01AbCdEfGhIjKlMnOp9",` + about + `}`
	failed(1)
	failed(1) // imported settings make two hosts call the same hook
	if out := hook(planned); out != "" {
		t.Errorf("of a call that failed once it says %s", out)
	}
	failed(2)
	out := hook(planned)
	if !strings.Contains(out, `"hookEventName":"PreToolUse"`) || !strings.Contains(out, "You have sent this 3 times") || strings.Contains(out, "permissionDecision") {
		t.Errorf("before the same call is made for the third time it says %q", out)
	}
	transcript := filepath.Join(t.TempDir(), "sess-1.jsonl")
	line := func(role, block string) string {
		return fmt.Sprintf(`{"type":%q,"sessionId":"sess-1","timestamp":"2026-11-22T12:00:01Z","message":{"role":%q,"content":[%s]}}`+"\n", role, role, block)
	}
	text := line("assistant", `{"type":"tool_use","id":"toolu_01AbCdEfGhIjKlMnOp1","name":"lookup","input":{"order":"A1"}}`) +
		line("user", `{"type":"tool_result","tool_use_id":"toolu_01AbCdEfGhIjKlMnOp1","is_error":true,"content":"Error: no order A1 exists"}`) +
		line("assistant", `{"type":"tool_use","id":"toolu_01AbCdEfGhIjKlMnOp3","name":"lookup","input":{"order":7}}`) +
		line("user", `{"type":"tool_result","tool_use_id":"toolu_01AbCdEfGhIjKlMnOp3","is_error":true,"content":"<tool_use_error>order must be a string</tool_use_error>"}`)
	if err := os.WriteFile(transcript, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	hook(fmt.Sprintf(`{"hook_event_name":"SessionEnd","session_id":"sess-1","transcript_path":%q}`, transcript))
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) { // another process imports
		_, out, _ = memoryd(t, "", "calls", "lookup", "--url", s.URL, "--workspace", "w", "--json")
		if n := strings.Count(out, "call_hash"); n == 3 && strings.Contains(out, "order must be a string") {
			break
		} else if n > 3 || time.Now().After(until) {
			t.Fatalf("%d calls: %s", n, out)
		}
	}
}

// What came first is amended by what comes later and knows more, whichever way each
// came: there is one call, with the best of every field.
func TestOneCallIsOneCallWhicheverWayItCame(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	hook := func(id, input, response string) func() {
		return func() {
			reply, err := s.Send("/v1/hooks/codex", fmt.Appendf(nil, `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":%q},"tool_response":%q}`, id, input, response))
			if err != nil || reply.Status >= 300 {
				t.Fatalf("%v, %d: %s", err, reply.Status, reply.Body)
			}
		}
	}
	trace := func(tool, id, args, extra string) func() {
		return func() {
			end := time.Now().UnixNano()
			body := fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"execute_tool","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[
				{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":%q}},{"key":"gen_ai.tool.call.id","value":{"stringValue":%q}},
				{"key":"gen_ai.conversation.id","value":{"stringValue":"s"}},{"key":"gen_ai.tool.call.arguments","value":{"stringValue":%q}}%s]}]}]}]}`, end-25e7, end, tool, id, args, extra)
			if reply, err := s.Send("/v1/traces", []byte(body)); err != nil || reply.Status != 200 {
				t.Fatalf("%v, %d: %s", err, reply.Status, reply.Body)
			}
		}
	}
	transcript := func(id, cmd, out string, exit int) func() {
		return func() {
			name := filepath.Join(t.TempDir(), "rollout.jsonl")
			at := time.Now().UTC().Format(time.RFC3339Nano)
			text := fmt.Sprintf(`{"timestamp":%q,"type":"session_meta","payload":{"id":"s"}}`+"\n"+
				`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":%q,"call_id":%q}}`+"\n"+
				`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call_output","call_id":%q,"output":%q}}`+"\n",
				at, at, fmt.Sprintf(`{"cmd":%q,"workdir":"/p"}`, cmd), id, at, id, fmt.Sprintf("Wall time: 0.5 seconds\nProcess exited with code %d\nOutput:\n%s", exit, out))
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if code, out, errs := memoryd(t, "", "import", "--url", s.URL, name); code != 0 {
				t.Fatal(out, errs)
			}
		}
	}
	wrapper := func(id, tool, input, output string, success bool) func() {
		return func() {
			s.Post("/add_tool_call_result", map[string]any{"tool_call_results": []any{map[string]any{
				"tool_name": tool, "input": json.RawMessage(input), "output": output, "success": success, "time_cost": 0.2, "create_time": time.Now().Add(-200 * time.Millisecond).UTC().Format(time.RFC3339Nano),
				"metadata": map[string]any{"sources": []string{"mcp-wrap"}, "call_ref": "mcp-wrap/" + id, "tool_call_id": id},
			}}})
		}
	}
	const result = `,{"key":"gen_ai.tool.call.result","value":{"stringValue":"Found"}}`
	const failed = `,{"key":"gen_ai.tool.call.result","value":{"stringValue":"no such book as B7"}},{"key":"error.type","value":{"stringValue":"tool_error"}}`
	for _, tc := range []struct {
		name, tool string
		ways       []func()
		want       []string // parts of the one call
	}{
		{
			"hook, transcript", "exec_command",
			[]func(){hook("call_1", "cat /x", "cat: /x\n"), transcript("call_1", "cat /x", "cat: /x: no such file, and all the rest", 3)},
			[]string{`"success":false`, `"score":0,`, "all the rest", `"exit_code":3`, `"time_cost":0.5`, `"sources":["hook:codex","codex"]`, `workdir`},
		},
		{
			"transcript, hook", "exec_command",
			[]func(){transcript("call_2", "cat /y", "cat: /y: no such file, and all the rest", 3), hook("call_2", "cat /y", "cat: /y\n")},
			[]string{`"success":false`, `"score":0,`, "all the rest", `"exit_code":3`, `"sources":["codex","hook:codex"]`},
		},
		{
			"trace, transcript", "exec_command",
			[]func(){trace("exec_command", "call_3", `{"cmd":"ls /"}`, ""), transcript("call_3", "ls /", "bin\netc", 0)},
			[]string{`"success":true`, `"score":1,`, "bin", `"exit_code":0`, `"sources":["otlp:genai","codex"]`, `"trace_id":"5b8efff798038103d269b633813fc60c"`},
		},
		{
			"wrapper, trace", "mcp__lib__find",
			[]func(){wrapper("u1", "mcp__lib__find", `{"book":"B1"}`, "Found", true), trace("find", "call_4", `{"book":"B1"}`, result)},
			[]string{`"success":true`, `"sources":["mcp-wrap","otlp:genai"]`, `"tool_call_id":"call_4"`},
		},
		{
			"trace, wrapper", "find",
			[]func(){trace("find", "call_5", `{"book":"B7"}`, failed), wrapper("u2", "mcp__lib__find", `{"book":"B7"}`, "no such book as B7", true)},
			[]string{`"success":false`, `"score":0,`, `"sources":["otlp:genai","mcp-wrap"]`, `"error_type":"tool_error"`},
		},
	} {
		_, before, _ := memoryd(t, "", "calls", tc.tool, "--url", s.URL, "--json")
		for _, way := range tc.ways {
			way()
			way() // sent again
		}
		_, after, _ := memoryd(t, "", "calls", tc.tool, "--url", s.URL, "--json")
		if n := strings.Count(after, "call_hash") - strings.Count(before, "call_hash"); n != 1 {
			t.Fatalf("%s: %d calls: %s", tc.name, n, after)
		}
		newest, _, _ := strings.Cut(after, "\n}\n{") // the newest call stands first
		newest = strings.NewReplacer("\n", "", "  ", "", `": `, `":`, ", ", ",").Replace(newest)
		for _, want := range tc.want {
			if !strings.Contains(newest, strings.ReplaceAll(want, ", ", ",")) {
				t.Errorf("%s: no %s in %s", tc.name, want, newest)
			}
		}
	}
}

// A hook never fails and never waits, whatever state the server is in: hosts would
// take that for a refusal of the call.
func TestAHookStandsInNoCallsWay(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	const body = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"t","tool_input":{}}`
	for name, args := range map[string][]string{
		"away":       {"claude-code", "--url", "http://127.0.0.1:1"},
		"silent":     {"claude-code", "--url", "http://" + silent.Addr().String()},
		"no address": {"claude-code", "--url", "::"},
		"a new host": {"emacs"},
		"bad flags":  {"claude-code", "--no-such-flag"},
	} {
		inputs := []string{body}
		if name == "away" {
			inputs = append(inputs, "", "{", "null", strings.Repeat("x", 17<<20))
		}
		for _, in := range inputs {
			began := time.Now()
			code, out, _ := memoryd(t, in, append([]string{"hook"}, args...)...)
			if took := time.Since(began); code != 0 || out != "" || took > 20*time.Second {
				t.Errorf("%s, input of %d bytes: exit code %d after %v, %q", name, len(in), code, took, out)
			}
		}
	}
}
