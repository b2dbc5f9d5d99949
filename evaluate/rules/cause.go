package rules

import (
	"strings"

	"memoryd/internal/phrases"
)

// cause is the kind of trouble that a fragment speaks of.
type cause int

const (
	causeUnknown cause = iota
	causeTimeout
	causeRateLimit
	causeAuth
	causePermission
	causeTool
	causeMissing
	causeExists
	causeParameter
	causeSyntax
	causeNetwork
	causeServer
	causeEmpty
	causeRefusal
	causeCode
)

// causes says of each cause its name, the words that give it away, and what it
// means for the parameters. The first that matches counts.
var causes = [...]struct {
	cause      cause
	name       string
	words      []string
	parameters string
}{
	{causeTimeout, "timeout", []string{
		"timed out", "timeout", "time-out", "deadline exceeded", "took too long",
	}, "the parameters may ask for too much at once"},
	{causeRateLimit, "rate limit", []string{
		"rate limit", "ratelimit", "too many requests", "quota", "429", "throttl",
	}, "the service limits its use, the parameters are not at fault"},
	{causeAuth, "authentication", []string{
		"unauthorized", "unauthenticated", "authentication", "api key", "apikey", "not logged in", "credential", "401",
		"access token", "invalid token", "login",
	}, "credentials are missing, wrong or expired"},
	{causePermission, "permission", []string{
		"permission", "access denied", "forbidden", "not allowed", "not permitted", "403", "outside allowed",
		"not authorized", "read-only", "denied",
	}, "the parameters point to something that this caller may not use"},
	{causeTool, "unknown tool", []string{
		"command not found", "unknown tool", "no such function", "no such tool", "tool not found", "not a valid tool",
		"unknown function", "not recognized as", "no module named", "unknown command", "is not defined",
	}, "the name does not exist where it was used"},
	{causeExists, "conflict", []string{
		"already exists", "file exists", "duplicate", "conflict", "not empty",
	}, "the parameters collide with something that is already there"},
	{causeSyntax, "syntax", []string{
		"syntax error", "syntaxerror", "unexpected token", "unexpected eof", "parse error", "malformed", "unterminated",
		"usage:", "unexpected end", "unmatched", "runaway", "decode",
	}, "the text is not well formed for this tool"},
	{causeMissing, "not found", []string{
		"no such", "not found", "does not exist", "doesn't exist", "cannot find", "could not find", "404", "unknown",
		"doesn't exists", "can't find", "cannot stat", "couldn't find",
	}, "a name, path or identifier in the parameters does not exist"},
	{causeParameter, "parameters", []string{
		"invalid", "required", "missing", "must be", "argument", "parameter", "option", "validation", "not supported",
		"unsupported", "unrecognized", "bad request", "illegal", "out of range", "too generic", "expected", "operand",
		"400", "422", "should", "not a directory", "is a directory",
	}, "a value is missing or not accepted"},
	{causeNetwork, "network", []string{
		"connection", "network", "resolve host", "unreachable", "dns", "socket", "econn", "ssl", "x509", "certificate verif",
		"certificate has expired", "certificate is not", "certificate chain",
		"self-signed", "self signed", "redirect",
		"net::",
	}, "the other side was not reached, the parameters are not at fault"},
	{causeServer, "server error", []string{
		"internal server", "internal error", "bad gateway", "service unavailable", "500", "502", "503", "504",
		"server error",
	}, "the service itself failed, the parameters are not at fault"},
	{causeEmpty, "no result", nil, "broader or other values may match something"},
	{causeRefusal, "not answered", nil, "the tool could not do this for the values given"},
	{causeCode, "exception", []string{"traceback", "exception", "typeerror", "panic", "valueerror"}, "the code or values given made it stop"},
}

// causeOf tells the cause from a fragment's words, those in quotation marks left out:
// they are names.
func causeOf(fragment string) cause {
	fragment = unquoted(fragment[:min(len(fragment), lineBytes)])
	found := causeIndex.Scan(fragment)
	if found == 0 {
		return causeUnknown
	}
	low := strings.ToLower(fragment)
	for i := range causes {
		if found&(1<<i) != 0 {
			return causes[i].cause
		}
		if found&(1<<(i+len(causes))) == 0 {
			continue
		}
		for _, w := range causes[i].words {
			if phrases.HasWord(low, w) {
				return causes[i].cause
			}
		}
	}
	return causeUnknown
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

// causeIndex covers the words of the causes: those of the cause at i by mark i,
// its numbers, which must stand alone, by mark i + len(causes).
var causeIndex = indexCauses()

func indexCauses() *phrases.Index {
	lists := map[phrases.Marks][]string{}
	for i := range causes {
		for _, w := range causes[i].words {
			m := phrases.Marks(1) << i
			if phrases.IsDigit(w[0]) {
				m <<= len(causes)
			}
			lists[m] = append(lists[m], w)
		}
	}
	return phrases.NewIndex(lists)
}

func (c cause) bracket() string {
	for i := range causes {
		if causes[i].cause == c {
			return " (" + causes[i].name + ")"
		}
	}
	return ""
}

func (c cause) parameters() string {
	for i := range causes {
		if causes[i].cause == c {
			return causes[i].parameters
		}
	}
	return ""
}
