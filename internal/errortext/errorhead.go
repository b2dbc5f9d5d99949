package errortext

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd/internal/phrases"
)

// firmHeads are beginnings of a text that can only mean that the call failed.
var firmHeads = []string{
	"an error occurred", "an error has occurred", "an unexpected error", "an exception occurred", "an internal error",
	"there was an error", "there was a problem", "something went wrong", "sorry, something went wrong",
	"internal error", "internal server error", "unexpected error", "unknown error", "fatal:", "failed:", "failed to ",
	"failed with", "failed due", "failed - ", "failed because", "failed!", "failure:", "failure - ", "exception:",
	"exception occurred", "unable to ", "could not ", "couldn't ", "permission denied", "access denied", "denied: ", "access to ",
	"unauthorized", "unauthenticated", "forbidden", "not authorized", "not authenticated", "authentication failed",
	"authentication required", "authentication error", "authorization failed", "authorization required",
	"login required", "timeout", "timed out", "request timed out", "operation timed out", "command timed out",
	"execution timed out", "connection refused", "connection reset", "connection error", "connection timed out",
	"connection failed", "network error", "bad request", "bad gateway", "service unavailable", "gateway timeout",
	"too many requests", "rate limit", "quota exceeded", "validation error", "validation failed", "syntax error",
	"parse error", "parsing error", "http error", "request failed", "execution failed", "execution error",
	"command failed", "tool error", "tool execution failed", "operation failed", "query failed", "query error",
	"server error", "runtime error", "type error", "value error", "key error", "division by zero", "out of memory",
	"no function named", "no tool named", "no such ", "the system cannot find ", "access is denied", "not allowed",
	"not permitted", "operation not permitted", "max retries exceeded", "navigation failed", "navigation timeout",
	"fetch failed", "download failed", "upload failed", "build failed", "compilation failed", "compilation error",
	"import error", "name error", "attribute error", "index error", "cannot ", "can't ", "can not ", "err:", "err!",
	"malformed ", "unhandled", "tool call failed", "api error", "database error", "sql error", "io error", "i/o error",
	"oserror", "system error", "edit failed", "edit rejected", "action failed", "call failed", "search failed",
	"task failed", "job failed", "the request failed", "the operation failed", "the command failed", "the tool failed",
	"execution reverted", "aborting ", "missing: ", "e::", "undefined control sequence", "latex error", "emergency stop",
	"npm err!", "npm error", "make: ***", "cmake error", "conflict (", "insufficient ", "错误", "失败",
	"请求失败", "erreur", "fehler:", "erro:", "ошибка",
}

// Heads reports whether a line in lower case begins like an error message.
func Heads(low string) bool {
	s := Strip(low)
	if rest, ok := strings.CutPrefix(s, "error"); ok && afterError.MatchString(rest) {
		if said := strings.Trim(rest, ": "); said == "" || !isVoid(said) {
			return true
		}
	}
	counted := strings.TrimLeft(s, "0123456789") // how Go joins errors
	if _, joined := phrases.HasPrefixAny(counted, []string{" error occurred", " errors occurred"}); joined && s[0] != '0' {
		return true
	}
	head, firm := phrases.HasPrefixAny(s, firmHeads)
	return firm && headFits(head, s)
}

// headFits tells the heads that also start ordinary sentences.
func headFits(head, s string) bool {
	switch head {
	case "timeout", "rate limit", "forbidden", "unauthorized", "unauthenticated", "unhandled":
		rest := s[len(head):]
		return rest == "" || strings.IndexByte(":!.,-(;", rest[0]) >= 0
	case "access to ":
		return phrases.ContainsAny(s, []string{"denied", "blocked", "forbidden", "not allowed", "restricted"})
	case "exception:", "timed out", "insufficient ":
		return len(s) < 400
	}
	return true
}

// afterError is what follows the word "error" at the start of a message. A number does, but in
// a table, with two blanks before it, that is how many there are.
var afterError = regexp.MustCompile("^(?:$|[:!>|*)\"'`\\[\\](]|：|\\.(?:$|[ .])|-(?:$|[^a-z])|(?: \\t*|\\t[ \\t]*)\\d|[ \\t]+[-–—(\\[#\"])")

// troubleWords mark a line as worth quoting, and a text as not certainly clean.
var troubleWords = []string{
	"error", "fail", "exception", "cannot", "can't", "couldn't", "could not", "no such", "not found", "denied",
	"invalid", "unable", "timeout", "timed out", "fatal", "refused", "unknown", "missing", "not allowed",
	"unauthorized", "forbidden", "warning", "traceback", "unexpected", "illegal", "rejected", "does not exist",
	"unsupported", "not supported", "not available", "unavailable",
}

// TroubleWords returns, in lower case, the words that almost every line about trouble
// contains.
func TroubleWords() []string { return slices.Clone(troubleWords) }

// traceHeads start a report of an exception that nobody caught: Python, Java,
// Go, Rust, C#, JavaScript, PHP, Ruby, C++.
var traceHeads = []string{
	"traceback (most recent call last)", "exception in thread", "panic: ", "fatal error: ", "thread '",
	"unhandled exception", "uncaught exception", "unhandled rejection", "uncaught ", "php fatal error",
	"php parse error", "terminate called after throwing", "goroutine ", "node:internal/", "segmentation fault",
	"bus error", "aborted (core dumped)", "illegal instruction", "floating point exception", "*** stack smashing",
	"java.lang.", "execution failed. traceback", "unhandledpromiserejection", "fatal python error", "runtime error: ",
}

// Thrown reports whether s is "pkg.SomeError: message" or "SomeException".
func Thrown(s string) bool {
	s = strings.TrimLeft(s, "`*\"' (<")
	n := 0
	for n < len(s) && (phrases.IsWord(s[n]) || s[n] == '.' || s[n] == '$') {
		n++
	}
	name, rest := s[:n], s[n:]
	if _, follows := phrases.HasPrefixAny(rest, afterThrown); n < 6 || rest != "" && !follows {
		return false
	}
	for _, end := range thrownEndings {
		if strings.HasSuffix(name, end) && (len(name) > len(end) || rest != "" && rest[0] == ':') {
			return rest != "" || strings.Contains(name, ".") || name[0] <= 'Z'
		}
	}
	return false
}

// Strip removes decoration from the start of a message: brackets, quotes, bullets, marks,
// emoji.
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

// afterThrown are what may stand behind the name of an exception.
var afterThrown = []string{":", "(", "{", ") ", " ["}

// thrownEndings end the names of exception classes.
var thrownEndings = []string{"Error", "Exception", "Fault", "Interrupt", "Failure", "error.Error", "Panic", "Timeout"}

// decoration are the ASCII characters that strip takes off.
const decoration = " \t[(<{*_`#>-!|\"'~=:."

// notebookTrace ends a line of a notebook that starts such a report.
const notebookTrace = " traceback (most recent call last)"

// Traces reports whether a line starts the report of an uncaught exception.
func Traces(line string) bool {
	s, end := Strip(line), len(line)-len(notebookTrace)
	return slices.ContainsFunc(traceHeads, func(head string) bool { return phrases.StartsWith(s, head) }) ||
		end >= 0 && strings.EqualFold(line[end:], notebookTrace)
}
