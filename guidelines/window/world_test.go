package window

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/store"
	"memoryd/store/mem"
)

// What a workspace knows is known again after a start, and no longer when its tool is deleted.
func TestAWorkspaceIsKnownAfterAStartAndForgottenWithItsTool(t *testing.T) {
	s, ref := mem.New(), memoryd.ToolRef{Workspace: "w", Tool: "t"}
	start := func() *Window { return New(s, 100, slog.New(slog.DiscardHandler), time.Now) }
	strange := func(w *Window, workspace string) bool {
		world, err := w.World(t.Context(), workspace)
		if err != nil {
			t.Fatal(err)
		}
		ob := evidence.NewObserver().In(world).Observe(&memoryd.Call{
			ToolRef: ref, Input: json.RawMessage(`{"pad":"pad-17"}`), Metadata: json.RawMessage(`{"trajectory_id":"r"}`),
		})
		return len(ob.Strange) > 0
	}
	w := start()
	c := pendingCall(1)
	c.ToolRef, c.Input, c.Evaluation = ref, json.RawMessage(`{"pad":"pad-17"}`), memoryd.Evaluation{State: memoryd.Judged, Score: 1}
	c.Time = time.Now()
	if !strange(w, "w") {
		t.Error("it is known before the call")
	}
	if _, err := w.Over().Append(t.Context(), store.Batch{Workspace: "w", Calls: []memoryd.Call{c}, Keep: 10}); err != nil {
		t.Fatal(err)
	}
	for w.read(t.Context()) {
	}
	if strange(w, "w") || !strange(w, "v") {
		t.Error("after the call")
	}
	if w = start(); strange(w, "w") || !strange(w, "v") {
		t.Error("after a start")
	}
	if err := w.Over().DeleteTool(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if !strange(w, "w") {
		t.Error("a value of a tool that was deleted is known")
	}
	large := c
	large.Tool, large.Key, large.Input, large.Output = "a", memoryd.CallKey{2}, json.RawMessage(`{"pad":"pad-18"}`), strings.Repeat("x", worldBytes+1)
	if _, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: []memoryd.Call{c, large}, Keep: 10}); err != nil {
		t.Fatal(err)
	}
	if w = start(); !strange(w, "w") {
		t.Error("after a start more is read than so many bytes")
	}
}
