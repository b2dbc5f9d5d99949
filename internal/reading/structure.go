package reading

import (
	"strings"

	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// structure describes an output that is a structure: by the paths of its members, and
// by the values of those that tell an outcome.
func (b *builder) structure(d *loosejson.Doc) {
	w := walk{builder: b, d: d}
	w.value(0, span{}, "", 0)
	from := len(b.room)
	if b.joined(b.lists[outcomes], ", "); len(b.lists[outcomes]) > 0 {
		b.write(" ; ")
	}
	switch {
	case d.Nodes[0].Count == 0:
		b.write("nothing in ")
	case d.Nodes[0].Kind == loosejson.Array:
		b.write("a list of ")
	}
	b.write("{")
	b.joined(b.lists[paths][:min(len(b.lists[paths]), maxPaths)], " ")
	b.write("}")
	b.coarse = b.since(from)
	from = len(b.room)
	b.joined(b.lists[small], "|")
	b.fine = b.since(from)
}

// walk gathers paths, values that tell an outcome, and further small words.
type walk struct {
	*builder
	d *loosejson.Doc
}

// below writes the path of a place below another, a sign between them if the first has one.
func (w *walk) below(path span, sign, step string) span {
	from := len(w.room)
	if path.len() > 0 {
		w.room = append(w.room, w.at(path)...)
		w.write(sign)
	}
	w.write(step)
	return w.since(from)
}

// value reads the value at a place. Of a list the first elements are read; members whose
// names are data are all the same one.
func (w *walk) value(at int32, path span, name string, depth int) {
	n := &w.d.Nodes[at]
	switch {
	case depth > maxDepth:
	case n.Child == 0:
		w.leaf(n, at, path, name, depth)
	case n.Kind != loosejson.Object:
		most := 3
		path = w.below(path, "", "[]")
		for c := n.Child; c != 0 && most > 0; c = w.d.Nodes[c].Next {
			most--
			w.value(c, path, name, depth+1)
		}
	default:
		most := maxPaths
		for c := n.Child; c != 0 && most > 0; c = w.d.Nodes[c].Next {
			most--
			name, step := w.d.Nodes[c].Key, w.d.Nodes[c].Key
			if w.isData(name) {
				step = "*"
			}
			w.value(c, w.below(path, ".", step), name, depth+1)
		}
	}
}

// isData reports whether the name of a member is data itself, as an id is.
func (w *walk) isData(name string) bool {
	if len(name) > 30 {
		return true
	}
	for i := range len(name) {
		switch c := name[i]; c {
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '/', ' ', '.', '@':
			return true
		}
	}
	return w.given[with(fnvBasis, name)]
}

// What the name of a member says of its value.
const (
	tellsOutcome phrases.Marks = 1 << iota
	isCode
)

// memberNames are parts of the names of members that say so.
var memberNames = phrases.NewIndex(map[phrases.Marks][]string{
	tellsOutcome: {
		"err", "status", "success", "message", "detail", "msg", "code", "reason", "result", "response",
		"output", "warn", "fail", "exit", "fault", "title",
	},
	isCode: {"code", "status", "exit", "errno"},
})

func saysOf(name string) phrases.Marks {
	if name == "" || strings.EqualFold(name, "ok") {
		return tellsOutcome
	}
	return memberNames.Scan(name)
}

// decisive are values that tell an outcome on their own, near the root.
var decisive = phrases.Words("nothing", "0")

// leaf takes a value without anything below it.
func (w *walk) leaf(n *loosejson.Node, at int32, path span, name string, depth int) {
	w.list(paths, path)
	says, from := saysOf(name), len(w.room)
	tells := says&tellsOutcome != 0
	w.below(path, ": ", "")
	value := len(w.room)
	switch n.Kind {
	case loosejson.Object, loosejson.Array:
		w.write("nothing")
	case loosejson.True, loosejson.False, loosejson.Null:
		w.write(strings.ToLower(n.Val))
	case loosejson.Number:
		if says&isCode != 0 || n.Val == "0" {
			w.write(n.Val)
		}
	default:
		if tells || len(n.Val) <= maxWritten {
			w.said(w.d.Str(at), tells)
		}
	}
	val := w.room[value:]
	switch {
	case len(val) == 0:
	case tells, depth <= 1 && (n.Kind == loosejson.False || decisive[string(val)]):
		w.list(outcomes, w.since(from))
	case len(val) <= maxValue:
		w.list(small, w.since(from))
	}
}

// said writes a text with its data masked, or nothing where nothing of it is worth anything: a
// text that tells no outcome and is no small word.
func (w *walk) said(s string, tells bool) {
	s = Bare(s)
	switch {
	case s == "":
		w.write("nothing")
	case tells:
		if loosejson.Looks(s) {
			inner := builder{given: w.given}
			if d := loosejson.Parse(s); d.OK() {
				inner.structure(d)
				w.room = append(w.room, inner.at(inner.coarse)...)
				return
			}
		}
		first, _ := nextLine(s)
		w.words(first, firstWords, 0)
	case len(s) <= maxValue && strings.Count(s, " ") < 3:
		w.words(s, firstWords, 0)
	}
}
