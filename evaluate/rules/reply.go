package rules

import (
	"strings"

	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"
)

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
	settled   bool    // a status member says something else than failure
	record    bool    // it looks like a record of something
	others    int     // members that hold something and have no role
	named     []int32 // those of them that are objects
}

func readReply(d *doc, i int32) reply {
	r := reply{d: d, n: d.Nodes[i].Count}
	for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
		r.member(c, roleOf(d.Nodes[c].Key))
	}
	return r
}

// member files one member under what its name says.
func (r *reply) member(c int32, ro role) {
	switch ro {
	case roleError:
		if r.errs == 0 && r.d.truthy(c) {
			r.errs = c
		}
	case roleFailed, roleSuccess:
		r.flag(c, ro)
	case roleStatus, roleCode, roleErrno:
		r.outcome(c, ro)
	case roleMessage:
		r.says(c)
	case rolePayload:
		if n := &r.d.Nodes[c]; n.Kind == loosejson.String && foldedIn(n.Val, badStatus) {
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
	case roleCount: // says how much there is, not what
	default:
		r.other(c)
	}
}

// flag reads a member that is true or false about the outcome.
func (r *reply) flag(c int32, ro role) {
	n := &r.d.Nodes[c]
	no := n.Kind == loosejson.False || strings.EqualFold(n.Val, "false") || n.Kind == loosejson.Number && n.Val == "0"
	switch {
	case ro == roleFailed && n.Kind == loosejson.True, ro == roleSuccess && no:
		r.failed = c
	case ro == roleSuccess && n.Kind == loosejson.True:
		r.good = true
	}
}

func (r *reply) says(c int32) {
	if r.message == 0 && r.d.Nodes[c].Kind != loosejson.Null {
		r.message = c
	}
	if r.errs == 0 && r.d.listsFaults(c) {
		r.errs = c
	}
}

func (r *reply) other(c int32) {
	if r.d.filled(c) {
		r.others++
	}
	if r.d.Nodes[c].Kind == loosejson.Object {
		r.named = append(r.named, c)
	}
}

// outcome reads a status or code member.
func (r *reply) outcome(c int32, ro role) {
	n := &r.d.Nodes[c]
	if n.Kind == loosejson.False && ro == roleStatus {
		r.failed = c
	}
	if n.Kind != loosejson.Number && n.Kind != loosejson.String {
		return
	}
	num := r.d.number(c)
	switch {
	case ro == roleErrno:
		if num != 0 || n.Kind == loosejson.String && !foldedIn(n.Val, voidTexts) {
			r.code = c
		}
	case num >= 400 && num < 600 || num <= -32000:
		r.code = c
	case num >= 200 && num < 300:
		r.good = true
	case ro == roleStatus && foldedIn(n.Val, badStatus):
		r.status = c
	case ro == roleStatus && (strings.EqualFold(n.Val, "ok") || strings.EqualFold(n.Val, "success") || strings.EqualFold(n.Val, "succeeded")):
		r.good = true
	case ro == roleStatus && n.Kind == loosejson.String:
		r.settled = true
	}
}

// evidence gives what the object itself says against the call.
func (r *reply) evidence() (finding, bool) {
	said := r.said()
	switch {
	case r.failed != 0:
		return fails("body-flag", said, "its member “"+r.d.Nodes[r.failed].Key+"” says that it failed"), true
	case r.errs != 0 && !(r.good && r.record):
		f := fails("body-error", r.d.words(r.errs), "its member “"+r.d.Nodes[r.errs].Key+"” describes an error")
		f.sure = r.n <= 8 && !r.record
		return f, true
	case r.code != 0 && (r.message != 0 || r.n <= 3 || normalKey(r.d.Nodes[r.code].Key) != "code"):
		f := fails("body-status", said, "its member “"+r.d.Nodes[r.code].Key+"” is "+textsafe.Line(r.d.Nodes[r.code].Val, 20))
		f.sure = r.n <= 8 && !r.record
		return f, true
	case r.status != 0 && (r.message != 0 && !r.record || r.n <= 2 || !r.record && r.others == 0):
		return fails("body-status", said, "its status is “"+textsafe.Line(r.d.Nodes[r.status].Val, 20)+"”"), true
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
		return r.d.Nodes[r.failed].Key + ": " + r.d.Nodes[r.failed].Val
	}
	return ""
}
