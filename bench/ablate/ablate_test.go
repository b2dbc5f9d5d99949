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

var words = []string{"bad", "dull"}

var unused = []string{"never", "nowhere"}

var table = []struct{ s string }{{"void"}, {"worse"}}

var kinds = []struct{ s string }{{"bad"}, {"none"}}

const (
	first = iota
	second
)

var places = []int{first: 0, second: 1}

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
	return must(s) < 0 || useful(s) && n > 0 && known(s) && places[second] > 0
}

func known(s string) bool {
	for _, k := range kinds {
		if k.s == s {
			return true
		}
	}
	return false
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
	t.Logf("figure recordings missed: %d", missed)
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
		rooms:      []room{{dir: "p", least: 6, clauses: []string{"hub"}, calls: []string{"add"}}},
		measurings: []*measuring{{dir: "p", test: "TestFigures"}},
	}}}
	if err := b.build(); err != nil {
		t.Fatal(err)
	}
	if err := b.measureAll(2); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range b.parts {
		switch {
		case p.fault != nil:
			got[p.name] = "needed"
		case differing(b.all(p.area), p.without) > 0:
			got[p.name] = signed(p.without["recordings missed"]-b.all(p.area)["recordings missed"], 0)
		default:
			got[p.name] = "nothing"
		}
		if p.name == "idle" && p.lines != 10 {
			t.Errorf("idle has %d lines with its helper", p.lines)
		}
	}
	for name, want := range map[string]string{
		"useful": "+1", "words": "+1", "unused": "nothing", "idle": "nothing", "limit": "needed",
		`hub "x"`: "nothing", `hub "bad"`: "+1", "add kept": "+1", "add void": "nothing", "table": "nothing", "table 0": "nothing",
		"kinds": "+1", "kinds 0": "+1", "kinds 1": "nothing", "places 0": "nothing", "places 1": "+1",
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

// TestAKindThatIsGoneIsAnError: else its parts would silently leave the table.
func TestAKindThatIsGoneIsAnError(t *testing.T) {
	for want, r := range map[string]room{
		"has no cases in nobody": {dir: "evaluate/rules", clauses: []string{"nobody"}},
		"calls no nobody":        {dir: "evaluate/rules", calls: []string{"nobody"}},
	} {
		b := &bench{root: "../..", dir: t.TempDir(), areas: []area{{rooms: []room{r}}}}
		if _, err := b.overlay(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
}

// TestAllKindsOfPartsAreFound looks for the parts of the real sources: every rule of the
// judge among them.
func TestAllKindsOfPartsAreFound(t *testing.T) {
	b := &bench{root: "../..", dir: t.TempDir(), areas: areas()}
	if _, err := b.overlay(); err != nil {
		t.Fatal(err)
	}
	count, names := map[string]int{}, map[string]bool{}
	for _, p := range b.parts {
		count[p.area.name+" "+string(p.kind)]++
		if names[p.key()] {
			t.Errorf("%s is a part twice", p.key())
		}
		names[p.key()] = true
	}
	for what, least := range map[string]int{
		"judge function": 10, "judge words": 10, "guidelines function": 10, "guidelines case": 8, "guidelines call": 10,
		"guidelines entry": 10, "forecast function": 10, "compaction function": 10, "compaction number": 10,
	} {
		if count[what] < least {
			t.Errorf("%d parts are %s: %v", count[what], what, count)
		}
	}
	if !names["guidelines/rules entry conditions 0"] {
		t.Error("the conditions of rules are no parts")
	}
	rules, err := os.ReadFile("../../evaluate/rules/catalogue.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`", (\w+)\}`).FindAllStringSubmatch(string(rules), -1)
	if len(found) < 8 {
		t.Errorf("the catalogue has %d rules", len(found))
	}
	for _, m := range found {
		if !names["evaluate/rules function "+m[1]] {
			t.Errorf("the rule %s is no part", m[1])
		}
	}
}
