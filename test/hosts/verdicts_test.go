package hosts

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"memoryd/test/crash/daemon"
)

// hook lets the program answer a hook, as a host does; on a machine that is too busy for a sign
// of life of the server within the program's patience, again.
func hook(t *testing.T, s *daemon.Process, host, event string) (answer string) {
	t.Helper()
	for try := 0; ; try++ {
		cmd := exec.CommandContext(t.Context(), string(binary), "hook", host, "--url", s.URL)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir()) // where it would note that the server hangs
		cmd.Stdin = strings.NewReader(event)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		switch err := cmd.Run(); {
		case err == nil && errs.Len() == 0:
			return out.String()
		case try == 20 || !strings.Contains(errs.String(), "deadline"):
			t.Fatalf("%s: %v: %s", event, err, errs.String())
		}
	}
}

// A count of no line is half a success in each host, whatever it tells of the exit status:
// as a failure, in the text, as a number, or not at all (W15).
func TestACountOfNoLineHasOneVerdictInEveryHost(t *testing.T) {
	t.Parallel()
	s := binary.Start(t, t.TempDir(), nil)
	for host, event := range map[string]string{
		"claude-code": `{"session_id":"a","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"grep -c TODO a.go"},"tool_use_id":"toolu_01AbCdEfGhIjKlMn01","error":"Exit code 1\n0"}`,
		"codex":       `{"session_id":"b","turn_id":"1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"grep -c TODO a.go"},"tool_response":"0\n","tool_use_id":"call_01AbCdEfGhIjKlMn02"}`,
		"gemini": `{"session_id":"c","hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"grep -c TODO a.go"},
			"tool_response":{"llmContent":"<untrusted_context>\nOutput: 0\nExit Code: 1\nProcess Group PGID: 67\n</untrusted_context>","returnDisplay":"0"}}`,
		"cursor":  `{"conversation_id":"d","hook_event_name":"postToolUse","tool_name":"Shell","tool_input":{"command":"grep -c TODO a.go"},"tool_output":"{\"exitCode\":1,\"stdout\":\"0\"}","tool_use_id":"abc","duration":5}`,
		"copilot": `{"sessionId":"e","timestamp":1,"toolName":"bash","toolArgs":"{\"command\":\"grep -c TODO a.go\"}","toolResult":{"resultType":"success","textResultForLlm":"0\n<exited with exit code 1>"}}`,
	} {
		hook(t, s, host, event)
	}
	all := calls(t, s)
	if len(all) != 5 {
		t.Errorf("%d calls, want 5", len(all))
	}
	for _, c := range all {
		if c.Score != 0.5 {
			t.Errorf("%v: %q scores %v", c.Metadata.Sources, c.Output, c.Score)
		}
	}
}
