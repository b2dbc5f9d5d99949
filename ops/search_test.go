package ops

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
	f, s := &finder{}, mem.New()
	d := Deps{Store: s, Searcher: f, Reader: MemoryReader{Store: s, Recent: 20}}
	p, err := d.listTools(t.Context(), ListTools{Workspace: "w", Query: "by meaning", Limit: 7})
	if err != nil || len(p.Tools) != 1 || p.Tools[0].Tool.Tool != "found" || *f != (finder{workspace: "w", query: "by meaning", limit: 7}) {
		t.Errorf("got %v, %v; asked %+v", p, err, f)
	}
	f.err = memoryd.Errorf(memoryd.Unavailable, "away")
	if _, err := d.listTools(t.Context(), ListTools{Workspace: "w", Query: "q", Limit: 7}); !memoryd.IsKind(err, memoryd.Unavailable) {
		t.Errorf("got %v", err)
	}
	*f = finder{}
	if p, err := d.listTools(t.Context(), ListTools{Workspace: "w", Limit: 7}); !memoryd.IsKind(err, memoryd.NotFound) || len(p.Tools) != 0 || f.limit != 0 {
		t.Errorf("a list: got %v, %v; asked %+v", p, err, f)
	}
	if _, err := d.listTools(t.Context(), ListTools{Workspace: "w", Query: "q", After: "t", Limit: 7}); !memoryd.IsKind(err, memoryd.Invalid) {
		t.Errorf("a second page of a query: %v", err)
	}
	d.Searcher = s
	if p, err := d.listTools(t.Context(), ListTools{Workspace: "w", Query: "by meaning", Limit: 7}); !memoryd.IsKind(err, memoryd.NotFound) || len(p.Tools) != 0 {
		t.Errorf("by words alone: got %v, %v", p, err)
	}
}
