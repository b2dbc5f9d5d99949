package errortext

import (
	"strings"

	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// Doc is a parsed structure with methods that interpret it as a reply.
type Doc struct{ loosejson.Doc }

// Parse reads the structure at the beginning of s; see loosejson.Parse.
func Parse(s string) *Doc {
	d := &Doc{}
	d.Parse(s)
	return d
}

// Reply is what the members of an object say about an outcome. Fields of type int32 are node
// indexes; 0 means none.
type Reply struct {
	Doc       *Doc
	Members   int32
	Err       int32 // describes an error
	Flag      int32 // says with true or false that the call failed
	Status    int32 // is a word for failure
	Code      int32 // is an error code
	Message   int32
	Exit      int32 // is the exit status of a process
	Stderr    int32
	Warning   int32
	Failed    int32   // lists what failed, with reasons
	Undone    int32   // says that something was not done: {"routed": false}
	Reason    int32   // says why: {"drop_reason": "..."}
	Payloads  []int32 // hold the result
	Envelopes []int32 // hold metadata about the call
	Good      bool    // a member says that it succeeded
	Record    bool    // it looks like a data record
	Others    int     // members with a value but without a role
	Moments   int     // members with the time of something that happened
	lists     bool    // a member without a role is a list of something
	Findings  bool    // it reports what an examination found
}

// ReadReply reads the object at node i.
func ReadReply(d *Doc, i int32) Reply {
	r := Reply{Doc: d, Members: d.Nodes[i].Count}
	for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
		r.member(c, roleOf(d.Nodes[c].Key))
	}
	return r
}

// OnlyText is the text of a reply that holds nothing else: {"error": null, "result": "It is
// open"}.
func (d *Doc) OnlyText() (text string, only bool) {
	if d.Rest != "" {
		return "", false
	}
	for c := d.Child(0); c != 0; c = d.Nodes[c].Next {
		switch n := &d.Nodes[c]; roleOf(n.Key) {
		case rolePayload:
			if only || n.Kind != loosejson.String {
				return "", false
			}
			text, only = d.Str(c), true
		case roleError, roleFailed, roleWarning, roleStderr:
			if d.Filled(c) && n.Kind != loosejson.False {
				return "", false
			}
		default:
			return "", false
		}
	}
	return text, only
}

// member files one member under what its name says.
func (r *Reply) member(c int32, ro role) {
	switch ro {
	case roleError:
		if r.Err == 0 && r.Doc.truthy(c) {
			r.Err = c
		}
	case roleFailed, roleSuccess:
		r.flag(c, ro)
	case roleStatus, roleCode, roleErrno:
		r.outcome(c, ro)
	case roleMessage:
		r.says(c)
	case rolePayload:
		if n := &r.Doc.Nodes[c]; n.Kind == loosejson.String && FailureName(n.Val) {
			r.Status = c
		}
		r.Payloads = append(r.Payloads, c)
	case roleEnvelope:
		r.Envelopes = append(r.Envelopes, c)
	case roleWarning:
		if r.Doc.truthy(c) {
			r.Warning = c
		}
	case roleExit:
		r.Exit = c
	case roleStderr:
		r.Stderr = c
	case roleIdentity:
		r.Record = true
	case roleMoment:
		r.Moments++
		r.other(c)
	case roleFindings:
		r.Findings = true
	case roleCount: // says how much there is, not what
	default:
		r.plain(c)
	}
}

// plain files a member without a role.
func (r *Reply) plain(c int32) {
	n := &r.Doc.Nodes[c]
	switch key := NormalKey(n.Key); {
	case r.leftUndone(c, key):
		r.Warning = c
		return
	case n.Kind == loosejson.Object && strings.HasSuffix(key, "status"): // requestStatus
		r.Envelopes = append(r.Envelopes, c)
		return
	case n.Kind == loosejson.False && (strings.HasSuffix(n.Key, "ed") || strings.HasSuffix(n.Key, "sent")):
		r.Undone = c
	case strings.HasSuffix(key, "reason") && r.Doc.Filled(c):
		r.Reason = c
	}
	r.other(c)
}

// leftUndone reports whether a member lists what was not done: UnprocessedItems, failedRows.
func (r *Reply) leftUndone(c int32, key string) bool {
	n := &r.Doc.Nodes[c]
	_, ok := phrases.HasPrefixAny(key, []string{"unprocessed", "failed", "rejected", "undelivered", "notfound", "notdeleted"})
	return ok && (n.Child != 0 || r.Members <= 3 && strings.HasSuffix(key, "count") && r.Doc.Number(c) > 0)
}

