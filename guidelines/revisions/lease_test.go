package revisions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/store"
	"memoryd/store/mem"
)

// meanwhile is a composer during whose work something happens.
type meanwhile struct{ happens func(tool string) }

func (m *meanwhile) Compose(_ context.Context, tool memoryd.Tool, _ []memoryd.Call, _ int, _ *guidelines.Document) (*guidelines.Document, error) {
	m.happens(tool.Tool)
	return &guidelines.Document{
		Tool: tool.Tool, Author: "rules", Fingerprint: tool.Tool, MaxWords: 200,
		Items: []guidelines.Item{{ID: "item-1", Section: "Common Issues", Text: "It fails.", Value: 1}},
	}, nil
}

// replica is a manager of its own on a shared store and clock.
func replica(s *mem.Store, clock *time.Time, happens func(string)) (*revisions.Manager, *revisions.Refresher) {
	cfg := configtest.Section[revisions.Config]("revisions")
	cfg.FirstAfter = 1
	c := &revisions.Manager{Store: s, Composer: &meanwhile{happens: happens}, Recent: 20, Config: cfg, Now: func() time.Time { return *clock }}
	return c, revisions.NewRefresher(c, slog.New(slog.DiscardHandler))
}

// TestAPassLongerThanItsLeaseKeepsIt has the guidelines of a pass take longer,
// all together, than a lease lasts.
func TestAPassLongerThanItsLeaseKeepsIt(t *testing.T) {
	s, clock := mem.New(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const tools = 6
	for n := range tools {
		record(t, s, "w", fmt.Sprint("t", n), 30)
	}
	_, other := replica(s, &clock, func(tool string) { t.Errorf("another process writes about %s", tool) })
	_, refresher := replica(s, &clock, func(tool string) {
		clock = clock.Add(12 * time.Minute) // the lease is for 30
		if did, err := other.RunOnce(t.Context()); err != nil || !did.Elsewhere {
			t.Errorf("another process made a pass at %s: %+v, %v", tool, did, err)
		}
	})
	if did, err := refresher.RunOnce(t.Context()); err != nil || did.Written != tools || did.Elsewhere {
		t.Errorf("got %+v, %v", did, err)
	}
}

// TestAPassThatWasTakenOverEnds has the holder of the lease sleep through its end
// while another process makes the pass.
func TestAPassThatWasTakenOverEnds(t *testing.T) {
	s, clock := mem.New(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 5 {
		record(t, s, "w", fmt.Sprint("t", n), 30)
	}
	_, other := replica(s, &clock, func(string) {})
	asked := 0
	c, refresher := replica(s, &clock, func(string) {
		asked++
		clock = clock.Add(time.Hour)
		if did, err := other.RunOnce(t.Context()); err != nil || did.Written != 5 {
			t.Errorf("another process did not take over: %+v, %v", did, err)
		}
	})
	if did, err := refresher.RunOnce(t.Context()); err != nil || did.Written != 0 || !did.Elsewhere || asked != 1 {
		t.Errorf("got %+v, %v, and %d guidelines composed", did, err, asked)
	}
	for n := range 5 {
		list, err := c.List(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprint("t", n)})
		if err != nil || len(list) != 1 {
			t.Errorf("tool %d: %d versions, %v", n, len(list), err)
		}
	}
}

func record(t *testing.T, s *mem.Store, workspace, tool string, calls int) {
	t.Helper()
	b := store.Batch{Workspace: workspace, Keep: 100}
	for i := range calls {
		c := memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: workspace, Tool: tool}, Input: json.RawMessage(fmt.Sprintf(`{"path":"%d"}`, i)), Output: "o",
			Success: true, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", JudgeVersion: "v1"},
		}
		c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output}.Key()
		b.Calls = append(b.Calls, c)
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}
