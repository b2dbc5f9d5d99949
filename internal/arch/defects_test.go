package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile(`\bTest[A-Z]\w+`)

// The table of defects names tests that exist.
func TestTheTestsOfDefectsExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "test", "defects.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // a file of the project
		for _, name := range namedTest.FindAllString(string(text), -1) {
			known[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := namedTest.FindAllString(string(page), -1)
	for _, name := range named {
		if !known[name] {
			t.Errorf("test/defects.md names %s, which is nowhere", name)
		}
	}
	if len(named) < 20 {
		t.Errorf("only %d tests are named", len(named))
	}
}
