package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The files that the pages link to have to be there.
func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := filepath.Glob("../../docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(append(pages, decisions...), "../../README.md", "../../CONTRIBUTING.md", "../../CHANGELOG.md")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", filepath.Base(page), m[1])
			}
		}
	}
}

// The rooms of docs/design.md have to be those that exist.
func TestTheDesignPageListsEveryPackage(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}", "memoryd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(rootFile(t, "docs/design.md"), "## Rooms")
	table, _, _ = strings.Cut(table, "\n## ")
	exist := map[string]bool{}
	for path := range strings.FieldsSeq(string(out)) {
		room := strings.TrimPrefix(path, "memoryd/")
		exist[room] = true
		if !strings.Contains(table, "`"+room+"`") {
			t.Errorf("docs/design.md has no room %s", room)
		}
	}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		for _, m := range regexp.MustCompile("`([a-z0-9/]+)`").FindAllStringSubmatch(cells[0], -1) {
			if !exist[m[1]] {
				t.Errorf("docs/design.md has a room %s, which is no package", m[1])
			}
		}
	}
}

// A page that speaks of a setting has to mean one that exists.
func TestPagesNameOnlySettingsThatExist(t *testing.T) {
	known := settings()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`MEMORYD_(?:STORE|LLM|OP|HTTP|EVALUATE|CURATE|SPEND|COMPACT|LOG)_[A-Z0-9_]+`).FindAllString(string(text), -1) {
			if !known.MatchString(name) {
				t.Errorf("%s names %s, which is no setting", filepath.Base(page), name)
			}
		}
	}
}
