package rules

import (
	"strings"

	"memoryd/internal/errortext"
)

// usageText: a usage text that nobody asked for means that the arguments were
// not understood.
func usageText(v *view, t *text) finding {
	if !v.ask.is(commanding) || v.ask.help || !strings.HasPrefix(errortext.Strip(t.first().low()), "usage") {
		return finding{}
	}
	f := fails("usage", t.first().s, "it printed its usage although that was not asked for")
	f.cause = causeParameter
	return f
}
