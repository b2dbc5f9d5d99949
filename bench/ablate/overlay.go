package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What the switched sources read from the environment: the part that is left out, or
// timing, and the file that times are written to.
const (
	offEnv   = "MEMORYD_ABLATE"
	timesEnv = "MEMORYD_ABLATE_TIMES"
	timing   = "*"
)

// switches is what each package of the switched sources gets.
const switches = `package %[1]s

import (
	ablateFmt "fmt"
	ablateOS "os"
	ablateTime "time"
)

var ablated = ablateOS.Getenv(%[2]q)

func ablatedList[T any](part string, list T) (left T) {
	if ablated == part {
		return left
	}
	return list
}

// ablatedEntries leaves the entry out whose place stands behind the prefix. Where entries are
// found by their places, the place stays, empty.
func ablatedEntries[T any](prefix string, byPlace bool, list []T) (left []T) {
	for i, x := range list {
		switch {
		case ablated != ablateFmt.Sprint(prefix, i):
			left = append(left, x)
		case byPlace:
			left = append(left, *new(T))
		}
	}
	return left
}

// ablatedHere reports whether the part that begins here is left out, and counts it.
func ablatedHere(part string) bool {
	if ablated == %[4]q {
		ablateSpent.add(part, 0)
	}
	return ablated == part
}

func ablatedNumber(part string, number, none float64) float64 {
	if ablated == part {
		return none
	}
	return number
}

// ablateClock tells how long a part took, in nanoseconds.
func ablateClock(part string) func() {
	began := ablateTime.Now()
	return func() { ablateSpent.add(part, ablateTime.Since(began)) }
}

type ablateTimes struct {
	lock    chan struct{}
	spent   map[string]ablateTime.Duration
	calls   map[string]int
	written ablateTime.Time
}

var ablateSpent = &ablateTimes{lock: make(chan struct{}, 1), spent: map[string]ablateTime.Duration{}, calls: map[string]int{}}

// add writes all times now and then, and where a part is new: nobody tells the end.
func (t *ablateTimes) add(part string, d ablateTime.Duration) {
	t.lock <- struct{}{}
	defer func() { <-t.lock }()
	t.spent[part] += d
	t.calls[part]++
	if t.calls[part] > 1 && ablateTime.Since(t.written) < 50*ablateTime.Millisecond {
		return
	}
	file, _ := ablateOS.Create(ablateOS.Getenv(%[3]q) + %[5]q)
	defer file.Close()
	for part, d := range t.spent {
		ablateFmt.Fprintf(file, "%%d %%d %%s\n", d.Nanoseconds(), t.calls[part], part)
	}
	t.written = ablateTime.Now()
}
`

