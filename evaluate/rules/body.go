package rules

import (
	"cmp"
	"slices"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
	"memoryd/internal/textsafe"
)

const maxBodyDepth = 6

// doc is how structured outputs are read.
type doc = loosejson.Doc

// evidence is what an object itself says against the call.
func (v *view) evidence(r *errortext.Reply) finding {
	if v.ask.is(actor) {
		r.Moments = 0 // of what the tool itself did
	}
	ground, member := r.Failure()
	n := &r.Doc.Nodes[member]
	switch key, value := quoted(n.Key), textsafe.Head(n.Val, 20); ground {
	case errortext.ByFlag:
		return fails("body-flag", r.Said(), "its member "+key+" says that it failed")
	case errortext.ByError:
		if n.Kind == loosejson.Array && v.ask.is(inspector) {
			return finding{} // what it was asked to find
		}
		_, none := phrases.HasPrefixAny(strings.ToLower(r.Said()), []string{"no match", "no result"})
		if none && r.Members <= 2 && v.ask.is(finder) {
			return nothingFound("its member " + key + " says that nothing was found")
		}
		f := fails("body-error", r.Said(), "its member "+key+" describes an error")
		f.sure = !r.Record
		return f
	case errortext.ByCode:
		f := fails("body-status", r.Said(), "its member "+key+" is "+quoted(value))
		f.sure = !r.Record
		return f
	case errortext.ByStatus:
		return fails("body-status", r.Said(), "its status is "+quoted(value))
	case errortext.ByUndone:
		if v.ask.is(actor) {
			return fails("body-flag", errortext.Words(r.Doc, r.Reason), "its member "+key+" says that it was not done").unsure()
		}
	case errortext.ByClass:
		return fails("body-status", r.Said(), "its member "+key+" names an exception")
	default:
	}
	return finding{}
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
func structuredBody(v *view) finding {
	if !v.body.OK() {
		return finding{}
	}
	return bodyValue(v, v.body, 0, 0)
}

// bodyValue judges the value at i, which stands where an outcome may stand.
func bodyValue(v *view, d *doc, i int32, depth int) finding {
	if depth > maxBodyDepth {
		return finding{}
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
	return finding{}
}

// bodyObject weighs what an object says itself against what is inside.
func bodyObject(v *view, d *doc, i int32, depth int) finding {
	r := errortext.ReadReply(d, i)
	if d.Nodes[r.Exit].Kind == loosejson.Number && !r.IsRecord() {
		return v.byExit(&r)
	}
	f, inner := v.evidence(&r), v.inside(&r, depth)
	switch {
	case inner.bad():
		return inner
	case f.rule == "body-error" && r.HasMoreThanError():
		return half("error-banner", f.quote, "it names an error and brings a result all the same")
	case f.found():
		return f
	case inner.found():
		return inner
	case r.Failed != 0:
		return half("body-mixed", errortext.Words(d, r.Failed), "some of it failed and some did not")
	case r.Warning != 0:
		return half("body-warning", errortext.Words(d, r.Warning), "the result carries a warning")
	}
	return finding{}
}

// inside judges the members that hold a result or an outcome of their own. A
// record's text members are its data.
func (v *view) inside(r *errortext.Reply, depth int) finding {
	for _, c := range slices.Concat(r.Envelopes, r.Payloads) {
		if r.IsData(c) {
			continue
		}
		if f := bodyValue(v, r.Doc, c, depth+1); f.found() && f.rule != "empty-result" {
			return f
		}
	}
	said := ""
	if r.Stderr != 0 {
		said = errortext.Words(r.Doc, r.Stderr)
	}
	if said == "" {
		return noResult(r)
	}
	f := inspect(v, said, depth)
	if f.found() && slices.ContainsFunc(r.Payloads, r.Doc.Filled) {
		return f.doubted(", though it printed more")
	}
	return f.unsure()
}

// byExit judges the reply of a tool that runs processes.
func (v *view) byExit(r *errortext.Reply) finding {
	code := r.Doc.Number(r.Exit)
	if code == 0 {
		return works("exit-code", "it reports exit status 0")
	}
	return exitFinding(v, newText(r.Said()), code)
}

// bodyArray judges a list: of replies, or of records.
func bodyArray(v *view, d *doc, i int32) finding {
	count := d.Nodes[i].Count
	if count == 0 {
		return nothingFound("the result is an empty list")
	}
	var bad, seen int
	var worst finding
	for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
		seen++
		if f := itemFinding(v, d, c); f.found() {
			worst = cmp.Or(worst, f)
			bad++
		}
	}
	switch bad {
	case 0:
		return finding{}
	case seen:
		return worst
	}
	return half("body-mixed", worst.quote, "some elements of the list report errors and some do not")
}

// nothingFound is a result without content.
func nothingFound(why string) finding {
	f := half("empty-result", "", why)
	f.cause = causeEmpty
	return f
}

// itemFinding judges one of several elements. Texts are left alone: lines of a
// file may say anything.
func itemFinding(v *view, d *doc, c int32) finding {
	if d.Nodes[c].Kind != loosejson.Object {
		return finding{}
	}
	r := errortext.ReadReply(d, c)
	f := v.evidence(&r)
	for _, e := range r.Envelopes {
		inner := errortext.ReadReply(d, e)
		f = cmp.Or(f, v.evidence(&inner))
	}
	return f
}

// noResult reports a reply without any result.
func noResult(r *errortext.Reply) finding {
	if r.IsEmpty(IsBlank) {
		return nothingFound("its result is empty")
	}
	return finding{}
}
