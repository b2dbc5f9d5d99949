package revisions_test

import (
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/revisions"
)

func (d *fixture) content() string {
	d.Helper()
	tool, err := d.store.Tool(d.Context(), ref)
	if err != nil {
		d.Fatal(err)
	}
	return tool.Guideline.Content
}

func (d *fixture) says(want string, others ...string) {
	d.Helper()
	text := d.content()
	if !strings.Contains(text, want) {
		d.Errorf("the guideline does not say %q:\n%s", want, text)
	}
	for _, gone := range others {
		if strings.Contains(text, gone) {
			d.Errorf("the guideline says %q:\n%s", gone, text)
		}
	}
}

func (d *fixture) anew(text string) {
	d.Helper()
	d.tell.text = text
	d.calls(1, 0, 0)
	if _, err := d.c.Refresh(d.Context(), ref, revisions.Always); err != nil {
		d.Fatal(err)
	}
}

func (d *fixture) edit(c revisions.Decision) string {
	d.Helper()
	if c.By = "ann"; c.Kind == "" {
		c.Kind = revisions.Set
	}
	_, line, err := d.c.Decide(d.Context(), ref, c)
	if err != nil {
		d.Fatal(err)
	}
	return line
}

func (d *fixture) decide(kind, line string) (revisions.Revision, error) {
	e, _, err := d.c.Decide(d.Context(), ref, revisions.Decision{Kind: kind, Line: line, By: "ann"})
	return e, err
}

func (d *fixture) version(kind string, number int64) (revisions.Revision, error) {
	e, _, err := d.c.Decide(d.Context(), ref, revisions.Decision{Kind: kind, Revision: number, By: "ann"})
	return e, err
}

func (d *fixture) waiting(n int) []revisions.Pending {
	d.Helper()
	list, err := d.c.Pending(d.Context(), ref)
	if err != nil || len(list) != n {
		d.Fatalf("%d statements wait, not %d (%v): %+v", len(list), n, err, list)
	}
	return list
}

func TestALineOfAPersonIsMarkedKeptAndNeverOverruledSilently(t *testing.T) {
	d := newFixture(t)
	d.anew("8 of 10 failed")
	d.edit(revisions.Decision{Kind: revisions.Set, Line: "item-1", Text: "Ask ann first"})
	d.says("Ask ann first", "8 of 10 failed")
	all, err := d.c.List(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if it := all[0].Document.Items[0]; it.Author != "person:ann" || it.Unedited != "8 of 10 failed" || it.UneditedAuthor != "" && it.UneditedAuthor != "rules" {
		t.Errorf("the line is not marked: %+v", it)
	}
	d.anew("9 of 11 failed") // only the figures are others
	d.says("Ask ann first", "9 of 11")
	if d.tell.before == nil || d.tell.before.Items[0].Text != "8 of 10 failed" {
		t.Errorf("who writes is shown the person's line as its own: %+v", d.tell.before)
	}
	d.waiting(0)
	d.anew("All is well now")
	d.says("Ask ann first", "All is well now")
	p := d.waiting(1)[0]
	if p.Text != "All is well now" || p.Published != "Ask ann first" {
		t.Errorf("what waits is %+v", p)
	}
	if _, err := d.decide(revisions.Refuse, p.ID); err != nil {
		t.Fatal(err)
	}
	d.waiting(0)
	d.anew("All is well now")
	d.waiting(0) // refused once is refused
	d.says("Ask ann first")
	if _, err := d.decide(revisions.Wait, p.ID); err != nil {
		t.Fatal(err)
	}
	p = d.waiting(1)[0]
	if _, err := d.decide(revisions.Accept, p.ID); err != nil {
		t.Fatal(err)
	}
	d.says("All is well now", "Ask ann first")
	d.anew("All is well now")
	d.says("All is well now", "Ask ann first")
	if _, err := d.decide(revisions.Wait, p.ID); err != nil {
		t.Fatal(err)
	}
	d.says("Ask ann first", "All is well now")
}

func TestEachChangeOfALineCanBeUndone(t *testing.T) {
	d := newFixture(t)
	d.anew("first")
	d.edit(revisions.Decision{Kind: revisions.Set, Line: "item-1", Text: "second"})
	d.edit(revisions.Decision{Kind: revisions.Remove, Line: "item-1"})
	d.says("", "first", "second")
	added := d.edit(revisions.Decision{Kind: revisions.Set, Section: "Best Practices", Text: "Be kind"})
	d.says("1. Be kind", "first")
	d.anew("first")
	d.says("1. Be kind", "first", "second")
	for _, step := range []struct{ line, says string }{{added, ""}, {"item-1", "second"}, {"item-1", "first"}} {
		if _, err := d.decide(revisions.Undo, step.line); err != nil {
			t.Fatal(err)
		}
		d.says(step.says, "Be kind")
	}
	if _, err := d.decide(revisions.Undo, "item-1"); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("nothing is left to undo, and it says %v", err)
	}
}

