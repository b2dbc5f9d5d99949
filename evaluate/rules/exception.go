package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// exception: a trace at the head or the end of the text, or a first line such as
// "ValueError: …".
func exception(v *view, t *text) (finding, bool) {
	first := t.first()
	if v.quotes(t) && v.ask.troubled {
		return finding{}, false
	}
	if l := t.opening(); errortext.Traces(first.low()) && !v.echoes(first.s) || errortext.Traces(l.low()) && !v.ask.reads {
		return fails("exception", thrown(t).s, "the output is the report of an uncaught exception"), true
	}
	if strings.HasPrefix(first.s, "File \"") && errortext.Thrown(t.last().s) {
		return fails("exception", t.last().s, "the output ends with an uncaught exception"), true
	}
	if errortext.Thrown(first.s) && (t.short(30, 4000) || hasFrames(t)) && !v.echoes(first.s) {
		f := fails("exception", first.s, "the output is an exception")
		return f, true
	}
	if l := t.last().s; len(t.lines) > 1 && errortext.Thrown(l) && strings.Contains(l, ": ") && (!v.ask.reads || v.ask.shell.feeds()) && !v.echoes(l) {
		return fails("exception", l, "the output ends with an exception").unsure(), true
	}
	if v.quotes(t) && !v.runsCode() {
		return finding{}, false
	}
	for i := range t.lines {
		if l := t.lines[i].s; errortext.EndsThrown(l) && i == 0 || errortext.Thrown(l) && strings.HasPrefix(t.at(i+1).s, "at ") {
			return fails("exception", l, "the output holds an uncaught exception").unsure(), true
		}
	}
	for i := len(t.lines) - 1; i > 0; i-- {
		if !t.lines[i].has(hasTrace) {
			continue
		}
		if low := errortext.Strip(t.lines[i].low()); phrases.StartsAny(low, uncaught) && errortext.Traces(low) {
			return v.traceInside(t, i), true
		}
	}
	return finding{}, false
}

// traceInside grades a trace that follows other output: at the end it is how the
// run ended, before more output it was survived.
func (v *view) traceInside(t *text, at int) finding {
	if errortext.Thrown(t.last().s) || len(t.lines)-at < 8 || hasFrames(t) && t.last().low() == "" {
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

// thrown is the line that names the exception: the last that looks like one.
func thrown(t *text) *line {
	for i := len(t.lines) - 1; i >= 0; i-- {
		if errortext.Thrown(t.lines[i].s) {
			return &t.lines[i]
		}
	}
	return t.first()
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
