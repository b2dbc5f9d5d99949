package evidence

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	messageHead   = 4 << 10  // bytes looked at from the start of an output
	messageTail   = 2 << 10  // and from its end
	messageParsed = 64 << 10 // longer outputs are not parsed as JSON
	messageRunes  = 300      // longer messages are cut
	wholeRunes    = 200      // a single line up to this length is a message as it stands
)

// errorWords are the words by which a line is taken for an error message. They
// follow common usage of compilers, shells, HTTP servers and Python and Java
// exceptions.
var errorWords = [...]string{
	"error", "exception", "fail", "warning", "denied", "refused", "not found", "no such", "cannot", "can't", "could not", "unable",
	"invalid", "unsupported", "not supported", "unexpected", "missing", "timed out", "timeout", "forbidden", "unauthorized",
	"unauthorised", "not allowed", "not enough", "too many", "too large", "too generic", "exceed", "must ", "required", "not available",
	"unavailable", "bad request", "limit", "abort", "illegal", "malformed", "does not", "not a ", "unknown", "expired", "status code",
}

// errorMembers are the members of a JSON answer that hold its error message.
var errorMembers = [...]string{"error", "errors", "message", "msg", "detail", "details", "error_message", "errorMessage", "reason", "stderr", "text", "content", "response"}

// messageOf finds the error message in the output of a call that went wrong: ""
// when there is no line that reads like one.
func messageOf(output string) string {
	out := content(output)
	if out == "" {
		return ""
	}
	if (out[0] == '{' || out[0] == '[') && len(out) <= messageParsed {
		var v any
		if json.Unmarshal([]byte(out), &v) == nil {
			return shorten(messageIn(v, 0))
		}
	}
	head, tail := out, ""
	if len(out) > messageHead {
		head = out[:messageHead]
		tail = out[max(messageHead, len(out)-messageTail):]
	}
	return shorten(messageLine(valid(head), valid(tail)))
}

// valid drops bytes that are not UTF-8.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "")
}

// content is an output without white space and NUL characters around it.
func content(output string) string {
	return strings.TrimFunc(output, func(r rune) bool { return unicode.IsSpace(r) || r == 0 })
}

// messageIn looks for a message in a decoded answer.
func messageIn(v any, depth int) string {
	if depth > 4 {
		return ""
	}
	switch v := v.(type) {
	case string:
		s := strings.TrimSpace(v)
		var inner any
		if strings.HasPrefix(s, "{") && json.Unmarshal([]byte(s), &inner) == nil {
			return messageIn(inner, depth+1)
		}
		return messageLine(s[:min(len(s), messageHead)], "")
	case []any:
		for _, e := range v[:min(len(v), 4)] {
			if m := messageIn(e, depth+1); m != "" {
				return m
			}
		}
	case map[string]any:
		for _, name := range errorMembers {
			if m := messageIn(v[name], depth+1); m != "" {
				return m
			}
		}
	}
	return ""
}

// messageLine is the line of a text that says what went wrong: the last one of a
// stack trace, else the first one with an error word, else a text that is one
// short line as a whole.
func messageLine(head, tail string) string {
	first, last, count := "", "", 0
	traced := false
	for _, text := range [...]string{head, tail} {
		for l, rest := nextLine(text); l != ""; l, rest = nextLine(rest) {
			if count++; count == 1 {
				first = l
				traced = strings.HasPrefix(strings.TrimSpace(l), "Traceback (most recent call last)")
			}
			last = l
			if !traced && isErrorLine(l) {
				return l
			}
		}
	}
	if traced || count == 1 && utf8.RuneCountInString(first) <= wholeRunes {
		return last
	}
	return ""
}

// nextLine cuts the first line that is not blank from a text; "" when there is
// none.
func nextLine(text string) (line, rest string) {
	for text != "" {
		end := strings.IndexAny(text, "\n\r\x00")
		if end < 0 {
			line, text = text, ""
		} else {
			line, text = text[:end], text[end+1:]
		}
		if strings.TrimSpace(line) != "" {
			return line, text
		}
	}
	return "", ""
}

func isErrorLine(line string) bool {
	lower := strings.ToLower(line[:min(len(line), 4*messageRunes)])
	for _, w := range errorWords {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// shorten makes a message one line of at most messageRunes characters.
func shorten(s string) string {
	s = strings.Join(strings.Fields(valid(s)), " ")
	if r := []rune(s); len(r) > messageRunes {
		return strings.TrimSpace(string(r[:messageRunes])) + "…"
	}
	return s
}
