package rules

import "strings"

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
		switch normalKey(strip(key)) {
		case "success", "ok", "succeeded":
			if val == "false" || val == "no" {
				return fails("reported-outcome", afterLine(t, l), "a line says that it did not succeed"), true
			}
		case "iserror", "failed", "haserror":
			if val == "true" || val == "yes" {
				return fails("reported-outcome", afterLine(t, l), "a line says that it failed"), true
			}
		case "status", "result", "outcome", "state":
			if (badStatus[val] || statusCode(val) >= "400") && t.short(20, 3000) {
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

// badStatus are values of a status member that say the call failed.
var badStatus = words(
	"error", "fail", "failed", "failure", "errored", "err", "exception", "timeout", "timed out", "unauthorized",
	"forbidden", "bad request", "denied", "fatal", "nok", "ko", "invalid", "rejected", "internal server error",
	"unavailable", "bad_request", "invalid_request", "not_found", "zero_results_error", "request_denied",
	"over_query_limit", "invalid request", "not ok", "unsuccessful", "aborted", "crashed",
)
