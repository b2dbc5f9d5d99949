package window

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
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
}

// A store of many and large calls must not hold up who asks first: what is left is read in the background, and until
// then no call is compared.
func TestTheRestOfAWorldIsReadInTheBackground(t *testing.T) {
	s, clock := mem.New(), time.Unix(0, 0)
	w := New(s, 100, slog.New(slog.DiscardHandler), func() time.Time { clock = clock.Add(worldSoon / 4); return clock })
	for i := range 20 {
		c := knownCall(byte(i+1), fmt.Sprintf("tool-%d", i), fmt.Sprintf("pad-%d", i))
		if _, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: []memoryd.Call{c}, Keep: 10}); err != nil {
			t.Fatal(err)
		}
	}
	if ob := seenIn(t, w, "w", "pad-99"); ob.World {
		t.Errorf("compared with what was not read: %+v", ob.Seen)
	}
	turns := 1
	for w.readWorlds(t.Context()) {
		turns++
	}
	if turns < 10 {
		t.Errorf("%d turns in the background", turns)
	}
	if known, not := seenIn(t, w, "w", "pad-19"), seenIn(t, w, "w", "pad-99"); !known.World || len(known.Strange) > 0 || len(not.Strange) != 1 {
		t.Errorf("known %+v, not known %+v", known.Seen, not.Seen)
	}
}

// Of the calls that came before a world was read, each is compared with what was known before it: else good ones,
// which tell of themselves, would never be strange, and bad ones would.
func TestACallDoesNotKnowWhatItShows(t *testing.T) {
	w := New(mem.New(), 100, slog.New(slog.DiscardHandler), time.Now)
	var calls []memoryd.Call
	for i := range 20 {
		calls = append(calls, knownCall(byte(i+1), "t", fmt.Sprintf("new-%d", i)))
	}
	if _, err := w.Over().Append(t.Context(), store.Batch{Workspace: "w", Calls: calls, Keep: 100}); err != nil {
		t.Fatal(err)
	}
	list, err := w.Observations(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "t"})
	if err != nil || len(list) != 20 {
		t.Fatal(len(list), err)
	}
	for i := range list {
		if !list[i].World || len(list[i].Strange) != 1 {
			t.Errorf("call %d: %+v", i, list[i].Seen)
		}
	}
	if ob := seenIn(t, w, "w", "new-7"); len(ob.Strange) > 0 {
		t.Errorf("after it: %+v", ob.Seen)
	}
}

// What is restored is known, although the world was read before.
func TestWhatIsRestoredIsKnown(t *testing.T) {
	w := New(mem.New(), 100, slog.New(slog.DiscardHandler), time.Now)
	if ob := seenIn(t, w, "w", "pad-1"); len(ob.Strange) != 1 {
		t.Errorf("before: %+v", ob.Seen)
	}
	from, c := mem.New(), knownCall(1, "t", "pad-1")
	if _, err := from.Append(t.Context(), store.Batch{Workspace: "w", Calls: []memoryd.Call{c}, Keep: 10}); err != nil {
		t.Fatal(err)
	}
	tool, err := from.Tool(t.Context(), c.ToolRef)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := from.History(t.Context(), c.ToolRef, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Over().RestoreTool(t.Context(), tool, calls); err != nil {
		t.Fatal(err)
	}
	if ob := seenIn(t, w, "w", "pad-1"); !ob.World || len(ob.Strange) != 0 {
		t.Errorf("after: %+v", ob.Seen)
	}
}

// More workspaces than are kept, used in turns, were read again for each call.
func TestMoreWorkspacesThanAreKeptAreNotReadAgainAndAgain(t *testing.T) {
	s, clock := &listed{Store: mem.New()}, time.Unix(0, 0)
	w := New(s, 100, slog.New(slog.DiscardHandler), func() time.Time { return clock })
	for i := range 4 * (maxWorlds + 10) {
		if _, err := w.World(t.Context(), fmt.Sprint(i%(maxWorlds+10))); err != nil {
			t.Fatal(err)
		}
	}
	if s.n != maxWorlds {
		t.Errorf("read %d times", s.n)
	}
	clock = clock.Add(2 * worldGap)
	if _, err := w.World(t.Context(), "another"); err != nil || s.n != maxWorlds+1 {
		t.Errorf("after a while: read %d times (%v)", s.n, err)
	}
}

type listed struct {
	store.Store
	n int
}

func (s *listed) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	s.n++
	return s.Store.ListTools(ctx, workspace, after, limit)
}

func knownCall(id byte, tool, pad string) memoryd.Call {
	c := pendingCall(id)
	c.ToolRef = memoryd.ToolRef{Workspace: "w", Tool: tool}
	c.Input, c.Output, c.Time = fmt.Appendf(nil, `{"pad":%q}`, pad), "", time.Now()
	c.Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: 1}
	return c
}

// seenIn is what is seen of a planned call.
func seenIn(t *testing.T, w *Window, workspace, pad string) evidence.Observation {
	t.Helper()
	known, err := w.World(t.Context(), workspace)
	if err != nil {
		t.Fatal(err)
	}
	return evidence.NewObserver().In(known).Observe(&memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: workspace, Tool: "t"}, Input: fmt.Appendf(nil, `{"pad":%q}`, pad), Metadata: json.RawMessage(`{"trajectory_id":"r"}`),
	})
}

// Of a long history the newest calls are read, however little they showed.
func TestOfALongHistoryTheNewestCallsAreRead(t *testing.T) {
	s := mem.New()
	b := store.Batch{Workspace: "w", Keep: 1000}
	for i := range worldCalls*worldTurns + 100 {
		c := knownCall(1, "t", fmt.Sprintf("pad-%d", i))
		c.Key = memoryd.CallKey{byte(i), byte(i >> 8), 7}
		b.Calls = append(b.Calls, c)
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	w := New(s, 100, slog.New(slog.DiscardHandler), func() time.Time { return time.Unix(0, 0) })
	for i, strange := range map[int]int{99: 1, 100: 0, len(b.Calls) - 1: 0} {
		if ob := seenIn(t, w, "w", fmt.Sprintf("pad-%d", i)); len(ob.Strange) != strange || !ob.World {
			t.Errorf("call %d of %d: %+v", i, len(b.Calls), ob.Seen)
		}
	}
}
