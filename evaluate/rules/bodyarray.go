package rules

import (
	"memoryd/internal/loosejson"
)

// maxItems bounds how many elements of a list are looked at.
const maxItems = 40

// bodyArray judges a list: of replies, of texts, or of records.
func bodyArray(v *view, d *doc, i int32, depth int) (finding, bool) {
	n := &d.Nodes[i]
	if n.Count == 0 {
		f := half("empty-result", "", "the result is an empty list")
		f.cause = causeEmpty
		return f, true
	}
	if listsRejections(d, i) {
		return fails("body-error", d.Words(n.Child), "it lists what is wrong with the arguments"), true
	}
	if n.Count == 1 && n.Child != 0 && d.Nodes[n.Child].Kind != loosejson.Object {
		return bodyValue(v, d, n.Child, depth+1)
	}
	return itemsFinding(v, d, i, depth)
}

// itemsFinding judges the elements of a list, or the members of an object that
// maps names to replies.
func itemsFinding(v *view, d *doc, i int32, depth int) (finding, bool) {
	n := &d.Nodes[i]
	var bad, seen int
	var worst finding
	for c := n.Child; c != 0 && seen < maxItems; c = d.Nodes[c].Next {
		seen++
		f, ok := itemFinding(v, d, c, depth)
		if !ok || !f.bad() {
			continue
		}
		if bad == 0 {
			worst = f
		}
		bad++
	}
	switch {
	case bad == 0:
		return finding{}, false
	case bad == seen && int32(seen) == n.Count:
		return worst, true
	}
	return half("body-mixed", worst.quote, "some elements of the list report errors and some do not"), true
}

// itemFinding judges one of several elements. Texts are left alone: lines of a
// file may say anything.
func itemFinding(v *view, d *doc, c int32, depth int) (finding, bool) {
	n := &d.Nodes[c]
	if n.Kind == loosejson.Object {
		r := readReply(d, c)
		if f, ok := r.evidence(v); ok {
			return f, true
		}
		if typ := d.Member(c, "type"); typ != 0 && d.Nodes[typ].Val == "text" { // MCP content
			return r.inside(v, depth+1)
		}
	}
	return finding{}, false
}

// listsRejections reports whether a list holds the faults that a schema
// validator (zod, pydantic) found in the arguments.
func listsRejections(d *doc, i int32) bool {
	first := d.Nodes[i].Child
	if first == 0 || d.Nodes[first].Kind != loosejson.Object {
		return false
	}
	if d.Member(first, "loc") != 0 && d.Member(first, "msg") != 0 {
		return true
	}
	path, code := d.Member(first, "path"), d.Member(first, "code")
	return path != 0 && d.Nodes[path].Kind == loosejson.Array && code != 0 && d.Member(first, "message") != 0
}
