package rules

import (
	"slices"
	"strconv"
	"strings"

	"memoryd"
)

const maxBodyDepth = 6

// structuredBody judges an output that is JSON or a printed Python value. The
// names of its findings: body-error, body-flag, body-status, body-mixed,
// error-banner, body-message, body-warning, empty-result, and those of the text
// rules where a payload is text.
func structuredBody(v *view) (finding, bool) {
	if !v.body.ok() {
		return finding{}, false
	}
	if f, ok := bodyValue(v, v.body, 0, 0); ok {
		return f, true
	}
	if rest := v.body.rest; rest != "" && len(rest) < headBytes {
		if t := newText(rest); t.short(40, 6000) {
			return askText(v, t)
		}
	}
	return finding{}, false
}

// bodyValue judges the value at i, which stands where an outcome may stand.
func bodyValue(v *view, d *doc, i int32, depth int) (finding, bool) {
	if depth > maxBodyDepth {
		return finding{}, false
	}
	switch d.nodes[i].kind {
	case kindObject:
		return bodyObject(v, d, i, depth)
	case kindArray:
		return bodyArray(v, d, i, depth)
	case kindString:
		return inspect(v, d.str(i), depth)
	case kindOther:
		return bodyConstructed(v, d.nodes[i].val, depth)
	}
	return finding{}, false
}

// bodyConstructed looks into a printed value such as
// [TextContent(type='text', text='…')].
func bodyConstructed(v *view, val string, depth int) (finding, bool) {
	at := strings.Index(val, "text=")
	if at < 0 || at > 80 || len(val) < at+7 {
		return finding{}, false
	}
	q := val[at+5]
	end := strings.LastIndexByte(val, q)
	if end <= at+6 {
		return finding{}, false
	}
	s, _ := unquote(val[at+6:end], maxStructure)
	return inspect(v, s, depth)
}

// reply is what the members of one object say of the outcome; fields hold node
// indexes, 0 for none.
type reply struct {
	d         *doc
	n         int32
	errs      int32
	failed    int32
	status    int32
	code      int32
	message   int32
	exit      int32
	stderr    int32
	warn      int32
	payloads  []int32
	envelopes []int32
	good      bool    // a member says that it succeeded
	record    bool    // it looks like a record of something
	others    int     // members with a value and no role
	named     []int32 // those of them that are objects
}

func readReply(d *doc, i int32) reply {
	r := reply{d: d, n: d.nodes[i].count}
	for c := d.nodes[i].child; c != 0; c = d.nodes[c].next {
		r.member(c, roleOf(d.nodes[c].key))
	}
	return r
}

func (r *reply) member(c int32, ro role) {
	n := &r.d.nodes[c]
	switch ro {
	case roleError:
		if r.errs == 0 && r.d.truthy(c) {
			r.errs = c
		}
	case roleFailed:
		if n.kind == kindTrue {
			r.failed = c
		}
	case roleSuccess:
		if n.kind == kindFalse || strings.EqualFold(n.val, "false") {
			r.failed = c
		}
		r.good = r.good || n.kind == kindTrue
	case roleStatus, roleCode, roleErrno:
		r.outcome(c, ro)
	case roleMessage:
		if r.message == 0 && n.kind != kindNull {
			r.message = c
		}
		if r.errs == 0 && r.d.listsFaults(c) {
			r.errs = c
		}
	case rolePayload:
		if n.kind == kindString && badStatus[strings.ToLower(n.val)] {
			r.status = c
		}
		r.payloads = append(r.payloads, c)
	case roleEnvelope:
		r.envelopes = append(r.envelopes, c)
	case roleWarning:
		if r.d.truthy(c) {
			r.warn = c
		}
	case roleExit:
		r.exit = c
	case roleStderr:
		r.stderr = c
	case roleIdentity:
		r.record = true
	default:
		if n.kind != kindNull {
			r.others++
		}
		if n.kind == kindObject {
			r.named = append(r.named, c)
		}
	}
}

// outcome reads a status or code member.
func (r *reply) outcome(c int32, ro role) {
	n := &r.d.nodes[c]
	if n.kind != kindNumber && n.kind != kindString {
		return
	}
	num := r.d.number(c)
	switch {
	case ro == roleErrno:
		if num != 0 || n.kind == kindString && !voidTexts[strings.ToLower(n.val)] {
			r.code = c
		}
	case num >= 400 && num < 600 || num <= -32000:
		r.code = c
	case num >= 200 && num < 300:
		r.good = true
	case ro == roleStatus && badStatus[strings.ToLower(n.val)]:
		r.status = c
	case ro == roleStatus && (strings.EqualFold(n.val, "ok") || strings.EqualFold(n.val, "success") || strings.EqualFold(n.val, "succeeded")):
		r.good = true
	}
}

