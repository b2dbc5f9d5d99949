package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// compileError: a line of a build says "file:line:column: error: …" or the like.
// Programs that only print files do not build.
func compileError(v *view, t *text) (finding, bool) {
	if v.ask.reads {
		return finding{}, false
	}
	listing := strings.HasPrefix(t.first().s, "# ")
	for i := range t.lines {
		l := &t.lines[i]
		placed := i > 0 && listing && (isPlaced(strings.TrimPrefix(l.s, "vet: ")) || strings.HasSuffix(l.s, " [setup failed]")) || i == 0 && misparsed(l.s)
		if !isCompileError(l) && !placed || v.echoes(l.s) {
			continue
		}
		return fails("compile-error", l.s, "a compiler rejected the source").unsure(), true
	}
	return finding{}, false
}

// compilePhrases are, in lower case, what no such line is without.
var compilePhrases = []string{": parser error : ", ": error: ", ": fatal error: ", ": error c", ": error ts", " - error ts", "error[e", "undefined reference to "}

// isCompileError recognises the message lines of C, Java, C#, TypeScript and
// Rust compilers.
func isCompileError(l *line) bool {
	if !l.has(hasCompile) {
		return false
	}
	for _, mark := range compilePhrases[:7] {
		if i := strings.Index(l.low(), mark); i > 0 && len(l.low()) == len(l.s) && i < 200 && strings.ContainsAny(l.s[:i], "0123456789") && strings.Contains(l.s[:i], ".") && !strings.Contains(l.s[:i], " ") {
			return true
		}
	}
	return strings.HasPrefix(l.low(), "error[e") || strings.Contains(l.low(), "undefined reference to ")
}

// isPlaced reports whether a line starts with file:line:column (Go).
func isPlaced(s string) bool {
	name, rest, ok := strings.Cut(s, ":")
	if !ok || strings.ContainsAny(name, " ") || !strings.Contains(name, ".") || rest == "" || !phrases.IsDigit(rest[0]) {
		return false
	}
	return strings.Contains(rest, ": ")
}

// misparsed reports whether a line says what a parser stumbled over, and where: "a.go:3:1: expected '}', found 'EOF'".
func misparsed(s string) bool {
	_, said, _ := strings.Cut(s, ": ")
	return isPlaced(s) && (strings.HasPrefix(said, "expected ") && strings.Contains(said, ", found ") || phrases.StartsAny(said, parseComplaints))
}

// testFailures: the last lines of a test run count failures. The tool did its
// work, what it worked on did not pass: half an outcome.
func testFailures(v *view, t *text) (finding, bool) {
	if v.ask.command == "" && v.ask.reads {
		return finding{}, false
	}
	for i := len(t.lines) - 1; i >= max(0, len(t.lines)-6); i-- {
		l := &t.lines[i]
		if n, rest, _ := strings.Cut(strings.Trim(l.low(), "= "), " "); phrases.StartsAny(rest, []string{"error in ", "errors in "}) && n != "0" && strings.Trim(n, "0123456789") == "" {
			return fails("test-failures", l.s, "no test ran: it could not read them").unsure(), true
		}
		if countsFailures(l) && !v.echoes(l.s) {
			f := half("test-failures", l.s, "it ran, and reports failed tests")
			f.cause = causeUnknown
			return f, true
		}
	}
	return finding{}, false
}

// countsFailures recognises the closing lines of pytest, unittest, go test,
// cargo, jest, mocha, JUnit and CTest.
func countsFailures(l *line) bool {
	low := strings.Trim(l.low(), "= \t")
	switch {
	case l.s == "FAIL", strings.HasPrefix(low, "test result: failed"):
		return true
	case strings.HasPrefix(l.s, "FAIL\t"), strings.HasPrefix(l.s, "--- FAIL: "), strings.HasPrefix(l.s, "FAILED ("):
		return true
	case strings.HasSuffix(low, "tests failed out of"), strings.HasPrefix(low, "tests run:") && !strings.Contains(low, "failures: 0"):
		return strings.Contains(low, "fail")
	}
	n, rest, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(low, "tests:")), " ")
	_, failed := phrases.HasPrefixAny(strings.TrimSpace(rest), []string{"failed", "failing"})
	return failed && n != "" && n != "0" && phrases.IsDigit(n[0]) && len(low) < 120
}

// usageText: a usage text that nobody asked for means that the arguments were
// not understood.
func usageText(v *view, t *text) (finding, bool) {
	low := errortext.Strip(t.first().low())
	if next := t.at(1).low(); v.ask.command != "" && !v.ask.reads && strings.HasPrefix(next, "usage") {
		low = next // after what was wrong
	}
	if !strings.HasPrefix(low, "usage:") && !strings.HasPrefix(low, "usage ") || v.ask.help || v.quotes(t) && v.ask.command == "" {
		return finding{}, false
	}
	f := fails("usage", t.first().s, "it printed its usage although that was not asked for").unsure()
	f.cause = causeParameter
	return f, true
}
