package rules

// maxItems bounds how many elements of a list are looked at.
const maxItems = 40

// bodyArray judges a list: of replies, of texts, or of records.
func bodyArray(v *view, d *doc, i int32, depth int) (finding, bool) {
	n := &d.nodes[i]
	if n.count == 0 {
		f := half("empty-result", "", "the result is an empty list")
		f.cause = causeEmpty
		return f, true
	}
	if d.listsRejections(i) {
		return fails("body-error", d.words(n.child), "it lists what is wrong with the arguments"), true
	}
	if n.count == 1 && n.child != 0 {
		return bodyValue(v, d, n.child, depth+1)
	}
	return itemsFinding(v, d, i, depth)
}

// itemsFinding judges the elements of a list, or the members of an object that
// maps names to replies.
func itemsFinding(v *view, d *doc, i int32, depth int) (finding, bool) {
	n := &d.nodes[i]
	var bad, seen int
	var worst finding
	for c := n.child; c != 0 && seen < maxItems; c = d.nodes[c].next {
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
	case bad == seen && int32(seen) == n.count:
		return worst, true
	}
	return half("body-mixed", worst.quote, "some elements of the list report errors and some do not"), true
}

// itemFinding judges one of several elements. Texts are left alone: lines of a
// file may say anything.
func itemFinding(v *view, d *doc, c int32, depth int) (finding, bool) {
	n := &d.nodes[c]
	if n.kind == kindObject {
		r := readReply(d, c)
		if f, ok := r.evidence(); ok {
			return f, true
		}
		if typ := d.member(c, "type"); typ != 0 && d.nodes[typ].val == "text" { // MCP content
			return r.inside(v, depth+1)
		}
	}
	return finding{}, false
}

// listsRejections reports whether a list holds the faults that a schema
// validator (zod, pydantic) found in the arguments.
func (d *doc) listsRejections(i int32) bool {
	first := d.nodes[i].child
	if first == 0 || d.nodes[first].kind != kindObject {
		return false
	}
	if d.member(first, "loc") != 0 && d.member(first, "msg") != 0 {
		return true
	}
	path, code := d.member(first, "path"), d.member(first, "code")
	return path != 0 && d.nodes[path].kind == kindArray && code != 0 && d.member(first, "message") != 0
}

// member finds a member of an object by its exact key, 0 if there is none.
func (d *doc) member(i int32, key string) int32 {
	for c := d.nodes[i].child; c != 0; c = d.nodes[c].next {
		if d.nodes[c].key == key {
			return c
		}
	}
	return 0
}