func TestLinesOfPeopleOutlastRollbackPinAndReview(t *testing.T) {
	d := newFixture(t)
	d.anew("first")
	d.anew("second")
	d.edit(revisions.Decision{Kind: revisions.Set, Section: "Best Practices", Text: "Be kind"})
	d.calls(40, 0, 2)
	d.calls(40, 40, 3) // after the edit all went wrong, but a person did it
	if why, err := d.c.Review(t.Context(), ref); err != nil || why != "" {
		t.Errorf("the review took a person's line back: %q %v", why, err)
	}
	if _, err := d.version(revisions.Pin, 1); err != nil {
		t.Fatal(err)
	}
	d.says("first", "second")
	d.says("Be kind")
	d.edit(revisions.Decision{Kind: revisions.Set, Line: "item-1", Text: "mine"})
	tool, err := d.store.Tool(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := d.c.PinnedVersion(t.Context(), ref)
	if err != nil || pinned != tool.Guideline.Revision {
		t.Errorf("version %d is pinned after an edit of the pinned one, which is now %d (%v)", pinned, tool.Guideline.Revision, err)
	}
}

func TestAnEditMustBeALine(t *testing.T) {
	d := newFixture(t)
	d.calls(1, 0, 0)
	if _, _, err := d.c.Decide(t.Context(), ref, revisions.Decision{Kind: revisions.Set, Section: "Best Practices", Text: "x"}); !memoryd.IsKind(err, memoryd.Conflict) {
		t.Errorf("without a guideline: %v", err)
	}
	d.anew("first")
	for name, c := range map[string]struct {
		change revisions.Decision
		kind   memoryd.Kind
	}{
		"empty":       {revisions.Decision{Kind: revisions.Set, Line: "item-1", Text: "  "}, memoryd.Invalid},
		"long":        {revisions.Decision{Kind: revisions.Set, Line: "item-1", Text: strings.Repeat("x", 601)}, memoryd.Invalid},
		"two lines":   {revisions.Decision{Kind: revisions.Set, Line: "item-1", Text: "a\nb"}, memoryd.Invalid},
		"heading":     {revisions.Decision{Kind: revisions.Set, Line: "item-1", Text: "## Best Practices"}, memoryd.Invalid},
		"no section":  {revisions.Decision{Kind: revisions.Set, Section: "Poems", Text: "x"}, memoryd.Invalid},
		"nobody's":    {revisions.Decision{Kind: revisions.Set, Line: "item-9", Text: "x"}, memoryd.NotFound},
		"out of none": {revisions.Decision{Kind: revisions.Remove}, memoryd.Invalid},
	} {
		if _, _, err := d.c.Decide(t.Context(), ref, c.change); !memoryd.IsKind(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range 50 {
		d.edit(revisions.Decision{Kind: revisions.Set, Section: "Best Practices", Text: "line " + strings.Repeat("i", i+1)})
	}
	if _, _, err := d.c.Decide(t.Context(), ref, revisions.Decision{Kind: revisions.Set, Section: "Best Practices", Text: "one more"}); !memoryd.IsKind(err, memoryd.Conflict) {
		t.Errorf("the 51st line: %v", err)
	}
}
