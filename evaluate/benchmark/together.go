package benchmark

import (
	"encoding/json"
)

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
