package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
	"memoryd/internal/textsafe"
)

// finders are words of names of tools that may find nothing.
var finders = phrases.Words("search", "find", "finder", "query", "lookup", "browse", "discover", "list", "match", "filter", "recommend", "check", "track")

// coded judges a reply that is but a message and the name of a condition, in capitals or
// as a code: {"code": "distance_exceeded", "message": "..."}.
func (r *reply) coded(i int32) (finding, bool) {
	d := r.Doc
	if r.Message == 0 || r.Good || r.Settled || len(r.Payloads) > 0 || r.Others > 2 || r.Members > 3 && d.Member(i, "id") != 0 {
		return finding{}, false
	}
	said := newText(d.Words(r.Message))
	for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
		key, val := errortext.NormalKey(d.Nodes[c].Key), d.Nodes[c].Val
		if d.Nodes[c].Kind != loosejson.String || !strings.HasSuffix(key, "code") && key != "name" && key != "id" || !condition(val, key != "name") || said.first().relieved() {
			continue
		}
		return fails("body-status", r.Said(), "it is but a message and the code “"+textsafe.Line(val, 40)+"”").unsure(), true
	}
	return finding{}, false
}

// promised judges a reply whose members are all empty but those that name a condition of
// failure: {"predictions": null, "deployment_status": "NOT_READY"}.
func (r *reply) promised(v *view, i int32) (finding, bool) {
	var why int32
	for c := range children(r.Doc, i) {
		switch n := &r.Doc.Nodes[c]; {
		case n.Kind == loosejson.String && errortext.FailureName(n.Val) && !phrases.HasWord(v.ask.text, n.Val):
			why = c
		case r.Doc.Filled(c) && n.Kind != loosejson.False:
			return finding{}, false
		}
	}
	if why == 0 || r.Members < 2 {
		return finding{}, false
	}
	return fails("body-status", r.Doc.Words(why), "it holds nothing but the name of a condition").unsure(), true
}

// condition reports whether a text is the name of one: words joined by underscores, in
// capitals or, where lower is set, written otherwise, none of which tells of a success.
func condition(s string, lower bool) bool {
	low := strings.ToLower(s)
	if lower && errortext.FailureName(s) || lower && strings.HasPrefix(s, "No") && len(s) > 3 && s[2] >= 'A' && s[2] <= 'Z' {
		return true
	}
	return len(s) < 64 && strings.Contains(s, "_") && phrases.NameLen(low) == len(s) && (s == strings.ToUpper(s) || lower && s == low) &&
		!phrases.ContainsAny(low, []string{"success", "ok", "created", "accept", "complete", "queued", "pending", "sent", "done"})
}
