package arch

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the import rules into .golangci.yml")

// The lines of .golangci.yml between which the import rules stand.
const (
	rulesBegin = "      # begin: written by go test ./internal/arch -update\n"
	rulesEnd   = "      # end\n"
)

// rules are the tables of this package as depguard wants them, so that an editor
// says at once what the tests here say later.
func rules() string {
	var b strings.Builder
	b.WriteString("      rules:\n")
	for _, name := range slices.Sorted(maps.Keys(mayImport)) {
		var allowed []string
		for _, imp := range mayImport[name] {
			allowed = append(allowed, pathOf(imp)+"$")
		}
		for _, leaf := range leaves {
			if mayImportLeaf(name, leaf) {
				allowed = append(allowed, pathOf(leaf)+"$")
			}
		}
		fmt.Fprintf(&b, "        %s:\n          list-mode: lax\n          files: [%q, \"!$test\"]\n          allow: [%s]\n"+
			"          deny: [{pkg: memoryd, desc: the plan in internal/arch does not allow it}]\n", ruleName(name), filesOf(name), strings.Join(allowed, ", "))
	}
	for _, library := range slices.Sorted(maps.Keys(onlyIn)) {
		files := []string{`"!$test"`}
		for _, name := range onlyIn[library] {
			files = append(files, fmt.Sprintf("%q", "!"+filesOf(name)))
		}
		fmt.Fprintf(&b, "        %s:\n          list-mode: lax\n          files: [%s]\n          deny: [{pkg: %s, desc: only %s may}]\n",
			ruleName(library), strings.Join(files, ", "), library, strings.Join(onlyIn[library], " and "))
	}
	return b.String()
}

func pathOf(name string) string {
	if name == module {
		return module
	}
	return module + "/" + name
}

// filesOf is the pattern of a package's files.
func filesOf(name string) string {
	if name == module {
		return "${base-path}/*.go"
	}
	return "${base-path}/" + name + "/*.go"
}

func ruleName(name string) string { return strings.NewReplacer("/", "-", ".", "-").Replace(name) }

func TestTheLinterKnowsThePlan(t *testing.T) {
	path := filepath.Join(root, ".golangci.yml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), rulesBegin)
	there, after, ok2 := strings.Cut(rest, rulesEnd)
	if !ok || !ok2 {
		t.Fatal(".golangci.yml has lost the markers of the import rules")
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+rulesBegin+rules()+rulesEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if there != rules() {
		t.Error(".golangci.yml does not have the plan of this package: run go test ./internal/arch -update")
	}
}
