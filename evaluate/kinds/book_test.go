package kinds_test

import (
	"encoding/json"
	"testing"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/internal/reading"
)

var when = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// book holds labels of calls whose input is a command and whose output is the same.
func label(by, source, command, output string, score float64) kinds.Label {
	k := kindOf(command, output)
	return kinds.Label{IDs: k.IDs, Score: score, By: by, Source: source, Call: memoryd.CallKey{byte(len(command)), byte(len(source))}, At: when}
}

func kindOf(command, output string) reading.Kind {
	input, _ := json.Marshal(map[string]string{"command": command})
	return reading.KindOf(input, output)
}

func bookOf(labels ...kinds.Label) *kinds.Book {
	b := &kinds.Book{}
	for _, l := range labels {
		b.Put(l.IDs[0], kinds.Add(b.Of(l.IDs[0]), l))
	}
	return b
}

func TestAModelsVerdictTeachesItsSourceAlone(t *testing.T) {
	const out = "order 17 is on its way"
	mallory := label("llm:m", "mallory", "track 17", out, 1)
	k := kindOf("track 99", "order 99 is on its way")
	if _, ok := bookOf(mallory).Decide(&k, "alice"); ok {
		t.Error("one source taught another one")
	}
	if v, ok := bookOf(mallory).Decide(&k, "mallory"); !ok || v.Score != 1 {
		t.Error("a source does not learn from its own calls")
	}
	if v, ok := bookOf(mallory, label("llm:m", "bob", "track 18", out, 1)).Decide(&k, "alice"); !ok || v.Score != 1 {
		t.Error("what two sources agree on does not hold for a third")
	}
	if v, ok := bookOf(mallory, label("person:eve", "", "track 18", out, 0)).Decide(&k, "mallory"); !ok || v.Score != 0 {
		t.Error("a person's word does not hold for all")
	}
}

func TestLabelsThatContradictEachOtherSplitTheirKind(t *testing.T) {
	const out = "0"
	good, bad := label("llm:m", "", "wc -l x.txt", out, 1), label("llm:m", "", "grep -c y z.txt", out, 0)
	b := bookOf(good, bad)
	for command, want := range map[string]float64{"wc -l other.txt": 1, "grep -c a b.txt": 0} {
		k := kindOf(command, out)
		if v, ok := b.Decide(&k, ""); !ok || v.Score != want || !v.Split {
			t.Errorf("%s: %v %v, want %v", command, v.Score, ok, want)
		}
	}
	k := kindOf("awk x y.txt", out)
	if v, ok := b.Decide(&k, ""); ok {
		t.Errorf("of a kind with contradicting labels something is known: %v", v)
	}
}
