package transcripts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"memoryd/integrations/transcripts"
	"memoryd/internal/accounts"
)

// What an event of Codex says of a call's end: its status or flag, and what its result shows.
func TestEventsOfCodexSayHowACallEnded(t *testing.T) {
	for event, want := range map[string]accounts.Outcome{
		`"type":"patch_apply_end","success":true,"stdout":"done"`:                                       accounts.Succeeded,
		`"type":"patch_apply_end","success":false,"stderr":"no"`:                                        accounts.Failed,
		`"type":"patch_apply_end","status":"completed","stdout":"done"`:                                 accounts.Succeeded,
		`"type":"patch_apply_end","status":"failed","stderr":"no"`:                                      accounts.Failed,
		`"type":"patch_apply_end","status":"declined","success":false,"stderr":""`:                      accounts.Cancelled,
		`"type":"exec_command_end","status":"completed","exit_code":3,"aggregated_output":"no"`:         accounts.Failed,
		`"type":"mcp_tool_call_end","status":"failed","result":{"content":[{"type":"text","text":""}]}`: accounts.Failed,
	} {
		text := fmt.Sprintf(`{"type":"session_meta","timestamp":"2026-01-02T03:04:05Z","payload":{"id":"s"}}
{"type":"response_item","timestamp":"2026-01-02T03:04:05Z","payload":{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}}
{"type":"event_msg","timestamp":"2026-01-02T03:04:06Z","payload":{"call_id":"c",%s}}
`, event)
		path := filepath.Join(t.TempDir(), "rollout.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []accounts.Call
		stats, err := transcripts.ReadFile(t.Context(), path, transcripts.Options{
			Format: transcripts.Auto, Call: func(c accounts.Call) { got = append(got, c) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if want == accounts.Cancelled {
			if stats.Cancelled != 1 {
				t.Errorf("%s: %+v", event, stats)
			}
			continue
		}
		if len(got) != 1 || got[0].Outcome != want {
			t.Errorf("%s: got %+v, want the outcome %d", event, got, want)
		}
	}
}
