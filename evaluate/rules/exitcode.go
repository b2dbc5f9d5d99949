package rules

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// exitPhrases introduce an exit status in a text.
var exitPhrases = []string{
	"exit code", "exit status", "exiting with", "exit_code", "exitcode", "exited with", "return code", "returncode", "return_code",
	"terminated with", "finished with code", "failed with code", "exit value",
}

// exitCode: a reported status other than 0 is a failure, save where status 1 is
// how the command says no.
func exitCode(v *view) finding {
	code, _ := v.exitStatus()
	if code == 0 || v.body.OK() || v.out.total > 1 && v.ask.is(logger) { // of a log it is what it tells of
		return finding{}
	}
	return exitFinding(v, v.out, code)
}

func exitFinding(v *view, t *text, code int) finding {
	quote := strongestLine(t)
	if code == 1 && v.ask.shell.mayAnswerByStatus() {
		if complaint := shellError(v, t); !complaint.found() {
			return half("exit-code", quote, "exit status 1 is how this command says no or different")
		}
	}
	return fails("exit-code", quote, "it reports exit status "+strconv.Itoa(code))
}

// exitStatus is the status that the command line was told to print, else the one that
// a line reports.
func (v *view) exitStatus() (code int, known bool) {
	sh := v.ask.shell
	if sh.told {
		for _, l := range slices.Backward(v.out.lines) {
			rest, begins := strings.CutPrefix(l.s, strings.TrimSpace(sh.before))
			rest, ends := strings.CutSuffix(rest, strings.TrimSpace(sh.after))
			code, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 8)
			if begins && ends && err == nil {
				return int(code), sh.first || !sh.hides
			}
		}
	}
	return reportedStatus(v.out)
}

// endedWell reports whether a status of 0 is reported.
func (v *view) endedWell() bool {
	code, known := v.exitStatus()
	return known && code == 0
}

// givenStatus is the exit status of a command that who recorded the call noted, else the
// one that the output reports.
func (v *view) givenStatus() (code int, known bool) {
	var noted struct {
		Exit *int `json:"exit_code"`
	}
	if !v.ask.is(commanding) {
		return 0, false
	}
	if _ = json.Unmarshal(v.call.Metadata, &noted); noted.Exit != nil {
		return *noted.Exit, true
	}
	return v.exitStatus()
}

// reportedStatus reads the status from the first two or the last three lines, where
// programs that run others put it.
func reportedStatus(t *text) (code int, known bool) {
	n := len(t.lines)
	for i := 0; i < n; i++ {
		if i == 2 {
			i = max(i, n-3)
		}
		if code, known = exitStatusOf(&t.lines[i]); known {
			return code, true
		}
	}
	return 0, false
}

// exitStatusOf reads a line whose point is the status: short, with the number at
// its end.
func exitStatusOf(l *line) (code int, known bool) {
	if len(l.s) > 120 || !l.has(hasExit) {
		return 0, false
	}
	said := exitForm.FindStringSubmatch(l.low())
	if said == nil {
		return 0, false
	}
	code, err := strconv.Atoi(said[1])
	return code, err == nil
}

// exitForm is a phrase that introduces a status, with the status behind it.
var exitForm = regexp.MustCompile(`(?:` + strings.Join(exitPhrases, "|") +
	`)[ :=>"'(]*(?:code)?(?:status)?[ :=>"'(]*(-?\d+)[ .)\]}"'!,;]*(?:[<(:]|$)`)

// strongestLine is the line that best explains a failure: the first with a word
// of trouble, else the first; one that tells the status explains nothing.
func strongestLine(t *text) string {
	quote := ""
	for i := range t.lines {
		l := &t.lines[i]
		if _, known := exitStatusOf(l); known {
			continue
		}
		if l.has(hasComplaintWord) {
			return l.s
		}
		quote = cmp.Or(quote, l.s)
	}
	return cmp.Or(quote, t.first().s)
}