func bodyObject(v *view, d *doc, i int32, depth int) (finding, bool) {
	r := readReply(d, i)
	if r.exit != 0 && d.nodes[r.exit].kind == kindNumber {
		return r.byExit(v, depth)
	}
	f, bad := r.evidence()
	inner, some := r.inside(v, depth)
	switch {
	case bad && some && inner.bad():
		return inner, true
	case bad && r.errs != 0 && r.failed == 0 && r.code == 0 && r.hasResult() && (!some || inner.rule != "empty-result"):
		return r.banner(f), true
	case bad:
		return f, true
	case some:
		return inner, true
	case len(r.named) > 0 && r.others == len(r.named):
		if f, ok := itemsFinding(v, d, i, depth); ok {
			return f, true
		}
	case r.warn != 0:
		return half("body-warning", d.words(r.warn), "the result carries a warning"), true
	}
	return r.plain(v)
}

// evidence gives what the object itself says against the call.
func (r *reply) evidence() (finding, bool) {
	said := r.said()
	switch {
	case r.failed != 0:
		return fails("body-flag", said, "its member “"+r.d.nodes[r.failed].key+"” says that it failed"), true
	case r.errs != 0 && !(r.good && r.record):
		f := fails("body-error", r.d.words(r.errs), "its member “"+r.d.nodes[r.errs].key+"” describes an error")
		f.sure = r.n <= 8 && !r.record
		return f, true
	case r.code != 0 && (r.message != 0 || r.n <= 3 || normalKey(r.d.nodes[r.code].key) != "code"):
		f := fails("body-status", said, "its member “"+r.d.nodes[r.code].key+"” is "+clean(r.d.nodes[r.code].val, 20))
		f.sure = r.n <= 8 && !r.record
		return f, true
	case r.status != 0 && (r.message != 0 && !r.record || r.n <= 2 || !r.record && r.others == 0):
		return fails("body-status", said, "its status is “"+clean(r.d.nodes[r.status].val, 20)+"”"), true
	}
	return finding{}, false
}

// said is the text that explains the outcome best.
func (r *reply) said() string {
	for _, c := range []int32{r.errs, r.message, r.stderr, r.status, r.code, r.failed} {
		if c == 0 {
			continue
		}
		if w := r.d.words(c); w != "" {
			return w
		}
	}
	for _, c := range r.payloads {
		if w := r.d.words(c); w != "" {
			return w
		}
	}
	if r.failed != 0 {
		return r.d.nodes[r.failed].key + ": " + r.d.nodes[r.failed].val
	}
	return ""
}

// inside judges the members that hold a result or an outcome of their own. A
// record's text members are its data.
func (r *reply) inside(v *view, depth int) (finding, bool) {
	for _, c := range slices.Concat(r.envelopes, r.payloads) {
		if k := r.d.nodes[c].kind; k == kindString && (r.record || r.n > 6) || k == kindNumber {
			continue
		}
		if f, ok := bodyValue(v, r.d, c, depth+1); ok {
			return f, true
		}
	}
	return r.nothing()
}

// nothing reports a reply whose only payload is empty.
func (r *reply) nothing() (finding, bool) {
	if len(r.payloads) == 0 || r.hasResult() || r.others > 0 || r.message != 0 || r.good {
		return finding{}, false
	}
	f := half("empty-result", "", "its result is empty")
	f.cause = causeEmpty
	return f, true
}

// hasResult reports whether a payload holds anything.
func (r *reply) hasResult() bool {
	for _, c := range r.payloads {
		n := &r.d.nodes[c]
		switch n.kind {
		case kindString:
			if !blanks[strings.ToLower(strings.TrimSpace(n.val))] {
				return true
			}
		case kindObject, kindArray:
			if n.count > 0 {
				return true
			}
		case kindNumber, kindTrue, kindFalse, kindOther:
			return true
		}
	}
	return false
}

// banner is a result that came under an error message.
func (r *reply) banner(f finding) finding {
	g := half("error-banner", f.quote, "it names an error and brings a result all the same")
	return g
}

// byExit judges the reply of a tool that runs processes.
func (r *reply) byExit(v *view, depth int) (finding, bool) {
	code := r.d.number(r.exit)
	if code != 0 {
		f := exitFinding(v, newText(r.said()), code)
		if r.stderr != 0 && r.d.truthy(r.stderr) {
			f = fails("exit-code", r.d.words(r.stderr), "its exit status is "+strconv.Itoa(code)+" and it wrote to standard error")
		}
		return f, true
	}
	if f, ok := r.inside(v, depth); ok && f.rule != "empty-result" {
		if f.bad() {
			f.score, f.sure = memoryd.ScorePartial, false
			f.why += ", yet the exit status is " + strconv.Itoa(code)
		}
		return f, true
	}
	return finding{}, false
}

// plain judges an object without any evidence: a lone message is read as text,
// no members at all are an empty result.
func (r *reply) plain(v *view) (finding, bool) {
	if r.n == 0 {
		f := half("empty-result", "", "the result is an empty object")
		f.cause = causeEmpty
		return f, true
	}
	if r.message == 0 || r.n > 3 || r.good || r.record || r.others > 1 || r.hasResult() {
		return finding{}, false
	}
	t := newText(r.d.words(r.message))
	if len(t.lines) == 0 {
		return finding{}, false
	}
	f, ok := askText(v, t)
	if ok {
		f.why = "its message: " + f.why
	}
	return f, ok
}
