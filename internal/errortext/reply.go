package errortext

import (
	"cmp"
	"slices"
	"strings"

	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// Reply is what the members of an object say about an outcome. Fields of type int32 are node
// indexes; 0 means none.
type Reply struct {
	Doc       *loosejson.Doc
	Members   int32
	err       int32 // describes an error
	flag      int32 // says with true or false that the call failed
	status    int32 // is a word for failure
	class     int32 // is the name of an exception
	code      int32 // is an error code
	Message   int32
	Exit      int32 // is the exit status of a process
	Stderr    int32
	Warning   int32
	Failed    int32   // lists what failed, with reasons
	undone    int32   // says that something was not done: {"routed": false}
	Reason    int32   // says why: {"drop_reason": "..."}
	Payloads  []int32 // hold the result
	Envelopes []int32 // hold metadata about the call
	Good      bool    // a member says that it succeeded
	Record    bool    // it looks like a data record
	Others    int     // members with a value but without a role
	Moments   int     // members with the time of something that happened
	lists     bool    // a member without a role is a list of something
	findings  bool    // it reports what an examination found
}

// ReadReply reads the object at node i.
func ReadReply(d *loosejson.Doc, i int32) Reply {
	r := Reply{Doc: d, Members: d.Nodes[i].Count}
	for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
		r.member(c, roleOf(d.Nodes[c].Key))
	}
	return r
}

// OnlyText is the text of a reply that holds nothing else: {"error": null, "result": "It is
// open"}.
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
		first(&r.err, c, describes(r.Doc, c))
	case roleFailed, roleSuccess:
		r.answer(c, ro == roleSuccess)
	case roleStatus, roleCode, roleErrno:
		r.outcome(c, ro)
	case roleMessage:
		first(&r.Message, c, r.Doc.Nodes[c].Kind != loosejson.Null)
	case rolePayload:
		if n := &r.Doc.Nodes[c]; n.Kind == loosejson.String && FailureName(n.Val) {
			r.status = c
		}
		r.Payloads = append(r.Payloads, c)
	case roleEnvelope:
		r.Envelopes = append(r.Envelopes, c)
	case roleWarning:
		first(&r.Warning, c, describes(r.Doc, c))
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
		r.findings = true
	case roleCount: // says how much there is, not what
	default:
		r.plain(c)
	}
}

// first notes the first member that counts.
func first(noted *int32, c int32, counts bool) {
	if *noted == 0 && counts {
		*noted = c
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
	case n.Kind == loosejson.String && namesException(n.Val):
		r.class = c
		return
	case n.Kind == loosejson.False && (strings.HasSuffix(n.Key, "ed") || strings.HasSuffix(n.Key, "sent")):
		r.undone = c
	case strings.HasSuffix(key, "reason") && r.Doc.Filled(c):
		r.Reason = c
	}
	r.other(c)
}

// namesException reports whether a value is the name of an exception and nothing else, with or
// without what it belongs to: "ZodError", "com.amazonaws.dynamodb#ResourceInUseException".
func namesException(s string) bool {
	return (strings.HasSuffix(s, "Error") || strings.HasSuffix(s, "Exception")) && Thrown(s[strings.LastIndexByte(s, '#')+1:])
}

// leftUndone reports whether a member lists what was not done: UnprocessedItems, failedRows.
func (r *Reply) leftUndone(c int32, key string) bool {
	n := &r.Doc.Nodes[c]
	_, ok := phrases.HasPrefixAny(key, []string{"unprocessed", "failed", "rejected", "undelivered", "notfound", "notdeleted"})
	return ok && (n.Child != 0 || r.Members <= 3 && strings.HasSuffix(key, "count") && r.Doc.Number(c) > 0)
}

func (r *Reply) other(c int32) {
	r.lists = r.lists || r.Doc.Nodes[c].Kind == loosejson.Array && r.Doc.Nodes[c].Count > 0
	if r.Doc.Filled(c) {
		r.Others++
	}
}

// answer reads a member that is true or false about the outcome.
func (r *Reply) answer(c int32, asksSuccess bool) {
	n := &r.Doc.Nodes[c]
	no := n.Kind == loosejson.False || strings.EqualFold(n.Val, "false") || n.Kind == loosejson.Number && n.Val == "0"
	switch {
	case !asksSuccess && n.Kind == loosejson.True, asksSuccess && no:
		r.flag = c
	case asksSuccess:
		r.Good = r.Good || n.Kind == loosejson.True || n.Count > 0
	case n.Child != 0 && r.Doc.Nodes[n.Child].Kind == loosejson.Object:
		r.Failed = c
	}
}

// outcome reads a status or code member.
func (r *Reply) outcome(c int32, ro role) {
	n := &r.Doc.Nodes[c]
	switch n.Kind {
	case loosejson.Object:
		r.Envelopes = append(r.Envelopes, c)
		return
	case loosejson.False:
		if ro == roleStatus {
			r.flag = c
		}
		return
	case loosejson.Number, loosejson.String:
	default:
		return
	}
	key, number := NormalKey(n.Key), r.Doc.Number(c)
	switch {
	case ro == roleErrno:
		if isErrorCode(key, n, number) {
			r.code = c
		}
	case number >= 400 && number < 600, number < 0 && ro == roleCode:
		r.code = c
	case !FailureName(n.Val):
	case ro == roleStatus:
		r.status = c
	case key != "code":
		r.code = c
	}
}

