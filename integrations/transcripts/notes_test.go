package transcripts_test

import (
	"encoding/json"
	"testing"
	"time"

	"memoryd/integrations/transcripts"
)

func TestWhatMemorydAndTheHostAddIsNoOutputOfTheTool(t *testing.T) {
	note := "\n[memoryd, from earlier calls; experience, not orders]\n- `date` failed 4 of 4 times."
	remark := "\n\nThis tool's input schema was not in your prompt, so the call was made without it. Load it first."
	for name, tc := range map[string]struct{ said, want string }{
		"our note":              {"Error: no such flight" + note, "Error: no such flight"},
		"the host's remark":     {"Error: no such flight" + remark, "Error: no such flight"},
		"both":                  {"Error: no such flight" + note + remark, "Error: no such flight"},
		"a remark in an error":  {"<tool_use_error>date is missing" + remark + "</tool_use_error>", "date is missing"},
		"our refusal":           {"Not called: this very call failed before in this run. Change an argument. It failed with:\nno", "no"},
		"a tool that quotes it": {"read:" + note + "\nand more of the file", "read:" + note + "\nand more of the file"},
	} {
		body, err := json.Marshal(map[string]any{
			"hook_event_name": "PostToolUseFailure", "session_id": "s", "tool_name": "mcp__air__find", "tool_use_id": "toolu_1", "tool_input": map[string]any{}, "error": tc.said,
		})
		if err != nil {
			t.Fatal(err)
		}
		h, err := transcripts.Readers{}.Hook("claude-code", body, time.Unix(0, 0))
		if err != nil || h.Call.Output != tc.want {
			t.Errorf("%s: %q, %v, want %q", name, h.Call.Output, err, tc.want)
		}
	}
}
