package ops

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"memoryd"
	"memoryd/internal/access"
	"memoryd/internal/accounts"
	"memoryd/store/mem"
)

// Somebody who guesses a call_ref and records it first does not make the honest call of
// another key a repeat. The control: accounts of one call by two keys, whose arguments
// agree, are one.
func TestAReferenceIsItsSourcesOwn(t *testing.T) {
	now := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	clock, s := func() time.Time { return now }, mem.New()
	op := ValidateToolCallResult{Limits: Limits{MaxTextBytes: 1 << 20}, Deps: Deps{
		Intake: accounts.NewIntake(clock), Names: NewNames(s, clock), Told: NewTold(), Now: clock,
		Redaction: NewRedaction(s, Privacy{}, slog.New(slog.DiscardHandler), clock),
	}}
	key := func(by, input, metadata string) memoryd.CallKey {
		t.Helper()
		ctx := access.With(t.Context(), &access.Principal{Source: by})
		r := RecordRequest{Workspace: "w", Items: []Item{{
			Call: memoryd.Call{ToolRef: memoryd.ToolRef{Tool: "pay"}, Input: json.RawMessage(input), Output: "done", Metadata: json.RawMessage(metadata), CreateTime: "2026-11-24 09:00:00"},
		}}}
		v, err := op.Run(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return v.Calls[0].Key
	}
	const honest = `{"account":"A1"}`
	for name, metadata := range map[string]string{
		"a reference alone": `{"call_ref":"guessed-1"}`, "an account of a hook": `{"call_ref":"guessed-2","tool_call_id":"guessed-2","sources":["hook:claude-code"]}`,
	} {
		evil := key("mallory", `{"account":"EVIL"}`, metadata)
		first := key("ada", honest, metadata)
		if first == evil {
			t.Errorf("%s: the honest call is the liar's", name)
		}
		if again := key("ada", honest, metadata); again != first {
			t.Errorf("%s: the honest call sent again is another", name)
		}
	}
	hook := key("ada", honest, `{"call_ref":"toolu_1","tool_call_id":"toolu_1","sources":["hook:claude-code"]}`)
	if wrapped := key("bob", honest, `{"call_ref":"toolu_1","sources":["mcp-wrap"]}`); wrapped != hook {
		t.Error("two accounts of one call are two calls")
	}
}
