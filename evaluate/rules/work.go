package rules

import (
	"strings"

	"memoryd/internal/errortext"
)

// usageText: a usage text that nobody asked for means that the arguments were
// not understood.
func usageText(v *view, t *text) (finding, bool) {
	low := errortext.Strip(t.first().low())
	if next := t.at(1).low(); v.ask.command != "" && !v.ask.reads && strings.HasPrefix(next, "usage") {
		low = next // after what was wrong
	}
	if !strings.HasPrefix(low, "usage:") && !strings.HasPrefix(low, "usage ") || v.ask.help || v.quotes(t) && v.ask.command == "" {
		return finding{}, false
	}
	f := fails("usage", t.first().s, "it printed its usage although that was not asked for").unsure()
	f.cause = causeParameter
	return f, true
}
