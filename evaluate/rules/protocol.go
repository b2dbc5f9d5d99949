package rules

import (
	"strings"

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
		if p, ok := phrases.FindAny(near, protocolPhrases); ok && !v.echoes(p) {
			f := fails("protocol-error", first.s, "the tool protocol or framework rejected the call")
			f.sure = strings.Index(near, p) < 60
			return f, true
		}
	}
	if strings.HasSuffix(t.last().s, "isError=True") {
		return fails("protocol-error", first.s, "the reply carries the protocol's error flag"), true
	}
	return finding{}, false
}

// httpStatus: a status line of a dump, or a first line that states the status.
func httpStatus(v *view, t *text) (finding, bool) {
	if f, ok := statusLine(t); ok {
		return f, true
	}
	if last := t.last(); v.ask.command != "" && !v.ask.shell.onlyPrints() && len(t.lines) > 1 {
		_, after, said := strings.Cut(last.low(), " error ") // wget
		if code := statusCode(after); said && code >= "400" && strings.HasPrefix(after[3:], ":") {
			return fails("http-status", last.s, "it reports HTTP status "+code).unsure(), true
		}
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
	rest := strings.TrimLeft(s, "0123456789")
	code := s[:len(s)-len(rest)]
	if len(code) != 3 || code < "100" || code > "599" {
		return ""
	}
	switch after, dotted := strings.CutPrefix(rest, "."); {
	case after == "":
		return code
	case dotted && phrases.IsDigit(after[0]), phrases.IsWord(rest[0]):
		return "" // part of a longer number or word
	}
	return code
}
