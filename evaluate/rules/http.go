package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// httpLeads introduce a status code in a sentence.
var httpLeads = []string{
	"status code", "status_code", "http error", "http status", "http/1.1", "http/1.0", "http/2", "http/3", "http",
	"status", "error code", "error", "response code", "responded with", "returned", "returned error", "code",
	"server returned", "failed with",
}

// httpReasons are the reason phrases of RFC 9110 and their common spellings.
var httpReasons = []string{
	"bad request", "unauthorized", "payment required", "forbidden", "not found", "method not allowed", "not acceptable",
	"proxy authentication", "request timeout", "conflict", "gone", "length required", "precondition failed",
	"payload too large", "content too large", "request entity too large", "uri too long", "unsupported media type",
	"i'm a teapot", "unprocessable", "locked", "failed dependency", "too many requests", "unavailable for legal",
	"internal server error", "server error", "client error", "not implemented", "bad gateway", "service unavailable",
	"service temporarily unavailable", "gateway timeout", "gateway time-out", "http version not supported",
	"insufficient storage", "origin", "web server is down",
}

// httpStatus: a status line of a dump, or a first line that states the status.
func httpStatus(v *view, t *text) (finding, bool) {
	if f, ok := statusLine(t); ok {
		return f, true
	}
	first := t.first()
	if last := t.last(); v.ask.command != "" && !v.ask.shell.onlyPrints() && len(t.lines) > 1 {
		_, after, said := strings.Cut(last.low(), " error ") // wget
		if code := statusCode(after); said && code >= "400" && strings.HasPrefix(after[3:], ":") {
			return fails("http-status", last.s, "it reports HTTP status "+code).unsure(), true
		}
	}
	if v.quotes(t) && !t.short(12, 1500) {
		return finding{}, false
	}
	if _, more := leadingStatus(t.at(1).low()); more && v.ask.reads {
		return finding{}, false // a table of statuses
	}
	if code, ok := leadingStatus(first.low()); ok && !v.echoes(first.s) {
		f := fails("http-status", first.s, "it reports HTTP status "+code)
		f.sure = t.short(20, 3000)
		return f, true
	}
	return finding{}, false
}

// statusLine finds the last status line of a header dump: after redirects the
// last one counts.
func statusLine(t *text) (finding, bool) {
	var found *line
	bad := false
	for i := range t.lines[:min(len(t.lines), 48)] {
		l := &t.lines[i]
		if !startsHTTP(l.s) {
			continue
		}
		low := strings.TrimLeft(l.low(), "<> ")
		if !strings.HasPrefix(low, "http/") || len(low) < 12 {
			continue
		}
		_, rest, _ := strings.Cut(low, " ")
		if code := statusCode(rest); code != "" {
			found, bad = l, code >= "400"
		}
	}
	if !bad {
		return finding{}, false
	}
	return fails("http-status", found.s, "the server answered with an error status").unsure(), true
}

// startsHTTP is a quick look before statusLine reads a line.
func startsHTTP(s string) bool {
	for s != "" && (s[0] == '<' || s[0] == '>' || s[0] == ' ') {
		s = s[1:]
	}
	return s != "" && s[0]|0x20 == 'h'
}

// statusCode is the three digits that s starts with, if they are a status.
func statusCode(s string) string {
	if len(s) < 3 || s[0] < '1' || s[0] > '5' || !phrases.IsDigit(s[1]) || !phrases.IsDigit(s[2]) || len(s) > 3 && (phrases.IsWord(s[3]) || s[3] == '.' && len(s) > 4 && phrases.IsDigit(s[4])) {
		return ""
	}
	return s[:3]
}

// leadingStatus finds an error status in a first line: "404 Not Found",
// "HTTP Error 403: Forbidden", "request failed with status code 500".
func leadingStatus(low string) (string, bool) {
	s := errortext.Strip(low)
	if code := statusCode(s); code >= "400" {
		if _, ok := phrases.HasPrefixAny(strings.TrimLeft(s[3:], " :-–"), httpReasons); ok {
			return code, true
		}
	}
	if !strings.ContainsAny(s, "45") { // no error status begins otherwise
		return "", false
	}
	for _, lead := range httpLeads {
		i := strings.Index(s[:min(len(s), 160+len(lead))], lead)
		if i < 0 || i > 0 && phrases.IsWord(s[i-1]) {
			continue
		}
		code := statusCode(strings.TrimLeft(s[i+len(lead):], " :=('\"[#"))
		if code >= "400" && (lead != "code" && lead != "returned" && lead != "status" || mentionsFailure(s)) {
			return code, true
		}
	}
	return "", false
}

// mentionsFailure reports whether a status number comes with a word that makes
// it one.
func mentionsFailure(low string) bool {
	return phrases.ContainsAny(low, []string{
		"error", "fail", "unable", "could not", "http status", "status code", "forbidden", "unauthorized", "not found",
		"bad request", "bad gateway", "unavailable", "too many requests", "gateway time",
	})
}
