package api

import (
	"context"
	"testing"

	"memoryd"
	"memoryd/store/mem"
)

// finder is a Searcher that finds one tool and remembers what it was asked.
type finder struct {
	workspace, query string
	limit            int
	err              error
}

func (f *finder) SearchTools(_ context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	f.workspace, f.query, f.limit = workspace, query, limit
	return []memoryd.Tool{{ToolRef: memoryd.ToolRef{Workspace: workspace, Tool: "found"}}}, f.err
}

func TestAQueryIsTheSearchersAffair(t *testing.T) {
	f := &finder{}
	s := &server{Deps: Deps{Store: mem.New(), Search: f}}
	tools, err := s.findTools(t.Context(), "w", "by meaning", "", 7)
	if err != nil || len(tools) != 1 || tools[0].Tool != "found" || *f != (finder{workspace: "w", query: "by meaning", limit: 7}) {
		t.Errorf("got %v, %v; asked %+v", tools, err, f)
	}
	f.err = memoryd.Errorf(memoryd.Unavailable, "away")
	if _, err := s.findTools(t.Context(), "w", "q", "", 7); !memoryd.IsKind(err, memoryd.Unavailable) {
		t.Errorf("got %v", err)
	}
	*f = finder{}
	if tools, err := s.findTools(t.Context(), "w", "", "", 7); err != nil || len(tools) != 0 || f.limit != 0 {
		t.Errorf("a list: got %v, %v; asked %+v", tools, err, f)
	}
	s.Search = nil
	if tools, err := s.findTools(t.Context(), "w", "by meaning", "", 7); err != nil || len(tools) != 0 {
		t.Errorf("by words alone: got %v, %v", tools, err)
	}
}
