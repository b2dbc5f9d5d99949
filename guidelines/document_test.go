package guidelines_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines"
)

// composer is what both writers have in common.
type composer interface {
	Compose(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int, prev *guidelines.Document) (*guidelines.Document, error)
}

func compose(t *testing.T, c composer, calls []memoryd.Call, prev *guidelines.Document) *guidelines.Document {
	t.Helper()
	d, err := c.Compose(t.Context(), toolOf(calls), calls, 20, prev)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func rulesWriter() *guidelines.Writer {
	return guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), nil)
}

// stored is d as it comes back from a store.
func stored(t *testing.T, d *guidelines.Document) *guidelines.Document {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back guidelines.Document
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

func TestADocumentRendersWhatIsWritten(t *testing.T) {
	calls := webSearch(t, 15)
	d := compose(t, rulesWriter(), calls, nil)
	content, _, err := written(t, rulesWriter(), toolOf(calls), calls, 20)
	if err != nil || d.Render() != content || stored(t, d).Render() != content {
		t.Errorf("%v\n%s\n%s", err, d.Render(), content)
	}
	grounds := map[string]bool{}
	for _, g := range d.Grounds {
		grounds[g.ID] = true
	}
	ids := map[string]bool{}
	for _, it := range d.Items {
		if ids[it.ID] {
			t.Errorf("two items %s", it.ID)
		}
		ids[it.ID] = true
		for _, e := range it.Evidence {
			if !grounds[e] {
				t.Errorf("%q rests on %s, which there is not", it.Text, e)
			}
		}
	}
}

// What went wrong and no practice avoids is named as an issue, if nothing but its number is known.
func TestFewCallsThatGaveNothingAreNoIssueThatPracticesAvoid(t *testing.T) {
	var calls []memoryd.Call
	for i := range 9 {
		output, score := fmt.Sprintf("story %d", i), 1.0
		if i%4 == 3 {
			output, score = "", 0.5
		}
		calls = append(calls, call(t, "search", i, map[string]string{"query": fmt.Sprintf("news of day %d", i)}, output, score, 1, 1))
	}
	text := compose(t, rulesWriter(), calls, nil).Render()
	if want := "## Common Issues\n- Nothing came back: 2 calls.\n"; !strings.Contains(text, want) {
		t.Errorf("%q is missing in\n%s", want, text)
	}
}

func TestAHundredRefreshesWithoutNewEvidence(t *testing.T) {
	calls := bounded()
	said := items(t, item("", nil, ruleOf(t, calls, "limit")))
	asked := 0
	m := modelFunc(func(context.Context, memoryd.Prompt) (memoryd.Completion, error) {
		asked++
		return memoryd.Completion{Text: said}, nil
	})
	model := guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), m)
	for name, c := range map[string]composer{"rules": rulesWriter(), "model": model} {
		first := compose(t, c, calls, nil)
		d := first
		for range 100 {
			d = compose(t, c, calls, stored(t, d))
		}
		if d.Render() != first.Render() || !reflect.DeepEqual(d.Items, first.Items) || len(guidelines.Diff(first, d)) > 0 {
			t.Errorf("%s: changed", name)
		}
	}
	if asked != 1 {
		t.Errorf("the model was asked %d times", asked)
	}
}

// New calls that say something of one thing leave the items on others alone.
func TestUntouchedItemsKeepTheirBytes(t *testing.T) {
	calls := bounded()
	limit := ruleOf(t, calls, "limit")
	said := items(t, item("", when("limit", "above", 100), limit))
	reworded := items(t, item("", nil, limit))
	next := said
	model := guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), modelFunc(func(context.Context, memoryd.Prompt) (memoryd.Completion, error) {
		return memoryd.Completion{Text: next}, nil
	}))
	first := compose(t, model, calls, nil)
	next = reworded
	for i := range 3 { // the same parameters, another outcome
		c := calls[1]
		c.Output, c.Key = "Error: backend is down", memoryd.CallKey{byte(i + 1)}
		c.Evaluation.Score = 0
		calls = append(calls, c)
	}
	second := compose(t, model, calls, first)
	for _, old := range first.Items {
		at := slices.IndexFunc(second.Items, func(it guidelines.Item) bool { return it.ID == old.ID })
		if at >= 0 && second.Items[at].Fingerprint == old.Fingerprint && second.Items[at].Text != old.Text {
			t.Errorf("%s changed without need: %q, %q", old.ID, old.Text, second.Items[at].Text)
		}
	}
	if first.Render() == second.Render() {
		t.Error("nothing changed at all")
	}
}

func TestABudgetTakesTheItemsOfHighestValue(t *testing.T) {
	d := compose(t, rulesWriter(), webSearch(t, 15), nil)
	last := 0
	for budget := 0; budget < 600; budget += 10 {
		text := d.Within(budget)
		if guidelines.Tokens(text) > budget {
			t.Fatalf("%d tokens for a budget of %d", guidelines.Tokens(text), budget)
		}
		if n := strings.Count(text, "\n- ") + strings.Count(text, "\n1. "); n+3 < last {
			t.Errorf("fewer items with %d tokens: %d after %d", budget, n, last)
		} else {
			last = max(last, n)
		}
	}
	if text := d.Within(80); !strings.HasPrefix(text, "## Core Function\n") {
		t.Errorf("first comes\n%s", text)
	}
	if text := d.Within(10_000); !strings.HasSuffix(text, d.Statistics) {
		t.Errorf("all of it:\n%s", text)
	}
}

func TestDiffNamesWhatChanged(t *testing.T) {
	before := compose(t, rulesWriter(), webSearch(t, 12), nil)
	after := compose(t, rulesWriter(), webSearch(t, 15), before)
	changes := guidelines.Diff(before, after)
	if len(changes) == 0 || slices.ContainsFunc(changes, func(c guidelines.Change) bool { return c.Kind != "changed" || c.Before == c.After }) {
		t.Errorf("%+v", changes)
	}
	if n := len(guidelines.Diff(nil, after)); n != len(after.Items) {
		t.Errorf("%d of %d items are new", n, len(after.Items))
	}
	if n := len(guidelines.Diff(after, nil)); n != len(after.Items) {
		t.Errorf("%d of %d items are gone", n, len(after.Items))
	}
}
