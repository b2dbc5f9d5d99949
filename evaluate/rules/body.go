package rules

import (
	"cmp"

	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"
)

// doc is how structured outputs are read.
type doc = loosejson.Doc

// structuredBody judges an output that is JSON or a printed Python value by what its outermost
// object says of the outcome, or the objects of a list. The names of its findings are
//
//	body-error     a member such as error or errors describes an error
//	body-flag      a member such as success or isError says that the call failed
//	body-status    a status or code member says that the call failed
//	exit-code      a member is the exit status of a process
//	body-mixed     some elements of a list report errors and some do not
//	error-banner   an error is named, yet there is a result
//	empty-result   the result is an empty list
func structuredBody(v *view) finding {
	d := v.body
	if !d.OK() {
		return finding{}
	}
	if d.Nodes[0].Kind == loosejson.Array {
		return bodyArray(v, d)
	}
	r := errortext.ReadReply(d, 0)
	if r.Exit != 0 && (!r.Record || v.ask.is(actor)) {
		return byExit(v, &r)
	}
	for _, c := range r.Payloads {
		if f := v.inside(c); f.found() {
			return f
		}
	}
	f := v.evidence(&r)
	if f.rule == "body-error" && r.HasResult() {
		return half("error-banner", f.quote, "it names an error and brings a result all the same")
	}
	return f
}

// inside is what a result says against the call that is an object itself, or a text that holds one.
func (v *view) inside(at int32) finding {
	d := v.body
	if d.Nodes[at].Kind == loosejson.String {
		d, at = loosejson.Parse(d.Str(at)), 0
	}
	if !d.OK() || d.Nodes[at].Kind != loosejson.Object {
		return finding{}
	}
	r := errortext.ReadReply(d, at)
	return v.evidence(&r)
}

// evidence is what an object itself says against the call.
func (v *view) evidence(r *errortext.Reply) (f finding) {
	switch {
	case r.Flag != 0:
		return fails("body-flag", r.Said(), "its member "+quoted(r.Doc.Nodes[r.Flag].Key)+" says that it failed")
	case r.Record && !v.ask.is(actor): // it may be what the record tells of: the score decides
	case r.Error != 0 && r.Doc.Nodes[r.Error].Kind == loosejson.Array && v.ask.is(inspector): // what it was asked to find
	case r.Error != 0:
		f = fails("body-error", r.Said(), "its member "+quoted(r.Doc.Nodes[r.Error].Key)+" describes an error")
	case r.Code != 0:
		n := &r.Doc.Nodes[r.Code]
		f = fails("body-status", r.Said(), "its member "+quoted(n.Key)+" is "+quoted(textsafe.Head(n.Val, 20)))
	}
	return f
}

// byExit judges the reply of a tool that runs processes.
func byExit(v *view, r *errortext.Reply) finding {
	code := r.Doc.Number(r.Exit)
	if code == 0 {
		return works("exit-code", "it reports exit status 0")
	}
	return exitFinding(v, newText(r.Said()), code)
}

// bodyArray judges a list: of replies, or of records.
func bodyArray(v *view, d *doc) (worst finding) {
	if d.Nodes[0].Count == 0 {
		return nothingFound("the result is an empty list")
	}
	bad, seen := 0, 0
	for c := d.Child(0); c != 0; c = d.Nodes[c].Next {
		seen++
		if d.Nodes[c].Kind != loosejson.Object {
			continue
		}
		r := errortext.ReadReply(d, c)
		if f := v.evidence(&r); f.found() {
			worst = cmp.Or(worst, f)
			bad++
		}
	}
	if bad == 0 || bad == seen {
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
