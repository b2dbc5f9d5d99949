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

// evaluations is a model's answer about several calls.
type verdicts struct {
	Verdicts []map[string]json.RawMessage `json:"verdicts"`
}

// split makes of the answer about several calls one for each, as if it had been
// asked for alone, so that a later run may put other calls together. It gives
// nil for a single call, and unless each call has exactly one evaluation.
func split(calls []asked, r reply) []reply {
	var all verdicts
	if len(calls) < 2 || json.Unmarshal([]byte(r.Text), &all) != nil || len(all.Verdicts) != len(calls) {
		return nil
	}
	byID := map[string]string{}
	for _, v := range all.Verdicts {
		var id string
		_ = json.Unmarshal(v["id"], &id) // "" is no id of a call
		delete(v, "id")
		text, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		byID[id] = string(text)
	}
	parts := make([]reply, len(calls))
	for i, call := range calls {
		text, ok := byID[call.id]
		if !ok {
			return nil
		}
		one := r
		one.Key, one.Text = call.key, text
		one.PromptTokens, one.CompletionTokens = portion(r.PromptTokens, i, len(calls)), portion(r.CompletionTokens, i, len(calls))
		parts[i] = one
	}
	return parts
}

// portion is the i-th of n nearly equal parts of whole, which add up to it.
func portion(whole, i, n int) int { return whole*(i+1)/n - whole*i/n }

// join makes of the replies about single calls an answer about several. Calls
// without a reply in good form are left out: the judge asks about them again,
// alone. It gives false when there is none.
func join(calls []asked, find func(key string) (reply, bool)) (reply, bool) {
	var all verdicts
	var joined reply
	for _, call := range calls {
		one, ok := find(call.key)
		var v map[string]json.RawMessage
		if !ok || one.Reason != "" || json.Unmarshal([]byte(one.Text), &v) != nil || v == nil {
			continue
		}
		v["id"], _ = json.Marshal(call.id) // a string can be encoded
		all.Verdicts = append(all.Verdicts, v)
		one.PromptTokens += joined.PromptTokens
		one.CompletionTokens += joined.CompletionTokens
		joined = one
	}
	text, err := json.Marshal(all)
	joined.Text = string(text)
	return joined, err == nil && len(all.Verdicts) > 0
}
