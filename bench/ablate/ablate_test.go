package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// planted is a program with parts of known worth, and the test that measures it.
var planted = map[string]string{
	"go.mod": "module planted\n\ngo 1.26\n",
	"p/p.go": `package p

var words = []string{"bad"}

var unused = []string{"never"}

func Judge(s string) bool { return hub(s) }

func hub(s string) bool {
	idle(s)
	var n notes
	switch s {
	case "x":
		return true
	case "bad":
		n.add("kept", 1)
		n.add("void", 0)
	}
	return must(s) < 0 || useful(s) && n > 0
}

type notes int

func (n *notes) add(_ string, k int) { *n += notes(k) }

func useful(s string) bool {
	for _, w := range words {
		if w == s {
			return true
		}
	}
	return false
}

func idle(s string) bool {
	if s == "" {
		return helper(s)
	}

	return false
}

func helper(s string) bool {
	return s == "x"
}

func must(s string) int {
	n := 0
	for range s {
		n++
	}
	return 1 / limit(n)
}

func limit(n int) int {
	if n > 1 {
		return n
	}

	return 1
}
`,
	"p/p_test.go": `package p

import "testing"

func TestFigures(t *testing.T) {
	missed := 1
	if Judge("bad") {
		missed = 0
	}
	t.Logf("all: gold by score\n    error %d %d 0", 1-missed, missed)
}
`,
}

// TestPlantedPartsAreWorthWhatTheyAre takes the parts of a small program out.
func TestPlantedPartsAreWorthWhatTheyAre(t *testing.T) {
	root := t.TempDir()
	for name, text := range planted {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{root: root, dir: t.TempDir(), areas: []area{{
		name: "judge", title: "Planted", unit: "Judge", per: "call",
		rooms: []room{{dir: "p", hubs: []string{"hub", "must"}, lists: true, clauses: []string{"hub"}, calls: []string{"add"}}},
		tests: []measuring{{"p", "TestFigures"}},
	}}}
	if err := b.build(); err != nil {
		t.Fatal(err)
	}
	if err := b.measureAll(regexp.MustCompile(""), 2); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range b.parts {
		switch {
		case p.fault != nil:
			got[p.name] = "needed"
		case differing(b.whole["judge"], p.without) > 0:
			got[p.name] = signed(p.without["missed"]-b.whole["judge"]["missed"], 0)
		default:
			got[p.name] = "nothing"
		}
		if p.name == "idle" && p.lines != 10 {
			t.Errorf("idle has %d lines with its helper", p.lines)
		}
	}
	for name, want := range map[string]string{
		"useful": "+1", "words": "+1", "unused": "nothing", "idle": "nothing", "limit": "needed",
		`hub "x"`: "nothing", `hub "bad"`: "+1", "add kept": "+1", "add void": "nothing",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	page := b.report()
	for _, line := range []string{"| `useful` (p) | 9 |", "- `idle` (p): 10 lines", "Cannot be left out alone: `limit`"} {
		if !strings.Contains(page, line) {
			t.Errorf("the page lacks %q:\n%s", line, page)
		}
	}
}

// TestAHubThatIsGoneIsAnError: else its parts would silently leave the table.
func TestAHubThatIsGoneIsAnError(t *testing.T) {
	b := &bench{root: "../..", dir: t.TempDir(), areas: []area{{rooms: []room{{dir: "evaluate/rules", hubs: []string{"nobody"}}}}}}
	if _, err := b.overlay(); err == nil || !strings.Contains(err.Error(), "has no function nobody") {
		t.Errorf("got %v", err)
	}
}

// TestEveryHubIsThere looks for the parts of the real sources.
func TestEveryHubIsThere(t *testing.T) {
	b := &bench{root: "../..", dir: t.TempDir(), areas: areas()}
	if _, err := b.overlay(); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, p := range b.parts {
		count[p.area.name+" "+string(p.kind)]++
	}
	for _, what := range []string{"judge function", "judge words", "guidelines function", "guidelines case", "guidelines call", "forecast function"} {
		if count[what] < 10 {
			t.Errorf("%d parts are %s: %v", count[what], what, count)
		}
	}
}