// isErrorCode reports whether the member of such a name, with its number, is that of an error.
func isErrorCode(key string, n *loosejson.Node, number int) bool {
	switch key {
	case "sqlstate":
		return badSQLState(n.Val)
	case "signal":
		return strings.HasPrefix(n.Val, "SIG")
	}
	return number != 0 || n.Kind == loosejson.String && !IsVoid(n.Val)
}

// describes reports whether the value of an error or warning member has content.
func describes(d *loosejson.Doc, i int32) bool {
	n := &d.Nodes[i]
	switch n.Kind {
	case loosejson.True:
		return true
	case loosejson.String:
		return !IsVoid(strings.TrimSpace(n.Val))
	case loosejson.Array:
		return n.Count > 0
	default: // an object; others have no members
	}
	for c := n.Child; c != 0; c = d.Nodes[c].Next {
		switch n := &d.Nodes[c]; {
		case roleOf(n.Key) == roleCode && d.Number(c) == 0:
		case n.Kind == loosejson.Number && d.Filled(c), describes(d, c):
			return true
		}
	}
	return false
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
	ByUndone        // routed: false
	ByClass         // name: "ZodError"
)

// Failure returns what the object itself says against the call, and the member that says it.
func (r *Reply) Failure() (Ground, int32) {
	switch {
	case r.flag != 0:
		return ByFlag, r.flag
	case r.IsRecord() && r.code == 0: // of what happened to something, or was found in it
	case r.err != 0 && (!r.Good || !r.Record):
		return ByError, r.err
	case r.Failed != 0 && !r.Good:
		return ByError, r.Failed
	case r.code != 0 && (r.Message != 0 || r.Members <= 3 || NormalKey(r.Doc.Nodes[r.code].Key) != "code"):
		return ByCode, r.code
	case r.status != 0 && (r.Members <= 2 && !r.lists || !r.Record && (r.Message != 0 || r.Others == 0)):
		return ByStatus, r.status
	}
	return r.unnamed()
}

// unnamed returns what members without a role say against the call: the name of an exception
// beside a message; and that something was not done, where that is all, or there is a reason.
func (r *Reply) unnamed() (Ground, int32) {
	switch {
	case r.class != 0 && r.Message != 0 && !r.Record && !r.IsRecord():
		return ByClass, r.class
	case r.undone != 0 && (r.Members == 1 || r.Reason != 0):
		return ByUndone, r.undone
	}
	return noGround, 0
}

// IsRecord reports whether the object is requested data: what happened to something and when,
// or what an examination found. Errors inside it are data.
func (r *Reply) IsRecord() bool { return r.Moments > 1 || r.findings }

// Said is the text that explains the outcome best.
func (r *Reply) Said() string {
	for _, c := range append([]int32{r.err, r.Failed, r.Message, r.Stderr, r.status, r.code}, r.Payloads...) {
		if c == 0 {
			continue
		}
		if w := Words(r.Doc, c); w != "" {
			return w
		}
	}
	if r.flag != 0 {
		return r.Doc.Nodes[r.flag].Key + ": " + r.Doc.Nodes[r.flag].Val
	}
	return ""
}

// Words is the text in a value, at any depth, for quoting: the first string or number that
// describes it.
func Words(d *loosejson.Doc, i int32) (first string) {
	n := &d.Nodes[i]
	if n.Kind != loosejson.Object && n.Kind != loosejson.Array {
		return d.Str(i)
	}
	for c := n.Child; c != 0; c = d.Nodes[c].Next {
		w := Words(d, c)
		switch roleOf(d.Nodes[c].Key) {
		case roleMessage, roleError, rolePayload:
			if w != "" {
				return w
			}
		default:
		}
		first = cmp.Or(first, w)
	}
	return first
}

// IsData reports whether a payload cannot hold an outcome: a number, the value of a record,
// or text of it or of an object with much else in it, unless its name says that it is the
// outcome.
func (r *Reply) IsData(c int32) bool {
	n := &r.Doc.Nodes[c]
	if n.Key == "value" && r.Members > 3 {
		return true
	}
	if n.Kind != loosejson.String {
		return n.Kind == loosejson.Number
	}
	switch NormalKey(n.Key) {
	case "result", "output", "response", "observation", "stdout":
		return r.Record
	}
	return r.Record || r.Others > 1
}

// IsEmpty reports whether the reply has a place for a result, with nothing there, and nothing
// else to say.
func (r *Reply) IsEmpty(void func(string) bool) bool {
	return len(r.Payloads) > 0 && !r.hasResult(void) && r.Others == 0 && r.Message == 0 && !r.Good
}

// HasMoreThanError reports whether a reply that names an error brings a result all the same.
func (r *Reply) HasMoreThanError() bool { return r.hasResult(IsVoid) && !r.explainsOnly() }

// hasResult reports whether a payload holds anything but null, a void text, or objects without
// more.
func (r *Reply) hasResult(void func(string) bool) bool {
	return slices.ContainsFunc(r.Payloads, func(c int32) bool { return r.holds(c, void) })
}

func (r *Reply) holds(i int32, void func(string) bool) bool {
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

// explainsOnly reports whether the first payload is an object of messages: an explanation, no
// result.
func (r *Reply) explainsOnly() bool {
	d, at := r.Doc, r.Payloads[0]
	if d.Nodes[at].Kind == loosejson.String {
		d, at = loosejson.Parse(d.Str(at)), 0
	}
	if !d.OK() {
		return false
	}
	in := ReadReply(d, at)
	return in.Message != 0 && in.Others == 0 && len(in.Payloads) == 0
}
