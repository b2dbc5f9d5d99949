package benchmark

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"

	"memoryd"
)

// question is what a request to a judge's model asks, as far as a recorded reply
// is found by it.
type question struct {
	// key identifies the request, and instructions what stands around the calls.
	key, instructions string
	// calls are those that the request is about.
	calls []asked
}

// asked is a call of a request: the key that it would have in a request of its
// own, and its id in this one.
type asked struct{ key, id string }

// dataBlock is the untrusted part of a request to the judge: one line of JSON
// between two marks with a random word.
var dataBlock = regexp.MustCompile(`^<<<DATA ([0-9A-Za-z]+)>>>\n(.*)\n<<<END ([0-9A-Za-z]+)>>>\n.*\n?`)

// questionOf reads a request. A call is known by its workspace, its tool and what
// the model is shown of it, not by the random word, the instructions or the
// earlier evaluations of the tool: a recorded reply stays of use when these change.
// What stands behind the data beside the request itself, such as a complaint
// about the last answer, counts too. A request of another form is known by all
// of its text.
func questionOf(p memoryd.Prompt) question {
	q := question{instructions: digest(p.System, string(p.Schema))[:12]}
	m := dataBlock.FindStringSubmatch(p.User)
	var data struct {
		Tool  string                       `json:"tool"`
		About json.RawMessage              `json:"tool_description"`
		Call  map[string]json.RawMessage   `json:"call"`
		Calls []map[string]json.RawMessage `json:"calls"`
	}
	if m == nil || m[1] != m[3] || json.Unmarshal([]byte(m[2]), &data) != nil {
		q.key = digest(p.Workspace, p.User)
		return q
	}
	if data.Call != nil {
		data.Calls = append(data.Calls, data.Call)
	}
	remark := strings.ReplaceAll(p.User[len(m[0]):], m[1], "")
	keys := []string{}
	for _, call := range data.Calls {
		var a asked
		_ = json.Unmarshal(call["id"], &a.id) // a call that stands alone has none
		delete(call, "id")
		if data.About != nil { // several calls say it once
			call["tool_description"] = data.About
		}
		shown, err := json.Marshal(call) // with its members in order
		if err != nil {
			shown = []byte(m[2])
		}
		a.key = digest(p.Workspace, data.Tool, string(shown), remark)
		q.calls = append(q.calls, a)
		keys = append(keys, a.key)
	}
	q.key = digest(keys...)
	if len(keys) == 1 {
		q.key = keys[0]
	}
	return q
}

// digest is a hash over the parts: 32 hexadecimal digits.
func digest(parts ...string) string {
	h := sha256.New()
	for _, s := range parts {
		sum := sha256.Sum256([]byte(s)) // of fixed length, so that parts cannot run together
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
