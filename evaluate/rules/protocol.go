package rules

import (
	"regexp"
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
func protocolError(v *view, t *text) finding {
	first := t.first()
	if first.has(hasProtocol) {
		near := first.low()[:min(len(first.low()), 140)]
		if p, ok := phrases.FindAny(near, protocolPhrases); ok {
			f := fails("protocol-error", first.s, "the tool protocol or framework rejected the call")
			f.sure = strings.Index(near, p) < 60
			return f
		}
	}
	if scpiForm.MatchString(first.s) {
		return fails("protocol-error", first.s, "the instrument answered with the number of an error")
	}
	if strings.HasSuffix(t.last().s, "isError=True") {
		return fails("protocol-error", first.s, "the reply carries the protocol's error flag")
	}
	return finding{}
}

// httpStatus: the last status line of a header dump, since after redirects that one counts; or
// a last line that states the status.
func httpStatus(v *view, t *text) finding {
	found, code := &line{}, ""
	for i := range t.lines[:min(len(t.lines), 48)] {
		l := &t.lines[i]
		if strings.IndexByte(l.s[:min(len(l.s), 5)], '/') < 3 {
			continue
		}
		if m := statusForm.FindStringSubmatch(l.s); m != nil {
			found, code = l, m[1]
		}
	}
	if !v.ask.shell.onlyPrints() {
		if m := errorForm.FindStringSubmatch(t.last().s); m != nil {
			found, code = t.last(), m[1]
		}
	}
	if code < "400" {
		return finding{}
	}
	f := fails("http-status", found.s, "the server answered with an error status")
	f.sure = found.s == t.first().s // no log of answers, but one
	return f
}

// condition: an operating system's or HTTP's name of an error, alone. Who checks may have been
// asked for it, and programs put their own name before it.
func condition(v *view) finding {
	if v.ask.is(inspector|commanding) || !errortext.Condition(v.out.full) {
		return finding{}
	}
	return fails("condition", v.out.full, "it names an error and says nothing else")
}

// statusForm is a status line: HTTP/1.1 404 Not Found, HTTP/2 200, SIP/2.0 486, RTSP/1.0 454.
var statusForm = regexp.MustCompile(`^[A-Za-z]{3,4}/\d(?:\.\S*)? ([1-5]\d\d)(?:[^\w.]|\.\D|\.?$)`)

// scpiForm is how instruments number errors: -113,"Undefined header".
var scpiForm = regexp.MustCompile(`^-[1-4]\d\d,"`)

// errorForm is how a download ends that failed: ERROR 404: Not Found.
var errorForm = regexp.MustCompile(` ERROR ([45]\d\d): `)
