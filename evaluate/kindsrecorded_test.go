package evaluate

import (
	"path/filepath"
	"strings"
	"testing"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/evaluate/rules"
	"memoryd/internal/reading"
	"memoryd/internal/recordtest"
)

// scores are what labels stand for.
var scores = map[string]float64{"error": 0, "partial": 0.5, "ok": 1}

// tally counts what a label of each kind gets right.
type tally struct{ calls, asked, later, right, hit, alarm, miss int }

func (c *tally) see(failed bool, gold string) {
	c.later++
	was := gold == "error"
	switch {
	case failed && was:
		c.hit++
	case failed:
		c.alarm++
	case was:
		c.miss++
	}
	if failed == was {
		c.right++
	}
}

func (c *tally) log(t *testing.T, name string) (right, precision, recall float64) {
	right, precision, recall = part(c.right, c.later), part(c.hit, c.hit+c.alarm), part(c.hit, c.hit+c.miss)
	t.Logf("%-20s %5d calls, asked %4d; right %.4f, precision %.4f, recall %.4f", name, c.calls, c.asked, right, precision, recall)
	return right, precision, recall
}

func part(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// The label of the first call of each kind, given to all later ones.
func TestOneLabelHoldsForAKind(t *testing.T) {
	var all tally
	for _, file := range recordtest.Files(t) {
		var c tally
		books := map[memoryd.ToolRef]*kinds.Book{}
		for _, r := range labelled(t, file) {
			b := books[r.ToolRef]
			if b == nil {
				b = &kinds.Book{}
				books[r.ToolRef] = b
			}
			k := reading.KindOf(r.Input, r.Output)
			c.calls++
			if v, ok := b.Decide(&k, ""); ok {
				c.see(v.Score == 0, r.Gold)
				if testing.Verbose() && (v.Score == 0) != (r.Gold == "error") {
					t.Logf("gold %s: %s %s %.100q => %.200q", r.Gold, k.Template, r.Tool, r.Input, r.Output)
				}
				continue
			}
			c.asked++
			b.Put(k.ID(), kinds.Add(b.Of(k.ID()), kinds.Label{IDs: k.IDs, Score: scores[r.Gold], By: "person:x", Call: r.Key}))
		}
		c.log(t, name(file))
		all = tally{all.calls + c.calls, all.asked + c.asked, all.later + c.later, all.right + c.right, all.hit + c.hit, all.alarm + c.alarm, all.miss + c.miss}
	}
	if right, _, _ := all.log(t, "all"); right < 0.99 {
		t.Errorf("one label a kind is right for %.4f of later calls, want .99", right)
	}
}

// With one label for each kind that the rules are not sure of.
func TestOneLabelForEachKindThatIsUnsure(t *testing.T) {
	j := rules.New()
	var all tally
	for _, file := range recordtest.Files(t) {
		var c tally
		books, profiles := map[memoryd.ToolRef]*kinds.Book{}, map[memoryd.ToolRef]*rules.Profile{}
		for _, r := range labelled(t, file) {
			b, p := books[r.ToolRef], profiles[r.ToolRef]
			if b == nil {
				b, p = &kinds.Book{}, &rules.Profile{}
				books[r.ToolRef], profiles[r.ToolRef] = b, p
			}
			c.calls++
			v := j.Judge(&r.Call, p)
			if !v.Sure {
				k := reading.KindOf(r.Input, r.Output)
				known, ok := b.Decide(&k, "")
				if !ok {
					c.asked++
					known.Label = kinds.Label{IDs: k.IDs, Score: scores[r.Gold], By: "person:x", Call: r.Key}
					b.Put(k.ID(), kinds.Add(b.Of(k.ID()), known.Label))
				}
				v.Score = known.Score
			}
			c.see(v.Score == 0, r.Gold)
			r.Evaluation = v.Evaluation
			p.Observe(&r.Call, v.Doubt)
		}
		c.log(t, name(file))
		all = tally{all.calls + c.calls, all.asked + c.asked, all.later + c.later, all.right + c.right, all.hit + c.hit, all.alarm + c.alarm, all.miss + c.miss}
	}
	_, precision, recall := all.log(t, "all")
	if precision < 0.999 || recall < 0.985 {
		t.Errorf("precision %.4f, recall %.4f; want .999 and .985", precision, recall)
	}
}

func name(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "calls_"), ".jsonl.gz")
}

// labelled are the calls whose label a judge could see.
func labelled(t *testing.T, file string) (calls []recordtest.Call) {
	for _, r := range recordtest.Read(t, file) {
		if r.Gold == "" || r.Gold == "error" && r.Success && strings.TrimSpace(r.Output) == "" {
			continue
		}
		calls = append(calls, r)
	}
	return calls
}
