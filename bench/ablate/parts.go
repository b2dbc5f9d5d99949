package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// kind says what a part is.
type kind string

// The kinds of parts.
const (
	function kind = "function" // gives nothing
	list     kind = "words"    // is empty
	entry    kind = "entry"    // of a list, is not there
	number   kind = "number"   // is 1, a share 0
	clause   kind = "case"     // of a switch: its function gives nothing
	call     kind = "call"     // is not made
)

// part is what can be left out.
type part struct {
	area  *area
	room  *room
	kind  kind
	name  string
	title string // what people read; empty: the name
	lines int
	node  ast.Node // of a case or a call

	entries bool  // of the list are parts
	of      *part // the list of an entry

	skip    bool
	without figures
	fault   error
}

// key names a part in the switched sources.
func (p *part) key() string { return p.room.dir + " " + string(p.kind) + " " + p.name }

// counted reports whether a measurement counts how often it comes to the part.
func (p *part) counted() bool {
	return p.kind == function || p.kind == clause || p.kind == call
}

// shown is the name that people read.
func (p *part) shown() string { return cmp.Or(p.title, p.name) }

// source is a parsed package.
type source struct {
	fset  *token.FileSet
	files map[string]*ast.File // by path
	decls map[string]ast.Node  // functions, as Type.Name or Name, and variables

	speaks map[string][]string // see named
}

func parse(dir string) (*source, error) {
	s := &source{fset: token.NewFileSet(), files: map[string]*ast.File{}, decls: map[string]ast.Node{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir:
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		s.files[path], err = parser.ParseFile(s.fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range s.files {
		for _, d := range f.Decls {
			s.declare(d)
		}
	}
	return s, nil
}

func (s *source) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		s.decls[nameOf(d)] = d
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
				for _, name := range v.Names {
					s.decls[name.Name] = v
				}
			}
		}
	}
}

// nameOf is Type.Name of a method, Name of a function.
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

// partsOf lists the parts of a room.
func (s *source) partsOf(a *area, r *room) (parts []*part, err error) {
	add := func(p part) *part {
		p.area, p.room = a, r
		parts = append(parts, &p)
		return &p
	}
	for _, name := range sortedKeys(s.decls) {
		switch d := s.decls[name].(type) {
		case *ast.FuncDecl:
			if lines := s.own(name); name != a.unit && canBeLeftOut(d) && lines >= r.least {
				add(part{kind: function, name: name, lines: lines})
			}
		case *ast.ValueSpec:
			if len(d.Values) != 1 || !isList(d.Values[0]) {
				continue
			}
			entries := s.entriesOf(name, d.Values[0])
			l := add(part{kind: list, name: name, lines: s.lineCount(d), entries: len(entries) > 0})
			for _, e := range entries {
				e.of = l
				add(e)
			}
		}
	}
	clauses, err := s.clausesOf(r)
	if err != nil {
		return nil, err
	}
	calls, err := s.callsOf(r)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Concat(clauses, calls) {
		p.lines = s.lineCount(p.node)
		add(p)
	}
	if r.numbers {
		for _, name := range s.rankings() {
			add(part{kind: number, name: name, lines: 1})
		}
	}
	return parts, nil
}

// rankings are the constants that are no whole numbers.
func (s *source) rankings() (names []string) {
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			g, ok := n.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				return true
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec) //nolint:forcetypeassert // of constants
				if len(v.Values) != 1 {
					continue
				}
				if l, ok := v.Values[0].(*ast.BasicLit); ok && l.Kind == token.FLOAT {
					names = append(names, v.Names[0].Name)
				}
			}
			return true
		})
	}
	slices.Sort(names)
	return names
}

// clausesOf lists the cases of the switches of functions.
func (s *source) clausesOf(r *room) (parts []part, err error) {
	for _, name := range r.clauses {
		before := len(parts)
		if d := s.decls[name]; d != nil {
			ast.Inspect(d, func(n ast.Node) bool {
				if c, ok := n.(*ast.CaseClause); ok && len(c.List) > 0 && len(c.Body) > 0 {
					parts = append(parts, part{kind: clause, name: name + " " + types.ExprString(c.List[0]), node: c})
				}
				return true
			})
		}
		if len(parts) == before {
			return nil, fmt.Errorf("%s has no cases in %s: name what tells its kinds apart now", r.dir, name)
		}
	}
	return parts, nil
}

