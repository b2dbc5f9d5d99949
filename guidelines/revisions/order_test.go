package revisions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/store"
	"memoryd/store/mem"
)

// lesson is what the tools of these tests have learned about a parameter that all
// of them take.
const lesson = "With `path` empty, calls fail"

// learner writes guidelines that can be borrowed from.
type learner struct{}

func (learner) Compose(_ context.Context, tool memoryd.Tool, _ []memoryd.Call, _ int, _ *guidelines.Document) (*guidelines.Document, error) {
	return &guidelines.Document{
		Tool: tool.Tool, Author: "rules", Fingerprint: tool.Tool, MaxWords: 200,
		Items: []guidelines.Item{{ID: "item-1", Section: "Common Issues", Text: lesson + ".", Value: 1, Evidence: []string{"condition-1"}}},
	}, nil
}

// TestRoundsWriteFirstWhatOthersBorrowFrom has a round write the guideline of a tool
// with few calls, whose name comes before that of the tool it borrows from.
func TestRoundsWriteFirstWhatOthersBorrowFrom(t *testing.T) {
	s := mem.New()
	now := func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	cfg := revisions.DefaultConfig()
	cfg.FirstAfter = 1
	c := &revisions.Curator{Store: s, Composer: learner{}, Recent: 20, Config: cfg, Now: now}
	for tool, calls := range map[string]int{"fs__a": 3, "fs__b": 40, "fs__c": 3} {
		record(t, s, "w", tool, calls)
		record(t, s, "other", tool, 3)
	}
	did, err := revisions.NewRounds(c, slog.New(slog.DiscardHandler)).Once(t.Context())
	if err != nil || did.Written != 6 {
		t.Fatalf("%+v, %v", did, err)
	}
	for workspace, borrows := range map[string]map[string]bool{
		"w": {"fs__a": true, "fs__b": false, "fs__c": true}, "other": {"fs__a": false, "fs__b": false, "fs__c": false},
	} {
		for tool, want := range borrows {
			got, err := s.Tool(t.Context(), memoryd.ToolRef{Workspace: workspace, Tool: tool})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(got.Guideline.Content, "(borrowed from") != want || !strings.Contains(got.Guideline.Content, lesson) {
				t.Errorf("%s/%s borrows: %v, want %v\n%s", workspace, tool, !want, want, got.Guideline.Content)
			}
		}
	}
}

// record adds judged calls of a tool with one parameter.
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
