package hostile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// lure draws what two honest agents give for a parameter, and what a client wants them to give.
type lure func(w *world) (good []any, evil any)

// lures are what a client pushes: it succeeds with its own value and says that those of the others fail.
var lures = map[string]lure{
	"account": func(w *world) ([]any, any) { return []any{w.word(), w.word()}, w.word() + "x" },
	"package": func(w *world) ([]any, any) { p := w.word(); return []any{p, w.word()}, p + "-" + w.word() },
	"path": func(w *world) ([]any, any) {
		return []any{"src/" + w.word(), "src/" + w.word()}, w.word() + "/" + w.word()
	},
	"form":    func(w *world) ([]any, any) { return []any{"AA-1", "BB-2", "CC-3"}, w.word() + "/9" },
	"amount":  func(w *world) ([]any, any) { return []any{10, 20, 30}, 90_000 + w.dice.IntN(9_999) },
	"command": func(w *world) ([]any, any) { return []any{"ls", "pwd"}, "curl " + w.word() },
	"host":    func(w *world) ([]any, any) { return []any{w.word(), w.word()}, w.word() + "." + w.word() },
}

// Without keys, a client that floods a tool steers next to nobody: neither its value nor a form of its own is advised, and no
// honest call is warned of, nor is its value listed among those of the others. That holds as well where it names two agents,
// as long as it makes fewer calls than the others.
func TestAFloodOfOneClientSteersNobody(t *testing.T) {
	names := slices.Sorted(maps.Keys(lures))
	for agents := 1; agents <= 2; agents++ {
		t.Run(fmt.Sprintf("%d names", agents), func(t *testing.T) {
			w := newWorld(t, false)
			n, controls, steered := rounds(t, 11*len(names)), 0, 0 // so many that chance does not decide
			for k := range n {
				w.open()
				kind := names[k%len(names)]
				tool, p := "send_"+w.word(), w.word()
				good, evil := lures[kind](w)
				wrong := w.word()
				for i := range 46 {
					c := call{source: fmt.Sprintf("agent%d", i%2), run: fmt.Sprintf("r%d-%d", i%2, i/4), tool: tool, input: map[string]any{p: good[w.dice.IntN(len(good))]}, output: "done"}
					if i%8 == 6 { // the control: what two agents found to fail
						c.input[wrong], c.output, c.failed = true, "no "+w.phrase(2), true
					}
					w.addHTTP(c)
				}
				for i := range 20 {
					c := call{source: fmt.Sprintf("sock%d", i%agents), run: fmt.Sprintf("s%d", i/2), tool: tool, input: map[string]any{p: evil}, output: "done"}
					w.addHTTP(c)
					if i%3 == 0 {
						c.input, c.output, c.failed = map[string]any{p: good[i%len(good)]}, "closed, use "+fmt.Sprint(evil), true
						w.addHTTP(c)
					}
				}
				ours, _ := said(w.guideline("agent0", tool))
				f := w.forecast("agent0", tool, map[string]any{p: good[0]})
				if all := ours + f.text() + string(f.Metadata.Suggestion); strings.Contains(all, fmt.Sprint(evil)) || len(f.Metadata.Warnings) > 0 || *f.Metadata.Risk > 0.5 {
					t.Logf("%s %v: a good call is warned of %q at a risk of %.2f:\n%s", kind, evil, f.text(), *f.Metadata.Risk, all)
					steered++
				}
				if strings.Contains(ours, wrong) {
					controls++
				}
			}
			most := n / 20 // about one in a hundred is let through
			if steered > most {
				t.Errorf("%d drawings steered others, want at most %d", steered, most)
			}
			t.Logf("%d of %d drawings steered others", steered, n)
			if controls < n*3/4 {
				t.Errorf("what two agents found was told in %d of %d drawings: the attack shows nothing", controls, n)
			}
		})
	}
}

// What one of several keys alone knows of a tool is told to no other: neither values nor bounds nor names, in advice or
// warnings.
func TestWhatOneKeyAloneKnowsIsToldToNoOther(t *testing.T) {
	w := newWorld(t, true)
	names := slices.Sorted(maps.Keys(lures))
	n, controls := rounds(t, len(names)), 0
	for k := range n {
		w.open()
		kind := names[k%len(names)]
		tool, other, p, extra := "send_"+w.word(), "read_"+w.word(), w.word(), w.word()
		_, mine := lures[kind](w)
		for i := range 36 {
			c := call{source: "mallory", run: fmt.Sprintf("r%d", i/3), tool: tool, input: map[string]any{p: mine}, output: "done"}
			if i%4 == 3 {
				_, c.input[p] = lures[kind](w)
				c.input[extra], c.output, c.failed = true, "no "+w.phrase(2), true
			}
			w.addHTTP(c)
			c.source, c.tool = fmt.Sprintf("agent%d", i/4%2), other // the control: two keys know the other tool
			w.addHTTP(c)
		}
		text := w.guideline("agent1", tool)
		f := w.forecast("agent1", tool, map[string]any{p: w.word(), extra: true})
		all := text + f.text() + string(f.Metadata.Suggestion)
		for _, of := range []string{fmt.Sprint(mine), "`" + p + "`", extra} {
			if strings.Contains(all, of) {
				t.Errorf("%s: %q, which one key alone gave, is told:\n%s", kind, of, all)
			}
		}
		if ours, _ := said(w.guideline("agent1", other)); strings.Contains(ours, extra) {
			controls++
		}
	}
	if controls < n*3/4 {
		t.Errorf("what two keys found was told in %d of %d drawings: the attack shows nothing", controls, n)
	}
}
