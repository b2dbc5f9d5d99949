package revisions_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"memoryd"
	"memoryd/guidelines/revisions"
	"memoryd/store"
)

// ear is an Index that remembers what it was told.
type ear struct {
	wrote []memoryd.ToolRef
	saw   []string
	ends  int
}

func (e *ear) Wrote(ref memoryd.ToolRef) { e.wrote = append(e.wrote, ref) }

func (e *ear) Saw(_ context.Context, workspace, after string, tools []memoryd.Tool, last bool) {
	for _, t := range tools {
		if t.Workspace != workspace || t.Tool <= after {
			e.saw = append(e.saw, "wrong: "+t.Workspace+"/"+t.Tool+" after "+after)
		}
		after = t.Tool
		e.saw = append(e.saw, t.Workspace+"/"+t.Tool)
	}
	if last {
		e.ends++
	}
}

func TestAnIndexHearsOfEachGuideline(t *testing.T) {
	d := newFixture(t)
	heard := &ear{}
	d.c.Index = heard
	d.calls(30, 0, 0)
	d.refresh(revisions.IfNew)
	d.refresh(revisions.IfNew) // nothing new
	if !slices.Equal(heard.wrote, []memoryd.ToolRef{ref}) {
		t.Errorf("heard of %v", heard.wrote)
	}
	d.tell.text = "second"
	d.calls(1, 0, 0)
	d.refresh(revisions.IfNew)
	if _, err := d.c.RollBack(t.Context(), ref, 1, "ann"); err != nil || len(heard.wrote) != 3 {
		t.Errorf("heard of %d, %v", len(heard.wrote), err)
	}
}

func TestAnIndexHearsOfAllToolsInAPass(t *testing.T) {
	d := newFixture(t)
	heard := &ear{}
	d.c.Index = heard
	var want []string
	for w, n := range map[string]int{"a": 100, "b": 230, "c": 1} {
		var calls []memoryd.Call
		for i := range n {
			name := fmt.Sprintf("t%03d", i)
			want = append(want, w+"/"+name)
			calls = append(calls, memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: w, Tool: name}, Key: memoryd.CallKey{1, byte(i)},
				Evaluation: memoryd.Evaluation{State: memoryd.Judged},
			})
		}
		if _, err := d.store.Append(t.Context(), store.Batch{Workspace: w, Calls: calls, Keep: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := revisions.NewRefresher(d.c, slog.New(slog.DiscardHandler)).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	if !slices.Equal(heard.saw, want) || heard.ends != 3 {
		t.Errorf("heard of %d tools, want %d; %d ends\n%v", len(heard.saw), len(want), heard.ends, heard.saw)
	}
}
