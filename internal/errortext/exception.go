package errortext

import (
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd/internal/phrases"
)

// traceHeads start a report of an exception that nobody caught: Python, Java,
// Go, Rust, C#, JavaScript, PHP, Ruby, C++.
var traceHeads = []string{
	"traceback (most recent call last)", "exception in thread", "panic: ", "fatal error: ", "thread '",
	"unhandled exception", "uncaught exception", "unhandled rejection", "uncaught ", "php fatal error",
	"php parse error", "terminate called after throwing", "goroutine ", "node:internal/", "segmentation fault",
	"bus error", "aborted (core dumped)", "illegal instruction", "floating point exception", "*** stack smashing",
	"java.lang.", "execution failed. traceback", "unhandledpromiserejection", "fatal python error", "runtime error: ",
}

// traceFits tells the heads that are also ordinary words from real ones.
func traceFits(head, low string) bool {
	switch head {
	case "thread '":
		return strings.Contains(low, "panicked at")
	case "goroutine ":
		return strings.Contains(low, "[running]")
	case "java.lang.":
		return strings.Contains(low, "exception") || strings.Contains(low, "error")
	case "uncaught ":
		return strings.Contains(low, "error") || strings.Contains(low, "exception")
	}
	return true
}

// Thrown reports whether s is "pkg.SomeError: message" or "SomeException".
func Thrown(s string) bool {
	s = strings.TrimLeft(s, "`*\"' ")
	n := 0
	for n < len(s) && (phrases.IsWord(s[n]) || s[n] == '.' || s[n] == '$') {
		n++
	}
	name, rest := s[:n], s[n:]
	if n < 6 || rest != "" && rest[0] != ':' && rest[0] != '(' && rest[0] != '{' && !strings.HasPrefix(rest, " [") {
		return false
	}
	for _, end := range thrownEndings {
		if strings.HasSuffix(name, end) && (len(name) > len(end) || rest != "" && rest[0] == ':') {
			return rest != "" || strings.Contains(name, ".") || name[0] >= 'A' && name[0] <= 'Z'
		}
	}
	return false
}

// EndsThrown recognises "…: message (SomeError)" (Ruby).
func EndsThrown(s string) bool {
	open := strings.LastIndexByte(s, '(')
	return open > 0 && strings.HasSuffix(s, "Error)") && Thrown(s[open+1:len(s)-1]+":")
}

// Strip takes off what decorates the start of a message: brackets, quotes,
// bullets, marks, emoji.
func Strip(low string) string {
	if low != "" && low[0] < utf8.RuneSelf && strings.IndexByte(decoration, low[0]) < 0 {
		return low
	}
	for {
		s := strings.TrimLeft(low, decoration)
		for _, mark := range []string{"❌", "│", "╷", "╭", "✗", "✖", "⚠", "🚫", "⛔", "💥", "×", "\ufe0f", "•", "“", "‘", "🔴", "❗"} {
			s = strings.TrimPrefix(s, mark)
		}
		if s == low {
			return s
		}
		low = s
	}
}

// thrownEndings end the names of exception classes.
var thrownEndings = []string{"Error", "Exception", "Fault", "Interrupt", "Failure", "error.Error", "Panic", "Timeout"}

// decoration are the ASCII characters that strip takes off.
const decoration = " \t[(<{*_`#>-!|\"'~=:."

// UncaughtHeads are those by which a trace is known after other output, too.
func UncaughtHeads() []string { return slices.Clone(traceHeads[:4]) }

// Traces reports whether a line in lower case starts the report of an exception
// that nobody caught.
func Traces(low string) bool {
	head, ok := phrases.HasPrefixAny(Strip(low), traceHeads)
	return ok && traceFits(head, low) || strings.HasSuffix(low, " traceback (most recent call last)") // a notebook's
}
