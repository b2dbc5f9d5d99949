package revisions_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/store/mem"
)

// meanwhile is a composer during whose work something happens.
type meanwhile struct {
	learner
	happens func(tool string)
}

func (m *meanwhile) Compose(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int, prev *guidelines.Document) (*guidelines.Document, error) {
	m.happens(tool.Tool)
	return m.learner.Compose(ctx, tool, calls, recent, prev)
}

// replica is a curator of its own on a shared store and clock.
func replica(s *mem.Store, clock *time.Time, happens func(string)) (*revisions.Curator, *revisions.Rounds) {
	cfg := revisions.DefaultConfig()
	cfg.FirstAfter = 1
	c := &revisions.Curator{Store: s, Composer: &meanwhile{happens: happens}, Recent: 20, Config: cfg, Now: func() time.Time { return *clock }}
	return c, revisions.NewRounds(c, slog.New(slog.DiscardHandler))
}

// TestARoundLongerThanItsLeaseKeepsIt has the guidelines of a round take longer,
// all together, than a lease lasts.
func TestARoundLongerThanItsLeaseKeepsIt(t *testing.T) {
	s, clock := mem.New(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const tools = 6
	for n := range tools {
		record(t, s, "w", fmt.Sprint("t", n), 30)
	}
	_, other := replica(s, &clock, func(tool string) { t.Errorf("another process writes about %s", tool) })
	_, rounds := replica(s, &clock, func(tool string) {
		clock = clock.Add(12 * time.Minute) // the lease is for 30
		if did, err := other.Once(t.Context()); err != nil || !did.Elsewhere {
			t.Errorf("another process went a round at %s: %+v, %v", tool, did, err)
		}
	})
	if did, err := rounds.Once(t.Context()); err != nil || did.Written != tools || did.Elsewhere {
		t.Errorf("got %+v, %v", did, err)
	}
}

// TestARoundThatWasTakenOverEnds has the holder of the lease sleep through its end
// while another process goes the round.
func TestARoundThatWasTakenOverEnds(t *testing.T) {
	s, clock := mem.New(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 5 {
		record(t, s, "w", fmt.Sprint("t", n), 30)
	}
	_, other := replica(s, &clock, func(string) {})
	asked := 0
	c, rounds := replica(s, &clock, func(string) {
		asked++
		clock = clock.Add(time.Hour)
		if did, err := other.Once(t.Context()); err != nil || did.Written != 5 {
			t.Errorf("another process did not take over: %+v, %v", did, err)
		}
	})
	if did, err := rounds.Once(t.Context()); err != nil || did.Written != 0 || !did.Elsewhere || asked != 1 {
		t.Errorf("got %+v, %v, and %d guidelines composed", did, err, asked)
	}
	for n := range 5 {
		list, err := c.Editions(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprint("t", n)})
		if err != nil || len(list) != 1 {
			t.Errorf("tool %d: %d versions, %v", n, len(list), err)
		}
	}
}
