package rules

import (
	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// finders are words of names of tools that may find nothing.
var finders = phrases.Words("search", "find", "finder", "query", "lookup", "browse", "discover", "list", "match", "filter", "recommend", "check", "track")

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
