package e2e

import (
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
	failed := `{"hook_event_name":"PostToolUseFailure","tool_use_id":"toolu_01AbCdEfGhIjKlMnOp1","error":"Error: no order A1 exists","duration_ms":40,` + about + `}`
	hook(failed)
	hook(failed) // imported settings make two hosts call the same hook
	out := hook(`{"hook_event_name":"PreToolUse","tool_use_id":"toolu_01AbCdEfGhIjKlMnOp2",` + about + `}`)
	if !strings.Contains(out, `"hookEventName":"PreToolUse"`) || !strings.Contains(out, "This call failed") || strings.Contains(out, "permissionDecision") {
		t.Errorf("before the same call is made again it says %q", out)
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
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) { // another process imports
		_, out, _ = memoryd(t, "", "calls", "lookup", "--url", s.URL, "--workspace", "w", "--json")
		if n := strings.Count(out, "call_hash"); n == 2 && strings.Contains(out, "order must be a string") {
			break
		} else if n > 2 || time.Now().After(until) {
			t.Fatalf("%d calls: %s", n, out)
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
