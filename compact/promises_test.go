package compact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd/compact"
	"memoryd/compact/chat"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// drawConversation makes a conversation as agents have them: turns of a user,
// and of an assistant who may call several tools at once.
func drawConversation(t *rapid.T) []jsontext.Value {
	var messages []jsontext.Value
	add := func(v map[string]any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, raw)
	}
	text := rapid.StringN(0, 40, 400)
	if rapid.Bool().Draw(t, "system") {
		add(map[string]any{"role": "system", "content": text.Draw(t, "rules")})
	}
	ids := 0
	for range rapid.IntRange(1, 30).Draw(t, "turns") {
		if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
			add(map[string]any{"role": "user", "content": text.Draw(t, "ask"), "x_unknown": 1})
			continue
		}
		var calls []map[string]any
		first := ids
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			ids++
			calls = append(calls, map[string]any{"id": fmt.Sprintf("call_%d", ids), "type": "function", "function": map[string]any{
				"name": "tool", "arguments": fmt.Sprintf(`{"path":"/srv/file-%d.txt"}`, ids),
			}})
		}
		m := map[string]any{"role": "assistant", "content": text.Draw(t, "say")}
		if len(calls) > 0 {
			m["tool_calls"] = calls
		}
		add(m)
		for id := first + 1; id <= ids; id++ {
			output := strings.Repeat(text.Draw(t, "output"), rapid.IntRange(1, 40).Draw(t, "size"))
			add(map[string]any{"role": "tool", "tool_call_id": fmt.Sprintf("call_%d", id), "content": output})
		}
	}
	return messages
}

func TestACompactionIsValidNeverLargerAndCanBeUndone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		messages := drawConversation(rt)
		profile := rapid.SampledFrom([]string{"default", "deerflow", "forge", "ra_aid"}).Draw(rt, "profile")
		c := compact.New(compact.Default(), compact.Deps{})
		result, err := c.Compact(t.Context(), compact.Request{Messages: messages, Profile: profile, Force: true, MaxInputTokens: 8000})
		if err != nil {
			rt.Fatal(err)
		}
		before, err := chat.ParseAll(messages)
		if err != nil {
			rt.Fatal(err)
		}
		after, err := chat.ParseAll(result.Messages)
		if err != nil {
			rt.Fatal(err)
		}
		if broken := chat.Introduced(before, after); len(broken) > 0 {
			rt.Fatalf("%s: %v", profile, broken)
		}
		if result.Report.TokensAfter > result.Report.TokensBefore {
			rt.Fatalf("%s: grew from %d to %d tokens", profile, result.Report.TokensBefore, result.Report.TokensAfter)
		}
		if !result.Compacted {
			if !unchanged(messages, result.Messages) || result.Reason == "" {
				rt.Fatalf("%s: changed without saying so, reason %q", profile, result.Reason)
			}
			return
		}
		undone, err := c.Undo(t.Context(), "", result.Report.ID)
		if err != nil || !unchanged(messages, undone) {
			rt.Fatalf("%s: undo: %v", profile, err)
		}
	})
}

func unchanged(a, b []jsontext.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
