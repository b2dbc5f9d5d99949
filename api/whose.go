package api

import (
	"bytes"

	"memoryd"
)

// workspaceIn finds the member workspace_id of the object that a body is, at a
// glance: it is for deciding whose turn it is, before the body is decoded. What
// is not JSON, or names no workspace, gives "".
func workspaceIn(body []byte) string {
	at := skipSpace(body, 0)
	if at == len(body) || body[at] != '{' {
		return ""
	}
	for at++; ; at++ {
		name, next := stringAt(body, skipSpace(body, at))
		if next = skipSpace(body, next); name == nil || next == len(body) || body[next] != ':' {
			return ""
		}
		at = skipSpace(body, next+1)
		if isWorkspaceID(name) {
			value, _ := stringAt(body, at)
			if value == nil {
				return ""
			}
			return memoryd.Unquote(value)
		}
		at = skipSpace(body, skipValue(body, at))
		if at == len(body) || body[at] != ',' {
			return ""
		}
	}
}

// isWorkspaceID compares a name in its quotes, which may be written with escapes.
func isWorkspaceID(name []byte) bool {
	if bytes.IndexByte(name, '\\') >= 0 {
		return memoryd.Unquote(name) == "workspace_id"
	}
	return string(name) == `"workspace_id"`
}

func skipSpace(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\n' || b[at] == '\r' || b[at] == '\t') {
		at++
	}
	return at
}

// stringAt gives the string that begins at a place, in its quotes, and where it
// ends; nil if there is none.
func stringAt(b []byte, at int) ([]byte, int) {
	if at >= len(b) || b[at] != '"' {
		return nil, len(b)
	}
	for end := at + 1; ; {
		n := bytes.IndexByte(b[end:], '"')
		if n < 0 {
			return nil, len(b)
		}
		end += n + 1
		escapes := 0
		for b[end-2-escapes] == '\\' { // stops at the opening quote
			escapes++
		}
		if escapes%2 == 0 {
			return b[at:end], end
		}
	}
}

// skipValue gives where the value that begins at a place ends, as long as that is
// JSON.
func skipValue(b []byte, at int) int {
	for depth := 0; at < len(b); {
		switch b[at] {
		case '"':
			_, at = stringAt(b, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			if depth == 0 {
				return at
			}
			depth--
			at++
		case ',':
			if depth == 0 {
				return at
			}
			at++
			continue
		default: // a part of a number or a word, a space, a colon
			at++
			continue
		}
		if depth == 0 {
			return at
		}
	}
	return len(b)
}
