package rules

import (
	"strings"

	"memoryd/internal/errortext"
)

// reportedOutcome: one of the first five lines is "success: false", "status:
// error", "isError: true" or "error: …" in a list of such members (YAML, header
// style).
func reportedOutcome(v *view, t *text) (finding, bool) {
	if v.quotes(t) || v.ask.command != "" && v.ask.reads {
		return finding{}, false
	}
	for i := range t.lines[:min(len(t.lines), 5)] {
		l := &t.lines[i]
		if strings.IndexByte(l.s, ':') < 0 {
			continue
		}
		key, val, _ := strings.Cut(l.low(), ":")
		if len(key) > 24 {
			continue
		}
		val = strings.Trim(val, " \"',*_`")
		switch errortext.NormalKey(errortext.Strip(key)) {
		case "success", "ok", "succeeded":
			if val == "false" || val == "no" {
				return fails("reported-outcome", afterLine(t, l), "a line says that it did not succeed"), true
			}
		case "iserror", "failed", "haserror":
			if val == "true" || val == "yes" {
				return fails("reported-outcome", afterLine(t, l), "a line says that it failed"), true
			}
		case "status", "result", "outcome", "state":
			if (errortext.IsBadStatus(val) || statusCode(val) >= "400") && t.short(20, 3000) {
				return fails("reported-outcome", afterLine(t, l), "a line states a failed status"), true
			}
		}
	}
	return finding{}, false
}

// afterLine quotes the error or message line of a list of members, else l.
func afterLine(t *text, l *line) string {
	for i := range t.lines[:min(len(t.lines), 12)] {
		m := &t.lines[i]
		key, _, ok := strings.Cut(m.low(), ":")
		if ok && (strings.HasPrefix(key, "error") || key == "message" || key == "reason" || key == "detail") {
			return m.s
		}
	}
	return l.s
}
