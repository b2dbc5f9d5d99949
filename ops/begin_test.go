package ops

import (
	"bytes"
	"context"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/guidelines/revisions"
	"memoryd/internal/accounts"
	"memoryd/store/mem"
)

// Each prompt begins a session anew as long as there is nothing to tell of its project.
func TestASessionIsToldALineOnceHoweverManyPromptsFollow(t *testing.T) {
	t.Parallel()
	o := newHooks(Deps{Store: mem.New(), Revisions: &revisions.Manager{}}, HookParams{})
	of := sessionOf{"w", "s"}
	o.tell(of, "a line")
	for range 2 {
		if a, err := o.begin(t.Context(), &accounts.Hook{Moment: accounts.Begins}, of); err != nil || a.Body != nil {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if o.tell(of, "a line") {
		t.Error("it is told again")
	}
	if !o.tell(of, "") {
		t.Error("a session that was told nothing is not begun")
	}
}

// Hosts call one tool by several names; what a run was told is noted under that of its calls.
func TestWhatAHookTellsIsNotedOfTheToolThatIsMeant(t *testing.T) {
	t.Parallel()
	forecast := func(context.Context, PreflightRequest) (*Forecast, error) {
		return &Forecast{Tool: "mcp__files__read", Assessment: Assessment{Warnings: []preflight.Warning{{Line: "Give `path`"}}}}, nil
	}
	o := newHooks(Deps{Told: NewTold(), flows: &Flows{PreflightToolCall: FlowOf("preflight", forecast)}}, HookParams{})
	r, h := &HookRequest{Workspace: "w"}, &accounts.Hook{Call: accounts.Call{Tool: "files.read", Conversation: "s"}}
	f, lines, err := o.broken(t.Context(), r, h)
	if err != nil || o.news(r, h, f.Tool, lines) == "" {
		t.Fatal(lines, err)
	}
	calls := []memoryd.Call{{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: f.Tool}, Metadata: []byte(`{"session_id":"s"}`)}}
	if o.Told.mark(calls); !bytes.Contains(calls[0].Metadata, []byte(`"told":true`)) {
		t.Errorf("%s", calls[0].Metadata)
	}
}

// Blanks in a caller's metadata, or a version in place of a word, say the same.
func TestASessionThatWasToldAndDidNoWrongCountsForNothingHoweverItsCallsSaySo(t *testing.T) {
	t.Parallel()
	for _, told := range []string{`"told":true`, `"told": true`, `"guideline_version": 3`} {
		calls := []memoryd.Call{{Metadata: []byte(`{"session_id":"s",` + told + `}`)}}
		if share := shareOf(&preflight.Tested{}, calls, map[string]time.Time{"s": {}}); share != 1 {
			t.Errorf("%s: %v", told, share)
		}
	}
}
