package transcripts_test

import (
	"encoding/json"
	"testing"

	"memoryd/integrations/transcripts"
)

// The messages of a transcript, as the host's API has them: the parts of one message
// are one again, sub-agents have their own conversations, repeats come once.
func TestConversationsOfTranscripts(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct{ conversations, messages int }{
		"testdata/claude-code/full-session-two.jsonl":               {1, 29},
		"testdata/codex/rollout-2025-09-24T20-12-23-01997ea4.jsonl": {1, 37},
		"testdata/written/gemini-0.61.jsonl":                        {1, 9},
		"testdata/tau-bench/gpt-4o-airline.json":                    {5, 200},
		"testdata/swe-agent/function_calling_simple.traj":           {1, 12},
	} {
		if format, err := transcripts.Detect(t.Context(), path); err != nil || !transcripts.HoldsConversations(format) {
			t.Errorf("%s: %s, %v", path, format, err)
		}
		all, err := transcripts.Conversations(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		messages := 0
		for _, c := range all {
			messages += len(c.Messages)
			for _, m := range c.Messages {
				if !json.Valid(m) {
					t.Errorf("%s: %s", path, m)
				}
			}
		}
		if len(all) != want.conversations || messages != want.messages {
			t.Errorf("%s: %d conversations of %d messages, want %d of %d", path, len(all), messages, want.conversations, want.messages)
		}
	}
}
