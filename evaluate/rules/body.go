package rules

import (
	"slices"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
	"memoryd/internal/textsafe"
)

const maxBodyDepth = 6

// doc and reply are how structured outputs are read.
type (
	doc   = errortext.Doc
	reply struct{ errortext.Reply }
)

func parseDoc(s string) *doc { return errortext.Parse(s) }

func readReply(d *doc, i int32) *reply { return &reply{errortext.ReadReply(d, i)} }

// evidence is what the object itself says against the call.
func (r *reply) evidence(v *view) (finding, bool) {
	if v.ask.is(actor) {
		r.Moments = 0 // of what the tool itself did
	}
	ground, member := r.Failure()
	key := quoted(r.Doc.Nodes[member].Key)
	switch ground {
	case errortext.ByFlag:
		return fails("body-flag", r.Said(), "its member "+key+" says that it failed"), true
	case errortext.ByError:
		if r.Doc.Nodes[member].Kind == loosejson.Array && v.ask.is(inspector) {
			return finding{}, false // what it was asked to find
		}
		_, none := phrases.HasPrefixAny(strings.ToLower(r.Said()), []string{"no match", "no result"})
		if none && r.Members <= 2 && v.ask.is(finder) {
			return nothingFound("its member " + key + " says that nothing was found"), true
		}
		f := fails("body-error", r.Said(), "its member "+key+" describes an error")
		f.sure = !r.Record
		return f, true
	case errortext.ByCode:
		f := fails("body-status", r.Said(), "its member "+key+" is "+quoted(textsafe.Head(r.Doc.Nodes[member].Val, 20)))
		f.sure = !r.Record
		return f, true
	case errortext.ByStatus:
		return fails("body-status", r.Said(), "its status is "+quoted(textsafe.Head(r.Doc.Nodes[member].Val, 20))), true
	default:
	}
	if r.Undone != 0 && (r.Members == 1 || r.Reason != 0) && v.ask.is(actor) {
		return fails("body-flag", r.Doc.Words(r.Reason), "its member "+quoted(r.Doc.Nodes[r.Undone].Key)+" says that it was not done").unsure(),
			true
	}
	return finding{}, false
}

// structuredBody judges an output that is JSON or a printed Python value. The
// names of its findings are those of the text rules where a payload is text, and
//
//	body-error     a member such as error or errors describes an error
//	body-flag      a member such as success or isError says that the call failed
//	body-status    a status or code member says that the call failed
//	body-mixed     some elements of a list report errors and some do not
//	error-banner   an error is named, yet there is a result
//	body-warning   a member such as warnings is not empty
//	empty-result   the result is an empty list or object
func structuredBody(v *view) (finding, bool) {
	if !v.body.OK() {
		return finding{}, false
	}
	return bodyValue(v, v.body, 0, 0)
}

// bodyValue judges the value at i, which stands where an outcome may stand.
func bodyValue(v *view, d *doc, i int32, depth int) (finding, bool) {
	if depth > maxBodyDepth {
		return finding{}, false
	}
	switch d.Nodes[i].Kind {
	case loosejson.Object:
		return bodyObject(v, d, i, depth)
	case loosejson.Array:
		return bodyArray(v, d, i)
	case loosejson.String:
		return inspect(v, d.Str(i), depth)
	default:
	}
	return finding{}, false
}

// bodyObject weighs what an object says itself against what is inside.
func bodyObject(v *view, d *doc, i int32, depth int) (finding, bool) {
	r := readReply(d, i)
	if d.Nodes[r.Exit].Kind == loosejson.Number && !r.IsRecord() {
		return r.byExit(v)
	}
	f, bad := r.evidence(v)
	inner, some := r.inside(v, depth)
	switch {
	case some && inner.bad():
		return inner, true
	case f.rule == "body-error" && r.hasResult(errortext.IsVoid) && !r.explains():
		return r.banner(f), true
	case bad:
		return f, true
	case some:
		return inner, true
	case r.Failed != 0:
		return half("body-mixed", d.Words(r.Failed), "some of it failed and some did not"), true
	case r.Warning != 0:
		return half("body-warning", d.Words(r.Warning), "the result carries a warning"), true
	}
	return finding{}, false
}

