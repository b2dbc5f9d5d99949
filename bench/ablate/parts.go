package main

import (
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
	grammar  kind = "grammar"  // reads nothing
	list     kind = "words"    // is empty
	number   kind = "number"   // is 1, a share 0
	clause   kind = "case"     // of a switch: its function gives nothing
	call     kind = "call"     // is not made
)

// area is a part of the program with measurements of its own.
type area struct {
	name, title string
	// rooms are the packages whose parts are left out, measured by the tests below.
	rooms []room
	tests []measuring
	// unit is the function whose calls the costs are divided by.
	unit string
	per  string
}

// room is a package and which of its functions are parts: those that the hubs name.
type room struct {
	dir      string
	hubs     []string // functions: what they call, or list, is a part each
	grammars bool     // its catalogue of grammars are parts
	lists    bool     // its lists of words are parts
	numbers  []string // constants that rank
	clauses  []string // functions: each case of their switches is a part
	calls    []string // methods: each call of one that names itself, as add(…, "exemplar", …), is a part
}

// measuring is a test of a package that prints figures.
type measuring struct{ dir, run string }

func areas() []area { return []area{judge(), advice(), forecast(), compaction()} }

// compaction is measured by what a reader finds of what was planted, and by what later
// calls need.
func compaction() area {
	return area{
		name: "compaction", title: "Compaction", unit: "Compactor.Compact", per: "compaction",
		rooms: []room{
			{
				dir: "compact", hubs: []string{"DefaultSettings.plan", "DefaultSettings.split", "newSummary", "textsOf", "summary.compose", "assemble", "assembler.summary"},
				numbers: []string{"answeredShare"},
			},
			{
				dir: "compact/records", hubs: []string{
					"Collect", "Set.read", "Set.readOutput", "Set.readCall", "Set.readLines", "lineReader.quote", "walker.walk", "walker.list", "walker.emit",
					"walker.cells", "walker.nested", "Set.readUser", "Set.readAssistant", "Set.weigh", "Set.Select", "choice.worth", "choice.cost", "choice.write", "choice.rowText",
				},
				numbers: []string{
					"lastShare", "saidShare", "freshShare", "userWorth", "callWorth", "focusWorth", "planShare", "carriedShare",
					"base", "passedWorth", "wordWorth", "callShare", "meantShare", "manyAlike",
				},
			},
		},
		tests: []measuring{{"compact", "^(TestAReaderFindsWhatWasPlanted|TestFutureArgumentRecall)$"}},
	}
}

func judge() area {
	return area{
		name: "judge", title: "The judge", unit: "Judge.Judge", per: "call",
		rooms: []room{{dir: "evaluate/rules", hubs: []string{"catalogue", "textRules", "view.weigh"}, lists: true}},
		tests: []measuring{{"evaluate/rules", "^(TestRecordedBars|TestOutputsOfCommonTools)$"}},
	}
}

// advice is measured by what later failures say, and by agents that obey it.
func advice() area {
	return area{
		name: "guidelines", title: "Rules and guidelines", unit: "Writer.Compose", per: "guideline",
		rooms: []room{
			{
				dir: "guidelines/rules", hubs: []string{"Find", "wrong", "propose", "Remedy", "search.run", "search.top", "search.best", "Rule.write"}, lists: true,
				clauses: []string{"hypothesis.holds", "Rule.Mend"},
			},
			{dir: "guidelines/evidence", hubs: []string{"Mine"}, lists: true},
			{dir: "guidelines", hubs: []string{
				"findings.draft", "findings.core", "findings.practices", "findings.successes", "findings.issues",
			}, lists: true, calls: []string{"add"}},
		},
		tests: []measuring{{"guidelines", "^(TestMeasureForesight|TestMeasureLoop)$"}},
	}
}

// forecast is measured by recorded runs and by agents that obey it.
func forecast() area {
	return area{
		name: "forecast", title: "The forecast", unit: "Model.Assess", per: "forecast",
		rooms: []room{{
			dir: "guidelines/preflight", hubs: []string{
				"Model.warnings", "Model.warning", "Model.suggest", "Model.repair", "Model.Assess", "Model.risk", "Model.learn", "newLearner", "learner.fit",
				"collector.leaf", "collector.text",
			}, lists: true, clauses: []string{"Model.warning"}, calls: []string{"put"},
		}},
		tests: []measuring{
			{"guidelines/preflight", "^(TestMeasureFirstHalfAgainstSecond|TestMeasureRuns)$"},
			{"guidelines", "^TestMeasureLoop$"},
		},
	}
}

