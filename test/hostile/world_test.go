package hostile

import (
	"fmt"
	"strings"
	"testing"
)

// pads records calls of ann and bob: pads that they make, then open. Others, which nobody made, are refused.
func (w *world) pads() (made []string) {
	source := func(i int) string { return []string{"ann", "bob"}[i%2] }
	for i := range 40 {
		pad := fmt.Sprintf("%s-%d", w.word(), 10+w.dice.IntN(90))
		made = append(made, pad)
		w.addHTTP(call{source: source(i), run: fmt.Sprintf("r%d", i/4), tool: "make_pad", input: map[string]any{"pad": pad}, output: `{"done":true}`})
	}
	for i := range 60 {
		c := call{source: source(i), run: fmt.Sprintf("s%d", i/4), tool: "open_pad", input: map[string]any{"pad": made[i%len(made)]}, output: `{"text":"some text"}`}
		if i%6 > 3 {
			c.input, c.output, c.failed = map[string]any{"pad": w.unmade()}, "Error: there is no such pad", true
		}
		w.addHTTP(c)
	}
	return made
}

func (w *world) unmade() string { return fmt.Sprintf("%s-%d", w.word(), 100+w.dice.IntN(900)) }

// strange reports whether ann is warned that nobody knows a pad.
func (w *world) strange(pad string) bool {
	f := w.forecast("ann", "open_pad", map[string]any{"pad": pad})
	return strings.Contains(f.text(), "an answer or a good call had before")
}

// What a workspace knows is its own, and one source takes nothing of it away: it floods the workspace with values, of
// which only the newest are kept. The controls: what nobody made is warned of before and after.
func TestOneSourceMakesNothingStrangeThatOthersKnow(t *testing.T) {
	for n := range rounds(t, 2) {
		w := newWorld(t, true)
		made := w.pads()
		if !w.strange(w.unmade()) || w.strange(made[1]) {
			t.Fatalf("round %d, the control: what nobody made is strange %t, what was made %t", n, w.strange(w.unmade()), w.strange(made[1]))
		}
		for i := range 40 {
			var b strings.Builder
			for k := range 1100 {
				fmt.Fprintf(&b, `"x%d-%d-%d",`, i, k, w.dice.IntN(1000))
			}
			w.addHTTP(call{source: "mallory", run: fmt.Sprintf("m%d", i), tool: "list", input: map[string]any{"page": i}, output: `{"ids":[` + b.String() + `0]}`})
		}
		w.forecast("mallory", "list", map[string]any{"page": 1}) // until then its calls wait to be read
		for _, pad := range made[:10] {
			if w.strange(pad) {
				t.Errorf("round %d: %q was made, and is strange after a flood", n, pad)
			}
		}
		if !w.strange(w.unmade()) {
			t.Errorf("round %d: what nobody made is no longer strange", n)
		}
		there := w.space
		w.open()
		w.pads()
		if !w.strange(made[1]) {
			t.Errorf("round %d: a pad of %s is known in %s", n, there, w.space)
		}
	}
}
