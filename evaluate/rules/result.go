package rules

import (
	"strings"

	"memoryd/internal/loosejson"
)

// nothing reports a reply without any result; hollow counts the payloads that
// are structures without content.
func (r *reply) nothing(hollow int) (finding, bool) {
	if len(r.payloads) == 0 || r.hasResult() && hollow < len(r.payloads) || r.others > 0 || r.message != 0 || r.good {
		return finding{}, false
	}
	f := half("empty-result", "", "its result is empty")
	f.cause = causeEmpty
	return f, true
}

// hasResult reports whether a payload holds anything.
func (r *reply) hasResult() bool {
	for _, c := range r.payloads {
		if k := r.d.Nodes[c].Kind; k == loosejson.Number || k != loosejson.String && r.d.filled(c) {
			return true
		}
		if s := strings.TrimSpace(r.d.Nodes[c].Val); !foldedIn(s, blanks) && !foldedIn(s, voidTexts) {
			return true
		}
	}
	return false
}

// explains reports whether the only payload is an object of messages: an
// explanation, no result.
func (r *reply) explains() bool {
	if len(r.payloads) != 1 {
		return false
	}
	d, at := r.d, r.payloads[0]
	if d.Nodes[at].Kind == loosejson.String {
		d, at = parseDoc(d.Str(at)), 0
	}
	if !d.OK() || d.Nodes[at].Kind != loosejson.Object {
		return false
	}
	in := readReply(d, at)
	return in.message != 0 && in.others == 0 && len(in.payloads) == 0
}

// banner is a result that came under an error message.
func (r *reply) banner(f finding) finding {
	return half("error-banner", f.quote, "it names an error and brings a result all the same")
}