// callsOf lists the calls of methods as statements.
func (s *source) callsOf(r *room) (parts []part, err error) {
	seen := map[string]int{}
	for _, decl := range sortedKeys(s.decls) {
		ast.Inspect(s.decls[decl], func(n ast.Node) bool {
			st, ok := n.(*ast.ExprStmt)
			if !ok {
				return true
			}
			c, ok := st.X.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := c.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(r.calls, f.Sel.Name) {
				return true
			}
			seen[f.Sel.Name]++
			name := f.Sel.Name + " " + about(c.Args)
			if seen[name]++; seen[name] > 1 {
				name += fmt.Sprintf(" %d", seen[name])
			}
			parts = append(parts, part{kind: call, name: name, node: st})
			return true
		})
	}
	for _, name := range r.calls {
		if seen[name] == 0 {
			return nil, fmt.Errorf("%s calls no %s: name what says its statements now", r.dir, name)
		}
	}
	return parts, nil
}

// about is the last text among arguments, else the last of them as it is written.
func about(args []ast.Expr) string {
	for _, a := range slices.Backward(args) {
		if l, ok := a.(*ast.BasicLit); ok && l.Kind == token.STRING {
			return strings.Trim(l.Value, `"`)
		}
	}
	if len(args) == 0 {
		return ""
	}
	return types.ExprString(args[len(args)-1])
}

// constant finds the declaration of a number.
func (s *source) constant(name string) (found *ast.ValueSpec) {
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 && v.Names[0].Name == name {
				found = v
			}
			return found == nil
		})
	}
	return found
}

// canBeLeftOut reports whether a function may give the zero of its results: one that
// gives a pointer, or takes part in the form of a text, may not.
func canBeLeftOut(f *ast.FuncDecl) bool {
	if f.Body == nil || f.Type.TypeParams != nil {
		return false
	}
	if f.Type.Results == nil {
		return true
	}
	for _, r := range f.Type.Results.List {
		if _, pointer := r.Type.(*ast.StarExpr); pointer {
			return false
		}
	}
	return true
}

// isList reports whether a value is a list: of words, or a table.
func isList(v ast.Expr) bool {
	switch v := v.(type) {
	case *ast.CompositeLit:
		switch t := v.Type.(type) {
		case *ast.ArrayType:
			return t.Len == nil && len(v.Elts) > 1
		case *ast.MapType:
			return len(v.Elts) > 1
		}
	case *ast.CallExpr:
		f, ok := v.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Words"
	}
	return false
}

// entriesOf lists the entries of a table, each named by its key, or by the first text in it. A
// list of plain values has none.
func (s *source) entriesOf(name string, v ast.Expr) (parts []part) {
	lit, ok := v.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	if _, isMap := lit.Type.(*ast.MapType); isMap {
		return nil
	}
	for i, e := range lit.Elts {
		if _, plain := e.(*ast.BasicLit); plain {
			return nil
		}
		p := part{kind: entry, name: fmt.Sprintf("%s %d", name, i), lines: s.lineCount(e)}
		if keyed, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := keyed.Key.(*ast.Ident); ok {
				p.title = name + " " + key.Name
			}
		}
		ast.Inspect(e, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && p.title == "" {
				p.title = name + " " + strings.Trim(l.Value, "`\"")
			}
			return p.title == ""
		})
		parts = append(parts, p)
	}
	return parts
}

func (s *source) lineCount(n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
}

// alone reports whether no other declaration has the last name of this one: who is
// meant by a method's name is not known here.
func (s *source) alone(name string) bool {
	n := 0
	for other := range s.decls {
		n += btoi(other[strings.LastIndexByte(other, '.')+1:] == name[strings.LastIndexByte(name, '.')+1:])
	}
	return n == 1
}

// named lists the declarations of the package that one speaks of. A method is taken
// for all of its name.
func (s *source) named(of string) []string {
	if s.speaks == nil {
		s.speaks = map[string][]string{}
		byLast := map[string][]string{}
		for _, name := range sortedKeys(s.decls) {
			last := name[strings.LastIndexByte(name, '.')+1:]
			byLast[last] = append(byLast[last], name)
		}
		for name, d := range s.decls {
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					s.speaks[name] = append(s.speaks[name], byLast[id.Name]...)
				}
				return true
			})
		}
	}
	return s.speaks[of]
}

// own counts the lines of a declaration and of those that nothing else needs.
func (s *source) own(name string) (lines int) {
	if !s.alone(name) {
		return s.lineCount(s.decls[name])
	}
	reached := map[string]bool{name: true} // and not followed
	var follow func(string)
	follow = func(at string) {
		if reached[at] {
			return
		}
		reached[at] = true
		for _, next := range s.named(at) {
			follow(next)
		}
	}
	for other := range s.decls {
		if ast.IsExported(other[strings.LastIndexByte(other, '.')+1:]) {
			follow(other)
		}
	}
	mine := map[string]bool{}
	var count func(string)
	count = func(at string) {
		if mine[at] || at != name && reached[at] {
			return
		}
		mine[at] = true
		lines += s.lineCount(s.decls[at])
		for _, next := range s.named(at) {
			count(next)
		}
	}
	count(name)
	return lines
}
