package reading

import (
	"slices"
	"strings"

	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// structure describes an output that is a structure: by the paths of its members, and
// by the values of those that tell an outcome.
func (b *builder) structure(d *loosejson.Doc) {
	w := walk{b: b, d: d, lists: b.lists}
	w.value(0, "", "", 0)
	b.lists = w.lists
	for i := range w.lists {
		slices.Sort(w.lists[i])
		w.lists[i] = slices.Compact(w.lists[i])
	}
	paths, outcomes, words := w.lists[0], w.lists[1], w.lists[2]
	form := ""
	switch {
	case d.Nodes[0].Count == 0:
		form = "nothing in "
	case d.Nodes[0].Kind == loosejson.Array:
		form = "a list of "
	}
	b.coarse = strings.Join(outcomes, ", ") + " ; " + form + "{" + strings.Join(paths[:min(len(paths), maxPaths)], " ") + "}"
	b.coarse = strings.TrimPrefix(b.coarse, " ; ")
	b.fine = strings.Join(words, "|")
}

// walk gathers paths, values that tell an outcome, and further small words.
type walk struct {
	b     *builder
	d     *loosejson.Doc
	lists [3][]string
	room  strings.Builder // of the texts in them
}

// join gives a text of two parts, the sign between them only if there is a first.
func (w *walk) join(first, sign, second string) string {
	if first == "" {
		return second
	}
	if w.room.Len() == 0 {
		w.room.Grow(1 << 10)
	}
	start := w.room.Len()
	w.room.WriteString(first)
	w.room.WriteString(sign)
	w.room.WriteString(second)
	return w.room.String()[start:]
}

// value reads the value at a place. Of a list the first elements are read; members whose
// names are data are all the same one.
func (w *walk) value(at int32, path, name string, depth int) {
	n := &w.d.Nodes[at]
	switch {
	case depth > maxDepth:
	case n.Child != 0:
		most := 3
		if n.Kind == loosejson.Object {
			most = maxPaths
		}
		for c := n.Child; c != 0 && most > 0; c = w.d.Nodes[c].Next {
			most--
			name, step, by := name, "[]", ""
			if n.Kind == loosejson.Object {
				name, step, by = w.d.Nodes[c].Key, w.d.Nodes[c].Key, "."
				if w.isData(name) {
					step = "*"
				}
			}
			w.value(c, w.join(path, by, step), name, depth+1)
		}
	default:
		w.leaf(n, at, path, name, depth)
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
	_, given := w.b.given[name]
	return given
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

// leaf takes a value without anything below it.
func (w *walk) leaf(n *loosejson.Node, at int32, path, name string, depth int) {
	w.lists[0] = append(w.lists[0], path)
	says, val := saysOf(name), ""
	tells := says&tellsOutcome != 0
	switch n.Kind {
	case loosejson.Object, loosejson.Array:
		val = "nothing"
	case loosejson.True, loosejson.False, loosejson.Null:
		val = constant(n)
	case loosejson.Number:
		if says&isCode != 0 || n.Val == "0" {
			val = n.Val
		}
	default:
		val = w.said(w.d.Str(at), tells)
	}
	switch {
	case val == "":
	case tells, depth <= 1 && (val == "nothing" || val == "0" || n.Kind == loosejson.False):
		w.lists[1] = append(w.lists[1], w.join(path, ": ", val))
	case len(val) <= maxValue:
		w.lists[2] = append(w.lists[2], w.join(path, ": ", val))
	}
}

// constant is true, false or null, or what is written for it, in lower case.
func constant(n *loosejson.Node) string {
	switch {
	case n.Val != "":
		return strings.ToLower(n.Val)
	case n.Kind == loosejson.True:
		return "true"
	case n.Kind == loosejson.False:
		return "false"
	}
	return "null"
}

// said is a text with its data masked, or "" where nothing of it is worth anything: a
// text that tells no outcome and is no small word.
func (w *walk) said(s string, tells bool) string {
	s = Bare(s)
	switch {
	case s == "":
		return "nothing"
	case tells:
		if loosejson.Looks(s) {
			inner := builder{given: w.b.given}
			if d := loosejson.Parse(s); d.OK() {
				inner.structure(d)
				return inner.coarse
			}
		}
		first, _ := nextLine(s)
		return w.b.words(first, firstWords)
	case len(s) <= maxValue && strings.Count(s, " ") < 3:
		return w.b.words(s, firstWords)
	}
	return ""
}
