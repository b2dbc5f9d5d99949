package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The sizes that the house keeps (see docs/design.md): what is longer tells more
// than one story.
const (
	maxFunction = 75  // lines, the comment above not counted
	maxFile     = 500 // lines
	maxRooms    = 12  // folders at the top that hold Go files
)

func TestFunctionsAndFilesAreShort(t *testing.T) {
	for _, path := range sources(t) {
		if strings.HasSuffix(filepath.Dir(path), "test") {
			continue // a list of test cases may be long
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(root, path), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n := fset.File(file.Pos()).LineCount(); n > maxFile {
			t.Errorf("%s has %d lines, more than %d", path, n, maxFile)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1; n > maxFunction {
				t.Errorf("%s: %s has %d lines, more than %d", path, f.Name.Name, n, maxFunction)
			}
		}
	}
}

func TestTheHouseHasFewRooms(t *testing.T) {
	rooms := map[string]bool{}
	for _, path := range sources(t) {
		if room, _, inside := strings.Cut(path, "/"); inside && room != "bench" { // a module of its own
			rooms[room] = true
		}
	}
	if len(rooms) > maxRooms {
		t.Errorf("%d folders at the top hold Go files, more than %d: %v", len(rooms), maxRooms, rooms)
	}
	for room := range rooms {
		if _, err := os.Stat(filepath.Join(root, room)); err != nil {
			t.Error(err)
		}
	}
}
