package ingest

import (
	"encoding/json"
	"testing"
	"time"
)

func TestAnIntakeForgetsWhatCouldNotBeRecorded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	in := NewIntake(func() time.Time { return now })
	account := []Call{{Source: "hook:x", Conversation: "s", ID: "1", Tool: "t", Input: json.RawMessage(`{}`), Ended: true, Begun: now}}
	fresh, undo := in.Take("w", account)
	if len(fresh) != 1 {
		t.Fatal(fresh)
	}
	undo()
	if fresh, _ = in.Take("w", account); len(fresh) != 1 {
		t.Error("a call that was not recorded is not taken when it is sent again")
	}
	if fresh, _ = in.Take("w", account); len(fresh) != 0 {
		t.Error("taken twice")
	}
	if fresh, _ = in.Take("other", account); len(fresh) != 1 {
		t.Error("a call of another workspace is another call")
	}
	if got := in.Counts()["hook:x"]; got["new"] != 2 || got["known"] != 1 {
		t.Error(got)
	}
	now = now.Add(remembered + time.Second)
	if fresh, _ = in.Take("w", account); len(fresh) != 1 {
		t.Error("it is remembered for ever")
	}
}

// What an Intake holds is bounded, however many workspaces there are.
func TestAnIntakeIsBounded(t *testing.T) {
	t.Parallel()
	in := NewIntake(time.Now)
	for i := range 10 * maxRecent {
		in.Take(string(rune('a'+i)), []Call{{Source: "hook:x", ID: "1", Tool: "t", Ended: true}})
	}
	if len(in.recent) > maxRecent {
		t.Error(len(in.recent))
	}
}
