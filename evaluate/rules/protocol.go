package rules

import (
	"net/http"
	"strconv"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// protocolPhrases are how tool protocols and agent frameworks say that a call
// did not get through: MCP and JSON-RPC, pydantic and JSON schema validation,
// agent executors.
var protocolPhrases = []string{
	"mcp error", "error executing tool", "error calling tool", "error invoking tool", "unknown tool", "tool not found",
	"is not a valid tool", "no such tool", "no such function", "unknown function", "function not found",
	"input validation error", "output validation error", "invalid arguments for", "validation error for",
	"validation errors for", "validation error:", "missing required parameter", "missing required argument",
	"unexpected keyword argument", "required positional argument", "is a required property", "<tool_use_error>",
	"tool call failed", "tool execution failed", "tool execution error", "invalid tool call",
	"failed to parse arguments", "failed to call tool", "failed to execute tool", "method not found", "invalid params",
	"additional properties are not allowed", "jsonrpc error", "json-rpc error", "toolexception",
	"tool input validation", "is not a function", "malformed function call", "invalid function call",
	"error during execution", "error: server", "invalid json", "invalid parameters", "invalid input:", "tool error",
	"tool_error", "no tool named", "tool does not exist", "unsupported tool", "invalid action", "invalid arguments",
}

// protocolError: such a phrase near the start, or the protocol's own flag at the
// end.
func protocolError(v *view, t *text) (finding, bool) {
	first := t.first()
	if first.has(hasProtocol) && t.short(60, 6000) && !v.quotes(t) {
		near := first.low()[:min(len(first.low()), 140)]
		if p, ok := phrases.FindAny(near, protocolPhrases); ok && !v.echoes(p) && (!v.ask.reads || opensClause(near, p) || errortext.Heads(first.low())) {
			f := fails("protocol-error", first.s, "the tool protocol or framework rejected the call")
			f.sure = strings.Index(near, p) < 60
			return f, true
		}
	}
	last := t.last()
	if strings.HasSuffix(last.s, "isError=True") || strings.HasSuffix(last.s, `"isError": true}`) {
		return fails("protocol-error", first.s, "the reply carries the protocol's error flag"), true
	}
	return finding{}, false
}

// opensClause reports whether a phrase stands at the beginning of a line or behind a mark:
// within a sentence it is what the sentence is about.
func opensClause(low, p string) bool {
	i := strings.Index(low, p)
	before := strings.TrimRight(low[:i], " \"'`")
	return before == "" || strings.IndexByte(":([<{-=|>", before[len(before)-1]) >= 0
}

// httpLeads introduce a status code in a sentence.
var httpLeads = []string{
	"status code", "status_code", "http error", "http status", "http/1.1", "http/1.0", "http/2", "http/3", "http",
	"status", "error code", "error", "response code", "responded with", "returned", "returned error", "code",
	"server returned", "failed with",
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
	if code := namedStatus(first.low()); code != "" && t.short(4, 800) && !v.asksOf(code) && namedStatus(t.at(1).low()) == "" {
		return fails("http-status", first.s, "it is HTTP status "+code).unsure(), true
	}
	if v.quotes(t) && !t.short(12, 1500) {
		return finding{}, false
	}
	if _, more := leadingStatus(t.at(1).low()); more && (v.ask.reads || v.ask.command != "") {
		return finding{}, false // a table of statuses
	}
	if code, ok := leadingStatus(first.low()); ok && !v.echoes(first.s) && !v.asksOf(code) && (!v.ask.reads || !defines(first.low())) {
		f := fails("http-status", first.s, "it reports HTTP status "+code)
		f.sure = t.short(20, 3000)
		return f, true
	}
	return finding{}, false
}

// asksOf reports whether the input of a tool that does nothing names a number: it is what the
// answer is about.
func (v *view) asksOf(number string) bool {
	return !phrases.HasAny(v.ask.names, actors) && v.scratch.input.OK() && phrases.HasWord(string(v.call.Input[:min(len(v.call.Input), 2000)]), number)
}

// defines reports whether a line in lower case tells what something is.
func defines(low string) bool {
	return phrases.ContainsAny(low[:min(len(low), 60)], []string{" is a ", " is an ", " is the ", " means ", " refers to ", " indicates "})
}

// statusLine finds the last status line of a header dump: after redirects the
// last one counts.
func statusLine(t *text) (finding, bool) {
	var found *line
	bad := false
	for i := range t.lines[:min(len(t.lines), 48)] {
		l := &t.lines[i]
		rest, ok := afterVersion(l.s)
		if !ok {
			continue
		}
		if code := statusCode(rest); code != "" {
			found, bad = l, code >= "400"
		}
	}
	if !bad {
		return finding{}, false
	}
	return fails("http-status", found.s, "the server answered with an error status").unsure(), true
}

// afterVersion is what follows the name and version of a protocol that a line begins
// with, as a status line does: HTTP/1.1, HTTP/2, SIP/2.0, RTSP/1.0.
func afterVersion(s string) (string, bool) {
	if s[0] == '<' || s[0] == '>' {
		s = strings.TrimLeft(s, "<> ")
	}
	i := 3
	if len(s) > 9 && s[i] != '/' {
		i++
	}
	if len(s) < i+5 || s[i] != '/' || !phrases.IsDigit(s[i+1]) || s[i+2] != ' ' && s[i+2] != '.' {
		return "", false
	}
	for k := range i {
		if !phrases.IsAlpha(s[k]) {
			return "", false
		}
	}
	_, rest, ok := strings.Cut(s[i:], " ")
	return rest, ok
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
	if !strings.ContainsAny(s, "45") { // no error status begins otherwise
		return "", false
	}
	for _, lead := range httpLeads {
		i := strings.Index(s[:min(len(s), 160+len(lead))], lead)
		if i < 0 || i > 0 && phrases.IsWord(s[i-1]) {
			continue
		}
		code := statusCode(strings.TrimLeft(s[i+len(lead):], " :=('\"[#"))
		remark := lead == "code" || lead == "returned" || lead == "status" || i > 0 && s[i-1] == '('
		if code >= "400" && (!remark || mentionsFailure(s)) {
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

// namedStatus is the error status that a text in lower case begins with, before its
// name: "404 not found".
func namedStatus(low string) string {
	code := statusCode(low)
	number, err := strconv.Atoi(code)
	if err != nil || number < 400 {
		return ""
	}
	if name := http.StatusText(number); name == "" || !strings.HasPrefix(strings.TrimLeft(low[3:], " :-"), strings.ToLower(name)) {
		return ""
	}
	return code
}

// markupError: a page whose title is an error status, a SOAP fault, an S3 error.
func markupError(_ *view, t *text) (finding, bool) {
	if !strings.HasPrefix(t.full, "<") {
		return finding{}, false
	}
	head := t.full[:min(len(t.full), markupBytes)]
	low := strings.ToLower(head)
	if at := strings.Index(low, "<title>"); at >= 0 {
		title, _, _ := strings.Cut(head[at+len("<title>"):], "<")
		if code := namedStatus(strings.ToLower(strings.TrimSpace(title))); code != "" {
			return fails("markup-error", title, "the page is titled with HTTP status "+code), true
		}
		return finding{}, false
	}
	for _, mark := range []string{"<faultstring>", "<fault>", ":fault>", "<error><code>", "<error>\n"} {
		if at := strings.Index(low, mark); at >= 0 {
			return fails("markup-error", saidIn(head[at:]), "the document is a fault").unsure(), true
		}
	}
	return finding{}, false
}

// markupBytes is how much of a page is read.
const markupBytes = 2 << 10

// saidIn is what stands in a piece of markup, without its tags.
func saidIn(s string) string {
	var words []string
	for s != "" && len(words) < 4 {
		_, s, _ = strings.Cut(s, ">")
		text, _, _ := strings.Cut(s, "<")
		if text = strings.TrimSpace(text); text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}
