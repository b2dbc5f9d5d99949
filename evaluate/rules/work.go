package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

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