// inside judges the members that hold a result or an outcome of their own. A
// record's text members are its data.
func (r *reply) inside(v *view, depth int) (finding, bool) {
	for _, c := range slices.Concat(r.Envelopes, r.Payloads) {
		if r.isData(c) {
			continue
		}
		if f, ok := bodyValue(v, r.Doc, c, depth+1); ok && f.rule != "empty-result" {
			return f, true
		}
	}
	if r.Stderr == 0 {
		return r.nothing()
	}
	if said := r.Doc.Words(r.Stderr); said != "" {
		if f, ok := inspect(v, said, depth); ok {
			if slices.ContainsFunc(r.Payloads, r.Doc.Filled) {
				return f.doubted(", though it printed more"), true
			}
			return f.unsure(), true
		}
		return finding{}, false // what it said on the way
	}
	return r.nothing()
}

// isData reports whether a payload cannot hold an outcome: a number, the value of a record,
// or text of it or of an object with much else in it, unless its name says that it is the
// outcome.
func (r *reply) isData(c int32) bool {
	n := &r.Doc.Nodes[c]
	if n.Key == "value" && r.Members > 3 {
		return true
	}
	if n.Kind != loosejson.String {
		return n.Kind == loosejson.Number
	}
	switch errortext.NormalKey(n.Key) {
	case "result", "output", "response", "observation", "stdout":
		return r.Record
	}
	return r.Record || r.Others > 1
}

// byExit judges the reply of a tool that runs processes.
func (r *reply) byExit(v *view) (finding, bool) {
	code := r.Doc.Number(r.Exit)
	if code == 0 {
		return works("exit-code", "it reports exit status 0"), true
	}
	return exitFinding(v, newText(r.Said()), code), true
}

// bodyArray judges a list: of replies, or of records.
func bodyArray(v *view, d *doc, i int32) (finding, bool) {
	count := d.Nodes[i].Count
	if count == 0 {
		return nothingFound("the result is an empty list"), true
	}
	var bad, seen int
	var worst finding
	for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
		seen++
		f, ok := itemFinding(v, d, c)
		if !ok {
			continue
		}
		if bad == 0 {
			worst = f
		}
		bad++
	}
	switch bad {
	case 0:
		return finding{}, false
	case seen:
		return worst, true
	}
	return half("body-mixed", worst.quote, "some elements of the list report errors and some do not"), true
}

// nothingFound is a result without content.
func nothingFound(why string) finding {
	f := half("empty-result", "", why)
	f.cause = causeEmpty
	return f
}

// itemFinding judges one of several elements. Texts are left alone: lines of a
// file may say anything.
func itemFinding(v *view, d *doc, c int32) (finding, bool) {
	n := &d.Nodes[c]
	if n.Kind == loosejson.Object {
		r := readReply(d, c)
		if f, ok := r.evidence(v); ok {
			return f, true
		}
		for _, e := range r.Envelopes {
			if f, ok := readReply(d, e).evidence(v); ok {
				return f, true
			}
		}
	}
	return finding{}, false
}

// nothing reports a reply without any result.
func (r *reply) nothing() (finding, bool) {
	if len(r.Payloads) == 0 || r.hasResult(isBlank) || r.Others > 0 || r.Message != 0 || r.Good {
		return finding{}, false
	}
	return nothingFound("its result is empty"), true
}

// hasResult reports whether a payload holds anything. Beside an error "False" is void too.
func (r *reply) hasResult(void func(string) bool) bool {
	return slices.ContainsFunc(r.Payloads, func(c int32) bool { return r.holds(c, void) })
}

// holds reports whether a value is anything but null, a void text, or an object without more.
func (r *reply) holds(i int32, void func(string) bool) bool {
	n := &r.Doc.Nodes[i]
	switch {
	case n.Kind == loosejson.String:
		return !void(strings.TrimSpace(n.Val))
	case n.Child == 0:
		return r.Doc.Filled(i)
	}
	for c := n.Child; c != 0; c = r.Doc.Nodes[c].Next {
		switch r.Doc.Nodes[c].Kind {
		case loosejson.Null:
		case loosejson.Object:
			if r.holds(c, void) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// explains reports whether the first payload is an object of messages: an explanation, no
// result.
func (r *reply) explains() bool {
	d, at := r.Doc, r.Payloads[0]
	if d.Nodes[at].Kind == loosejson.String {
		d, at = parseDoc(d.Str(at)), 0
	}
	if !d.OK() {
		return false
	}
	in := readReply(d, at)
	return in.Message != 0 && in.Others == 0 && len(in.Payloads) == 0
}

// banner is a result that came under an error message.
func (r *reply) banner(f finding) finding {
	return half("error-banner", f.quote, "it names an error and brings a result all the same")
}