// flag reads a member that is true or false about the outcome.
func (r *Reply) flag(c int32, ro role) {
	n := &r.Doc.Nodes[c]
	no := n.Kind == loosejson.False || strings.EqualFold(n.Val, "false") || n.Kind == loosejson.Number && n.Val == "0"
	switch {
	case ro == roleFailed && n.Kind == loosejson.True, ro == roleSuccess && no:
		r.Flag = c
	case ro == roleSuccess && (n.Kind == loosejson.True || n.Count > 0):
		r.Good = true
	case ro == roleFailed && n.Child != 0 && r.Doc.Nodes[n.Child].Kind == loosejson.Object:
		r.Failed = c
	}
}

func (r *Reply) says(c int32) {
	if r.Message == 0 && r.Doc.Nodes[c].Kind != loosejson.Null {
		r.Message = c
	}
}

func (r *Reply) other(c int32) {
	r.lists = r.lists || r.Doc.Nodes[c].Kind == loosejson.Array && r.Doc.Nodes[c].Count > 0
	if r.Doc.Filled(c) {
		r.Others++
	}
}

// outcome reads a status or code member.
func (r *Reply) outcome(c int32, ro role) {
	n := &r.Doc.Nodes[c]
	if n.Kind == loosejson.False && ro == roleStatus {
		r.Flag = c
	}
	if n.Kind == loosejson.Object {
		r.Envelopes = append(r.Envelopes, c)
	}
	if n.Kind != loosejson.Number && n.Kind != loosejson.String {
		return
	}
	num := r.Doc.Number(c)
	switch {
	case ro == roleErrno:
		if r.isErrno(n, num) {
			r.Code = c
		}
	case num >= 400 && num < 600 || num < 0 && ro == roleCode:
		r.Code = c
	case ro == roleStatus && FailureName(n.Val):
		r.Status = c
	case ro == roleCode && n.Kind == loosejson.String && NormalKey(n.Key) != "code" && FailureName(n.Val):
		r.Code = c
	}
}

// isErrno reports whether the member of such a name, with its number, is that of an error.
func (r *Reply) isErrno(n *loosejson.Node, num int) bool {
	switch NormalKey(n.Key) {
	case "sqlstate":
		if !badSQLState(n.Val) {
			return false
		}
	case "signal":
		if !strings.HasPrefix(n.Val, "SIG") {
			return false
		}
	}
	return num != 0 || n.Kind == loosejson.String && !phrases.FoldedIn(n.Val, voidTexts)
}

// Ground is the kind of member by which a reply says that the call failed.
type Ground int

// The grounds for treating a reply as a failure.
const (
	noGround Ground = iota
	ByFlag          // success: false, isError: true
	ByError         // error: ...
	ByCode          // status: 404, errno: 2
	ByStatus        // status: "failed"
)

// Failure returns what the object itself says against the call, and the member that says it.
func (r *Reply) Failure() (Ground, int32) {
	switch {
	case r.Flag != 0:
		return ByFlag, r.Flag
	case r.IsRecord() && r.Code == 0:
		return noGround, 0 // of what happened to something, or was found in it
	case r.Err != 0 && (!r.Good || !r.Record):
		return ByError, r.Err
	case r.Failed != 0 && !r.Good:
		return ByError, r.Failed
	case r.Code != 0 && (r.Message != 0 || r.Members <= 3 || NormalKey(r.Doc.Nodes[r.Code].Key) != "code"):
		return ByCode, r.Code
	case r.Status != 0 && (r.Message != 0 && !r.Record || r.Members <= 2 && !r.lists || !r.Record && r.Others == 0):
		return ByStatus, r.Status
	}
	return noGround, 0
}

// IsRecord reports whether the object is requested data: what happened to something and when,
// or what an examination found. Errors inside it are data.
func (r *Reply) IsRecord() bool { return r.Moments > 1 || r.Findings }

// Said returns the text that explains the outcome best.
func (r *Reply) Said() string {
	for _, c := range []int32{r.Err, r.Failed, r.Message, r.Stderr, r.Status, r.Code} {
		if c == 0 {
			continue
		}
		if w := r.Doc.Words(c); w != "" {
			return w
		}
	}
	for _, c := range r.Payloads {
		if w := r.Doc.Words(c); w != "" {
			return w
		}
	}
	if r.Flag != 0 {
		return r.Doc.Nodes[r.Flag].Key + ": " + r.Doc.Nodes[r.Flag].Val
	}
	return ""
}
