package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// nothing reports a reply without any result; hollow counts the payloads that
// are structures without content.
func (r *reply) nothing(hollow int) (finding, bool) {
	if len(r.Payloads) == 0 || r.hasResult() && hollow < len(r.Payloads) || r.Others > 0 || r.Message != 0 || r.Good {
		return finding{}, false
	}
	f := half("empty-result", "", "its result is empty")
	f.cause = causeEmpty
	return f, true
}

// hasResult reports whether a payload holds anything.
func (r *reply) hasResult() bool {
	for _, c := range r.Payloads {
		if k := r.Doc.Nodes[c].Kind; k == loosejson.Number || k != loosejson.String && r.Doc.Filled(c) {
			return true
		}
		if s := strings.TrimSpace(r.Doc.Nodes[c].Val); !phrases.FoldedIn(s, blanks) && !errortext.IsVoid(s) {
			return true
		}
	}
	return false
}

// explains reports whether the only payload is an object of messages: an
// explanation, no result.
func (r *reply) explains() bool {
	if len(r.Payloads) != 1 {
		return false
	}
	d, at := r.Doc, r.Payloads[0]
	if d.Nodes[at].Kind == loosejson.String {
		d, at = parseDoc(d.Str(at)), 0
	}
	if !d.OK() || d.Nodes[at].Kind != loosejson.Object {
		return false
	}
	in := readReply(d, at)
	return in.Message != 0 && in.Others == 0 && len(in.Payloads) == 0
}

// banner is a result that came under an error message.
func (r *reply) banner(f finding) finding {
	return half("error-banner", f.quote, "it names an error and brings a result all the same")
}
