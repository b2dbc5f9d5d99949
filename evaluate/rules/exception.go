package rules

import (
	"strings"
	"unicode/utf8"
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

// insideHeads is how many of them are believed after other output too.
const insideHeads = 4

// exception: a trace at the head or the end of the text, or a first line such as
// "ValueError: …".
func exception(v *view, t *text) (finding, bool) {
	first := t.first()
	if v.quotes(t) && v.ask.troubled {
		return finding{}, false
	}
	if head, ok := hasPrefixAny(strip(first.low()), traceHeads); ok && traceLike(head, first.low()) && !v.echoes(first.s) {
		return fails("exception", thrown(t).s, "the output is the report of an uncaught exception"), true
	}
	if strings.HasPrefix(first.s, "File \"") && isThrown(t.last().s) {
		return fails("exception", t.last().s, "the output ends with an uncaught exception"), true
	}
	if isThrown(first.s) && (t.short(30, 4000) || hasFrames(t)) && !v.echoes(first.s) {
		f := fails("exception", first.s, "the output is an exception")
		return f, true
	}
	if v.quotes(t) && !v.runsCode() {
		return finding{}, false
	}
	for i := range t.lines {
		if l := t.lines[i].s; endsThrown(l) && i == 0 || isThrown(l) && strings.HasPrefix(t.at(i+1).s, "at ") {
			return fails("exception", l, "the output holds an uncaught exception").unsure(), true
		}
	}
	for i := len(t.lines) - 1; i > 0; i-- {
		if !t.lines[i].has(hasTrace) {
			continue
		}
		low := strip(t.lines[i].low())
		if head, ok := hasPrefixAny(low, traceHeads[:insideHeads]); ok && traceLike(head, low) {
			return v.traceInside(t, i), true
		}
	}
	return finding{}, false
}

// traceInside grades a trace that follows other output: at the end it is how the
// run ended, before more output it was survived.
func (v *view) traceInside(t *text, at int) finding {
	if isThrown(t.last().s) || len(t.lines)-at < 8 || hasFrames(t) && t.last().low() == "" {
		return fails("exception", thrown(t).s, "the output ends with an uncaught exception").unsure()
	}
	return half("exception", t.lines[at].s, "the output holds a traceback, and goes on after it")
}

// runsCode reports whether the tool executes what it is given.
func (v *view) runsCode() bool {
	for _, name := range v.ask.shell.deciding {
		if name == "python" || name == "python3" || name == "node" || name == "go" || name == "java" || name == "ruby" || name == "perl" || name == "php" || name == "cargo" {
			return true
		}
	}
	return false
}

// traceLike tells the heads that are also ordinary words from real ones.
func traceLike(head, low string) bool {
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

// runtimePhrases are messages of language runtimes and standard libraries that
// reach the output without the name of their exception.
var runtimePhrases = []string{
	"' object has no attribute '", "' object is not ", "codec can't decode", "codec can't encode",
	"list index out of range", "index out of bounds", "string index out of range", "nil pointer dereference",
	"is not defined", "is not a function", "is not iterable", "is not a constructor", "cannot read propert",
	"unexpected token", "unexpected end of json", "unexpected end of input", "expecting value: line",
	"extra data: line", "expecting property name", "does not match format '", "could not convert string to float",
	"invalid literal for int()", "unsupported operand type", "division by zero", "must be str, not ",
	"positional arguments but ", "positional argument but ", "missing 1 required positional",
	"not enough values to unpack", "too many values to unpack", "maximum recursion depth", "unhashable type",
	"no module named ", "cannot import name ", "undefined method ", "undefined local variable", "eisdir: ", "enoent: ",
	"eacces: ", "eperm: ", "enotdir: ", "eexist: ", "enospc: ", "emfile: ", "[errno ", "null reference",
	"object reference not set", "nullpointerexception", "stack overflow", "out of memory", "invalid time value",
	"cannot unmarshal", "invalid character '",
}

// runtimeError: a message of one to three lines with such a phrase in the first.
func runtimeError(v *view, t *text) (finding, bool) {
	first := t.first()
	if !t.short(3, 500) || v.quotes(t) || v.ask.reads && v.ask.command != "" {
		return finding{}, false
	}
	p, ok := first.find(hasRuntime, runtimePhrases)
	low := first.low()
	if !ok || strings.Contains(low, "to fix") || strings.Contains(low, "occurs when") || strings.Contains(low, " is thrown ") || v.echoes(first.s) {
		return finding{}, false
	}
	f := fails("runtime-error", first.s, "a runtime says what it stumbled over")
	f.sure = strings.Index(low, p) < 80
	return f, true
}

// thrown is the line that names the exception: the last that looks like one.
func thrown(t *text) *line {
	for i := len(t.lines) - 1; i >= 0; i-- {
		if isThrown(t.lines[i].s) {
			return &t.lines[i]
		}
	}
	return t.first()
}

// thrownEndings end the names of exception classes.
var thrownEndings = []string{"Error", "Exception", "Fault", "Interrupt", "Failure", "error.Error", "Panic", "Timeout"}

// isThrown reports whether s is "pkg.SomeError: message" or "SomeException".
func isThrown(s string) bool {
	s = strings.TrimLeft(s, "`*\"' ")
	n := 0
	for n < len(s) && (isWord(s[n]) || s[n] == '.' || s[n] == '$') {
		n++
	}
	name, rest := s[:n], s[n:]
	if n < 6 || rest != "" && rest[0] != ':' && rest[0] != '(' && !strings.HasPrefix(rest, " [") {
		return false
	}
	for _, end := range thrownEndings {
		if strings.HasSuffix(name, end) && (len(name) > len(end) || rest != "" && rest[0] == ':') {
			return rest != "" || strings.Contains(name, ".") || name[0] >= 'A' && name[0] <= 'Z'
		}
	}
	return false
}

// endsThrown recognises "…: message (SomeError)" (Ruby).
func endsThrown(s string) bool {
	open := strings.LastIndexByte(s, '(')
	return open > 0 && strings.HasSuffix(s, "Error)") && isThrown(s[open+1:len(s)-1]+":")
}

// hasFrames reports whether the text has at least one stack frame.
func hasFrames(t *text) bool {
	for i := range t.lines {
		l := &t.lines[i]
		if strings.HasPrefix(l.s, "at ") && strings.HasSuffix(l.s, ")") || strings.HasPrefix(l.s, "File \"") && strings.Contains(l.s, ", line ") ||
			strings.HasPrefix(l.low(), "caused by: ") {
			return true
		}
	}
	return false
}

// decoration are the ASCII characters that strip takes off.
const decoration = " \t[(<{*_`#>-!|\"'~=:."

// strip takes off what decorates the start of a message: brackets, quotes,
// bullets, marks, emoji.
func strip(low string) string {
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