// overlay writes the sources with switches, and gives the file for the go command that
// puts them in the place of the real ones.
func (b *bench) overlay() (string, error) {
	replace := map[string]string{}
	put := func(path, text string) error {
		file := filepath.Join(b.dir, fmt.Sprintf("%d_%s", len(replace), filepath.Base(path)))
		replace[path] = file
		return os.WriteFile(file, []byte(text), 0o600)
	}
	for i := range b.areas {
		a := &b.areas[i]
		for j := range a.rooms {
			r := &a.rooms[j]
			dir := filepath.Join(b.root, filepath.FromSlash(r.dir))
			s, err := parse(dir)
			if err != nil {
				return "", err
			}
			parts, err := s.partsOf(a, r)
			if err != nil {
				return "", err
			}
			b.parts = append(b.parts, parts...)
			var name string
			for path, f := range s.files {
				name = f.Name.Name
				text, err := s.switched(path, f, a, parts)
				if err != nil {
					return "", err
				}
				if err := put(path, text); err != nil {
					return "", err
				}
			}
			if err := put(filepath.Join(dir, "ablated.go"), fmt.Sprintf(switches, name, offEnv, timesEnv, timing,
				strings.ReplaceAll(r.dir, "/", "_"))); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}

// insertion is a text at a place of a file.
type insertion struct {
	at   int
	text string
	gone int // bytes that it replaces
}

// switched gives a file with a switch in each of the parts that it declares.
func (s *source) switched(path string, f *ast.File, a *area, parts []*part) (string, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the sources
	if err != nil {
		return "", err
	}
	offset := func(n ast.Node) int { return s.fset.Position(n.Pos()).Offset }
	var all []insertion
	for _, p := range parts {
		switch d := s.decls[p.name]; {
		case p.kind == number:
			if v := s.constant(p.name); within(f, v) {
				value, none := types.ExprString(v.Values[0]), 1
				if strings.HasSuffix(p.name, "Share") {
					none = 0
				}
				all = append(all, insertion{offset(v), "_ = 0", s.fset.Position(v.End()).Offset - offset(v)},
					insertion{len(raw), fmt.Sprintf("\nvar %s = ablatedNumber(%q, %s, %d)\n", p.name, p.key(), value, none), 0})
			}
		case p.kind == clause || p.kind == call:
			if within(f, p.node) {
				all = append(all, s.switchedOff(f, p)...)
			}
		case p.kind == entry || !within(f, d): // see the list
		case p.kind == list:
			v := d.(*ast.ValueSpec).Values[0]
			open, end := fmt.Sprintf("ablatedList(%q, ", p.key()), ")"
			if p.entries {
				_, byPlace := v.(*ast.CompositeLit).Elts[0].(*ast.KeyValueExpr)
				prefix := part{room: p.room, kind: entry, name: p.name + " "}
				open, end = open+fmt.Sprintf("ablatedEntries(%q, %v, ", prefix.key(), byPlace), "))"
			}
			all = append(all, insertion{offset(v), open, 0}, insertion{s.fset.Position(v.End()).Offset, end, 0})
		default:
			fn := d.(*ast.FuncDecl)
			all = append(all, insertion{
				offset(fn.Body) + 1,
				fmt.Sprintf(" if ablated != \"\" { if ablated == %[1]q { return %[2]s }; if ablated == %[3]q { defer ablateClock(%[1]q)() } };",
					p.key(), zeros(fn), timing), 0,
			})
		}
	}
	if fn, ok := s.decls[a.unit].(*ast.FuncDecl); ok && within(f, fn) {
		all = append(all, insertion{offset(fn.Body) + 1, fmt.Sprintf(" if ablated == %q { defer ablateClock(%q)() };", timing, a.unit), 0})
	}
	slices.SortStableFunc(all, func(a, b insertion) int { return b.at - a.at })
	text := string(raw)
	for _, in := range all {
		text = text[:in.at] + in.text + text[in.at+in.gone:]
	}
	return text, nil
}

// switchedOff leaves out a case of a switch, or a call.
func (s *source) switchedOff(f *ast.File, p *part) []insertion {
	from, to := s.fset.Position(p.node.Pos()).Offset, s.fset.Position(p.node.End()).Offset
	c, isClause := p.node.(*ast.CaseClause)
	if !isClause {
		return []insertion{{from, fmt.Sprintf("if !ablatedHere(%q) { ", p.key()), 0}, {to, " }", 0}}
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Pos() < c.Pos() && c.End() <= fn.End() {
			return []insertion{{s.fset.Position(c.Colon).Offset + 1, fmt.Sprintf(" if ablatedHere(%q) { return %s };", p.key(), zeros(fn)), 0}}
		}
	}
	return nil
}

func within(f *ast.File, n ast.Node) bool {
	return n != nil && f.Pos() <= n.Pos() && n.End() <= f.End()
}

// zeros writes the zero values of a function's results.
func zeros(fn *ast.FuncDecl) string {
	var all []string
	if fn.Type.Results != nil {
		for _, r := range fn.Type.Results.List {
			for range max(1, len(r.Names)) {
				all = append(all, "*new("+types.ExprString(r.Type)+")")
			}
		}
	}
	return strings.Join(all, ", ")
}
