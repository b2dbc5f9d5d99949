package rules

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"memoryd/internal/phrases"
)

// cause is the kind of trouble that a fragment speaks of. Of several the first counts.
type cause int

const (
	causeUnknown cause = iota
	causeTimeout
	causeRateLimit
	causeAuth
	causePermission
	causeTool
	causeExists
	causeSyntax
	causeMissing
	causeParameter
	causeNetwork
	causeServer
	causeEmpty
	causeCode
)

// causes says of each cause its name, the words that give it away, the statuses of HTTP that
// do so where they stand alone, and what it means for the parameters.
var causes = [...]struct {
	name       string
	words      []string
	statuses   []string
	parameters string
}{
	causeTimeout: {"timeout", []string{
		"timed out", "timeout", "time-out", "deadline exceeded", "took too long",
	}, nil, "the parameters may ask for too much at once"},
	causeRateLimit: {"rate limit", []string{
		"rate limit", "ratelimit", "too many requests", "quota", "throttl",
	}, []string{"429"}, "the service limits its use, the parameters are not at fault"},
	causeAuth: {"authentication", []string{
		"unauthorized", "unauthenticated", "authentication", "api key", "apikey", "not logged in", "credential",
		"access token", "invalid token", "login",
	}, []string{"401"}, "credentials are missing, wrong or expired"},
	causePermission: {"permission", []string{
		"permission", "access denied", "forbidden", "not allowed", "not permitted", "outside allowed",
		"not authorized", "read-only", "denied",
	}, []string{"403"}, "the parameters point to something that this caller may not use"},
	causeTool: {"unknown tool", []string{
		"command not found", "unknown tool", "no such function", "no such tool", "tool not found", "not a valid tool",
		"unknown function", "not recognized as", "no module named", "unknown command", "is not defined",
	}, nil, "the name does not exist where it was used"},
	causeExists: {"conflict", []string{
		"already exists", "file exists", "duplicate", "conflict", "not empty",
	}, nil, "the parameters collide with something that is already there"},
	causeSyntax: {"syntax", []string{
		"syntax error", "syntaxerror", "unexpected token", "unexpected eof", "parse error", "malformed", "unterminated",
		"usage:", "unexpected end", "unmatched", "runaway", "decode",
	}, nil, "the text is not well formed for this tool"},
	causeMissing: {"not found", []string{
		"no such", "not found", "does not exist", "doesn't exist", "cannot find", "could not find", "unknown",
		"can't find", "cannot stat", "couldn't find",
	}, []string{"404"}, "a name, path or identifier in the parameters does not exist"},
	causeParameter: {"parameters", []string{
		"invalid", "required", "missing", "must be", "argument", "parameter", "option", "validation", "not supported",
		"unsupported", "unrecognized", "bad request", "illegal", "out of range", "too generic", "expected", "operand",
		"should", "not a directory", "is a directory",
	}, []string{"400", "422"}, "a value is missing or not accepted"},
	causeNetwork: {"network", []string{
		"connection", "network", "resolve host", "unreachable", "dns", "socket", "econn", "ssl", "x509", "certificate verif",
		"certificate has expired", "certificate is not", "certificate chain", "self-signed", "self signed", "redirect", "net::",
	}, nil, "the other side was not reached, the parameters are not at fault"},
	causeServer: {"server error", []string{
		"internal server", "internal error", "bad gateway", "service unavailable", "server error",
	}, []string{"500", "502", "503", "504"}, "the service itself failed, the parameters are not at fault"},
	causeEmpty: {"no result", nil, nil, "broader or other values may match something"},
	causeCode: {"exception", []string{
		"traceback", "exception", "typeerror", "panic", "valueerror",
	}, nil, "the code or values given made it stop"},
}

// causeIndex covers the words of the causes, those of cause c by mark c, and causeStatuses
// their statuses.
var causeIndex, causeStatuses = func() (*phrases.Index, map[string]phrases.Marks) {
	words, statuses := map[phrases.Marks][]string{}, map[string]phrases.Marks{}
	for c := range causes {
		words[1<<c] = causes[c].words
		for _, s := range causes[c].statuses {
			statuses[s] = 1 << c
		}
	}
	return phrases.NewIndex(words), statuses
}()

// causeOf tells the cause from a fragment's words, those in quotation marks left out:
// they are names.
func causeOf(fragment string) cause {
	fragment = unquoted(fragment[:min(len(fragment), lineBytes)])
	found := causeIndex.Scan(fragment)
	for word := range strings.FieldsFuncSeq(fragment, func(r rune) bool { return r >= utf8.RuneSelf || !phrases.IsWord(byte(r)) }) {
		found |= causeStatuses[word]
	}
	if found == 0 {
		return causeUnknown
	}
	return cause(bits.TrailingZeros64(uint64(found)))
}

// unquoted leaves out what stands in quotation marks within a text.
func unquoted(s string) string {
	for from := 1; from < len(s); {
		open := strings.IndexAny(s[from:], "'\"`")
		if open < 0 {
			break
		}
		open += from
		length := strings.IndexByte(s[open+1:], s[open])
		if from = open + 1; length < 0 {
			break
		}
		if !phrases.IsWord(s[open-1]) {
			s = s[:open] + s[open+length+2:]
		}
	}
	return s
}

func (c cause) bracket() string {
	if c == causeUnknown {
		return ""
	}
	return " (" + causes[c].name + ")"
}
