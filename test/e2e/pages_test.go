package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is one that people read: its path from the root, and its text.
type page struct{ name, text string }

// pages are those of the documentation and of the root.
func pages(t *testing.T) (all []page) {
	t.Helper()
	for _, form := range []string{"../../*.md", "../../docs/*.md", "../../docs/*/*.md"} {
		names, err := filepath.Glob(form)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			name = strings.TrimPrefix(filepath.ToSlash(name), "../../")
			all = append(all, page{name, rootFile(t, name)})
		}
	}
	if len(all) < 40 {
		t.Fatalf("only %d pages", len(all))
	}
	return all
}

// The files and headings that the pages link to have to be there.
func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)]*))?\)`).FindAllStringSubmatch(p.text, -1) {
			target := filepath.Join(filepath.Dir("../../"+p.name), m[1])
			if m[1] == "" {
				target = "../../" + p.name
			}
			text, err := os.ReadFile(target)
			if _, statErr := os.Stat(target); statErr != nil {
				t.Errorf("%s links to %s, which is not there", p.name, m[1])
			} else if m[2] != "" && (err != nil || !slices.Contains(anchors(string(text)), m[2])) {
				t.Errorf("%s links to %s#%s, which is no heading", p.name, m[1], m[2])
			}
		}
	}
}

// anchors are the headings of a page, as links name them.
func anchors(text string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// A page that says which test holds a promise has to name one that there is.
func TestPagesNameOnlyTestsThatExist(t *testing.T) {
	exist := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // of the repository
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			exist[string(m[1])] = true
		}
		return err
	})
	if err != nil || len(exist) < 500 {
		t.Fatalf("%d tests are found, %v", len(exist), err)
	}
	named := 0
	for _, p := range pages(t) {
		for _, m := range regexp.MustCompile("`(Test[A-Z]\\w+)`").FindAllStringSubmatch(p.text, -1) {
			named++
			if !exist[m[1]] {
				t.Errorf("%s names %s, which is no test", p.name, m[1])
			}
		}
	}
	if named < 15 {
		t.Errorf("the pages name only %d tests", named)
	}
}

// The site's navigation holds every page once, and nothing else.
func TestTheNavigationHoldsEveryPage(t *testing.T) {
	site := rootFile(t, "mkdocs.yml")
	named := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m): (\S+\.md)$`).FindAllStringSubmatch(site, -1) {
		named[m[1]]++
	}
	for _, p := range pages(t) {
		name, isDoc := strings.CutPrefix(p.name, "docs/")
		if isDoc && named[name] != 1 {
			t.Errorf("mkdocs.yml names %s %d times", name, named[name])
		}
		if lines := strings.Count(p.text, "\n"); isDoc && lines > 200 && !slices.Contains(longPages, name) {
			t.Errorf("%s has %d lines; 200 are the most", p.name, lines)
		}
		if isDoc {
			delete(named, name)
		}
	}
	for name := range named {
		t.Errorf("mkdocs.yml names %s, which is not there", name)
	}
}

// longPages are generated reference.
var longPages = []string{"commands.md"}

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
	for _, p := range pages(t) {
		for _, name := range regexp.MustCompile(`MEMORYD_(?:STORE|LLM|OP|HTTP|EVALUATE|CURATE|SPEND|COMPACT|LOG)_[A-Z0-9_]+`).FindAllString(p.text, -1) {
			if !known.MatchString(name) {
				t.Errorf("%s names %s, which is no setting", p.name, name)
			}
		}
	}
}
