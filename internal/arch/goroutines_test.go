package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the tree, seen from this folder.
const root = "../.."

// mayStartGoroutines are the folders whose goroutines end no server by a panic:
// lifecycle itself, and programs and servers that only tests and measurements
// run.
var mayStartGoroutines = []string{"internal/lifecycle", "bench", "test", "store/storetest"}

// notYet are files that are still to be moved to internal/lifecycle.
var notYet = []string{}

// sources gives the Go files of the tree that are not tests.
func sources(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		switch {
		case d.IsDir() && (name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			paths = append(paths, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 100 {
		t.Fatalf("only %d files were found", len(paths))
	}
	return paths
}

// A panic in a goroutine ends the process unless something recovers at its edge.
// internal/lifecycle does; so it alone starts goroutines.
func TestOnlyLifecycleStartsGoroutines(t *testing.T) {
	for _, path := range sources(t) {
		if slices.ContainsFunc(mayStartGoroutines, func(dir string) bool { return strings.HasPrefix(path, dir+"/") }) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := startsGoroutine(file)
		switch waived := slices.Contains(notYet, path); {
		case found != "" && !waived:
			t.Errorf("%s has %s: use internal/lifecycle, whose goroutines survive a panic", path, found)
		case found == "" && waived:
			t.Errorf("%s starts no goroutine any more: take it off the list", path)
		}
	}
}

// startsGoroutine names the first thing that starts a goroutine without an edge:
// a go statement, sync.WaitGroup.Go (told by its argument, a function of nothing
// that returns nothing), errgroup and singleflight.
func startsGoroutine(file *ast.File) (found string) {
	for _, imp := range file.Imports {
		if path := strings.Trim(imp.Path.Value, `"`); path == "golang.org/x/sync/errgroup" || path == "golang.org/x/sync/singleflight" {
			return path
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = "a go statement"
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Go" || len(n.Args) != 1 {
				break
			}
			if f, ok := n.Args[0].(*ast.FuncLit); ok && f.Type.Params.NumFields() == 0 && f.Type.Results.NumFields() == 0 {
				found = "sync.WaitGroup.Go"
			}
		}
		return found == ""
	})
	return found
}

func TestWhatStartsAGoroutineIsFound(t *testing.T) {
	for body, want := range map[string]bool{
		`func f() { go g() }`:                                       true,
		`func f() { go func() {}() }`:                               true,
		`func f() { var wg sync.WaitGroup; wg.Go(func() {}) }`:      true,
		`import _ "golang.org/x/sync/errgroup"`:                     true,
		`import _ "golang.org/x/sync/singleflight"`:                 true,
		`func f() { group.Go(func() error { return nil }) }`:        false,
		`func f() { w.Go(func(context.Context) { return }) }`:       false,
		`func f() { lifecycle.Go(ctx, log, "x", func() error {}) }`: false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+body, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := startsGoroutine(file) != ""; got != want {
			t.Errorf("%s: found is %v, want %v", body, got, want)
		}
	}
}
