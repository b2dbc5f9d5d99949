package rules

import (
	"bytes"
	"slices"
	"strings"

	"memoryd/internal/phrases"
)

// blanks are texts that stand for no output.
var blanks = phrases.Words("", "null", "none", "nil", "undefined", "''", `""`, "[]", "{}", "()", "nan", "(no output)",
	"<no output>", "no output", "n/a")

// emptyOutput: silence is judged by the tool's history, else by what the call
// was for.
func emptyOutput(v *view) (finding, bool) {
	if v.ask.shell.counts() && v.out.total > 0 && !slices.ContainsFunc(v.out.lines,
		func(l line) bool { return l.s != "0" && !strings.HasSuffix(l.s, ":0") }) {
		f := half("empty-output", v.out.first().s, "no line matched: that is exit status 1 of this command")
		f.cause = causeEmpty
		return f, true
	}
	low := strings.ToLower(v.out.full[:min(len(v.out.full), 16)])
	if !blanks[low] && strings.ContainsFunc(v.out.full, isLetterOrDigit) {
		return finding{}, false
	}
	shape := shapeEmpty
	if v.body.OK() {
		shape = shapeNothing
	}
	f := finding{}
	switch p := v.prof; {
	case bytes.Contains(v.call.Metadata, []byte(`"output_truncated":true`)):
		return works("empty-output", "who told of the call does not tell what it returned").unsure(), true
	case p != nil && p.successes >= 3 && p.share(shape) >= 0.5:
		f = works("empty-output", "most of this tool's successes are empty too")
	case v.ask.command != "" && v.ask.shell.mayAnswerByStatus():
		f = half("empty-output", "", "there is no output: the command found nothing or says no by its status")
	case v.ask.command != "":
		f = works("empty-output", "a command that prints nothing has nothing to complain of")
		f.sure = !v.ask.shell.muffled
	case v.ask.is(actor):
		f = works("empty-output", "a tool that acts need not answer").unsure()
	case v.ask.reads || shape == shapeNothing:
		f = half("empty-output", "", "it was asked for something and returned nothing")
	default:
		f = works("empty-output", "there is no output and no sign of trouble").unsure()
	}
	f.cause = causeEmpty
	return f, true
}

// noTrouble: nothing else spoke. It is certain where no word of trouble stands
// in what was read, or where a structure was read that reports none.
func noTrouble(v *view) (finding, bool) {
	f := works("no-trouble", "nothing in the output speaks of trouble")
	if code, known := v.exitStatus(v.out); known && code == 0 {
		f.why = "its exit status is 0"
		return f, true
	}
	failed, _ := v.score()
	if v.body.OK() {
		f.why = "a structured result that reports no error"
		f.sure = failed < doubtBar
		return f, true
	}
	f.sure = failed < doubtBar
	if v.ask.shell.mayAnswerByStatus() && (v.out.short(2, 40) || v.ask.shell.compares()) {
		f.sure = false
	}
	return f, true
}
