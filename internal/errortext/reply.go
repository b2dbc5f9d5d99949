package errortext

import (
	"cmp"
	"slices"
	"strings"

	"memoryd/internal/loosejson"
)

// Reply is what the members of an object say about an outcome, as node indexes; 0 means none.
type Reply struct {
	Doc      *loosejson.Doc
	at       int32
	Flag     int32   // says with true or false that the call failed
	Error    int32   // describes an error
	Code     int32   // is the code of one
	Exit     int32   // is the exit status of a process
	Payloads []int32 // hold the result
	Record   bool    // it looks like a data record
	message  int32
	stderr   int32
	status   int32 // is the name of a failure
}

// ReadReply reads the object at node i.
func ReadReply(d *loosejson.Doc, i int32) Reply {
	r := Reply{Doc: d, at: i}
	for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
		r.member(c, roleOf(d.Nodes[c].Key))
	}
	if r.Code == 0 && r.message != 0 && !r.Record {
		r.Code = r.status
	}
	return r
}

// member files one member under what its name says.
func (r *Reply) member(c int32, ro role) {
	n := &r.Doc.Nodes[c]
	switch ro {
	case roleError:
		if r.Error == 0 && n.Kind != loosejson.Number && r.says(c) {
			r.Error = c
		}
	case roleFailed:
		if n.Kind == loosejson.True {
			r.Flag = c
		}
	case roleSuccess:
		if n.Kind == loosejson.False || n.Val == "0" || strings.EqualFold(n.Val, "false") {
			r.Flag = c
		}
	case roleStatus, roleCode, roleErrno:
		r.outcome(c, ro)
	case roleMessage:
		r.message = cmp.Or(r.message, c)
	case rolePayload:
		r.Payloads = append(r.Payloads, c)
	case roleExit:
		if n.Kind == loosejson.Number {
			r.Exit = c
		}
	case roleStderr:
		r.stderr = c
	case roleName:
		if Thrown(n.Val) {
			r.status = c
		}
	case roleIdentity:
		r.Record = true
	default:
	}
}

// outcome reads a status or code member.
func (r *Reply) outcome(c int32, ro role) {
	if isBad(r.Doc.Number(c), ro) {
		r.Code = c
	} else if ro == roleStatus && FailureName(r.Doc.Nodes[c].Val) {
		r.status = c
	}
}

// isBad reports whether a number is that of an error: a status of HTTP, or what is no 0.
func isBad(number int, ro role) bool {
	return number >= 400 && number < 600 || number < 0 && ro == roleCode || number != 0 && ro == roleErrno
}

// says reports whether a value is there and not one that stands for none.
func (r *Reply) says(c int32) bool {
	n := &r.Doc.Nodes[c]
	if n.Kind == loosejson.String {
		return !isVoid(strings.TrimSpace(n.Val))
	}
	return n.Kind != loosejson.False && r.Doc.Filled(c)
}

// HasResult reports whether the reply brings one.
func (r *Reply) HasResult() bool {
	return slices.ContainsFunc(r.Payloads, r.holds)
}

// holds reports whether a value is anything but null, a void text, or objects without more.
func (r *Reply) holds(i int32) bool {
	n := &r.Doc.Nodes[i]
	if n.Kind != loosejson.Object {
		return n.Child != 0 || n.Kind == loosejson.Number || r.says(i)
	}
	for c := n.Child; c != 0; c = r.Doc.Nodes[c].Next {
		if r.holds(c) {
			return true
		}
	}
	return false
}

// Said is the text that explains the outcome best.
func (r *Reply) Said() string {
	m := messages{doc: r.Doc}
	if m.take(r.at, 0, false); len(m.lines) > 0 {
		return cmp.Or(m.placed, m.lines[0])
	}
	if r.Flag == 0 {
		return ""
	}
	return r.Doc.Nodes[r.Flag].Key + ": " + r.Doc.Nodes[r.Flag].Val
}

// OnlyText is the text of a reply that holds nothing else: {"error": null, "result": "It is
// open"}. What a process wrote to its two channels is one text.
func OnlyText(d *loosejson.Doc) (text string, only bool) {
	if d.Rest != "" {
		return "", false
	}
	for c := d.Child(0); c != 0; c = d.Nodes[c].Next {
		switch n := &d.Nodes[c]; roleOf(n.Key) {
		case rolePayload:
			if only || n.Kind != loosejson.String {
				return "", false
			}
			text, only = d.Str(c)+text, true
		case roleStderr:
			if d.Filled(c) {
				text += "\n" + d.Str(c)
			}
		case roleError, roleFailed:
			if d.Filled(c) && n.Kind != loosejson.False {
				return "", false
			}
		default:
			return "", false
		}
	}
	return text, only
}