// packages are those whose tests are made.
func (b *bench) packages() (all []string) {
	for _, a := range b.areas {
		for _, t := range a.tests {
			all = append(all, t.dir)
		}
	}
	return all
}

// part is what can be left out.
type part struct {
	area  *area
	room  *room
	kind  kind
	name  string
	lines int
	node  ast.Node // of a case or a call

	skip    bool
	without figures
	fault   error
}

// key names a part in the switched sources.
func (p *part) key() string { return p.room.dir + " " + string(p.kind) + " " + p.name }

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
	seen := map[string]bool{}
	add := func(k kind, name string, lines int) {
		if !seen[string(k)+name] {
			seen[string(k)+name] = true
			parts = append(parts, &part{area: a, room: r, kind: k, name: name, lines: lines})
		}
	}
	for _, hub := range r.hubs {
		if _, ok := s.decls[hub].(*ast.FuncDecl); !ok {
			return nil, fmt.Errorf("%s has no function %s: name what lists its parts now", r.dir, hub)
		}
		for _, name := range s.named(hub) {
			f, ok := s.decls[name].(*ast.FuncDecl)
			if ok && name != hub && !slices.Contains(r.hubs, name) && canBeLeftOut(f) && s.alone(name) && s.lineCount(f) >= leastLines {
				add(function, name, s.own(name))
			}
		}
	}
	for _, p := range append(s.clausesOf(r), s.callsOf(r)...) {
		p.area, p.room, p.lines = a, r, s.lineCount(p.node)
		parts = append(parts, p)
	}
	for _, name := range r.numbers {
		if s.constant(name) == nil {
			return nil, fmt.Errorf("%s has no constant %s", r.dir, name)
		}
		add(number, name, 1)
	}
	for _, name := range sortedKeys(s.decls) {
		v, ok := s.decls[name].(*ast.ValueSpec)
		switch {
		case !ok || len(v.Values) != 1:
		case r.lists && isList(v.Values[0]):
			add(list, name, s.lineCount(v))
		case r.grammars:
			for _, g := range grammarsIn(v.Values[0]) {
				add(grammar, g, 1)
			}
		}
	}
	return parts, nil
}

// clausesOf lists the cases of the switches of functions.
func (s *source) clausesOf(r *room) (parts []*part) {
	for _, name := range r.clauses {
		ast.Inspect(s.decls[name], func(n ast.Node) bool {
			if c, ok := n.(*ast.CaseClause); ok && len(c.List) > 0 && len(c.Body) > 0 {
				parts = append(parts, &part{kind: clause, name: name + " " + types.ExprString(c.List[0]), node: c})
			}
			return true
		})
	}
	return parts
}

// callsOf lists the calls of methods, as statements, that have a text or a name among their
// arguments which says what they are about.
func (s *source) callsOf(r *room) (parts []*part) {
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
			name := f.Sel.Name + " " + about(c.Args)
			if seen[name]++; seen[name] > 1 {
				name += fmt.Sprintf(" %d", seen[name])
			}
			parts = append(parts, &part{kind: call, name: name, node: st})
			return true
		})
	}
	return parts
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

// isList reports whether a value is a list of words.
func isList(v ast.Expr) bool {
	switch v := v.(type) {
	case *ast.CompositeLit:
		t, ok := v.Type.(*ast.ArrayType)
		if !ok || t.Len != nil {
			return false
		}
		id, ok := t.Elt.(*ast.Ident)
		return ok && id.Name == "string"
	case *ast.CallExpr:
		f, ok := v.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Words"
	}
	return false
}

// grammarsIn lists the names in a list of rule("name", …).
func grammarsIn(v ast.Expr) (names []string) {
	lit, ok := v.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, e := range lit.Elts {
		c, ok := e.(*ast.CallExpr)
		if !ok || len(c.Args) < 4 {
			return nil
		}
		name, ok := c.Args[0].(*ast.BasicLit)
		if id, isID := c.Fun.(*ast.Ident); !ok || !isID || id.Name != "rule" {
			return nil
		}
		names = append(names, strings.Trim(name.Value, `"`))
	}
	return names
}

func (s *source) lineCount(n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
}

// leastLines is how many lines a function has that is more than a helper.
const leastLines = 6

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
