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

// IsBlank reports whether a text without white space around it stands for no output.
func IsBlank(s string) bool { return phrases.FoldedIn(s, blanks) }

// emptyOutput: silence is judged by the tool's history, else by what the call
// was for.
func emptyOutput(v *view) finding {
	counted := func(l line) bool { return l.s[strings.LastIndexByte(l.s, ':')+1:] != "0" }
	if v.ask.shell.counts() && !slices.ContainsFunc(v.out.lines, counted) {
		f := half("empty-output", v.out.first().s, "no line matched: that is exit status 1 of this command")
		f.cause = causeEmpty
		return f
	}
	if !IsBlank(v.out.full) && strings.ContainsFunc(v.out.full, isLetterOrDigit) {
		return finding{}
	}
	f := finding{}
	switch {
	case bytes.Contains(v.call.Metadata, []byte(`"output_truncated":true`)):
		return works("empty-output", "who told of the call does not tell what it returned").unsure()
	case v.prof.silent():
		f = works("empty-output", "most of this tool's successes are empty too")
	case v.ask.shell.mayAnswerByStatus():
		f = half("empty-output", "", "there is no output: the command found nothing or says no by its status")
	case v.ask.is(commanding):
		f = works("empty-output", "a command that prints nothing has nothing to complain of")
		f.sure = !v.ask.shell.muffled
	case v.ask.is(actor):
		f = works("empty-output", "a tool that acts need not answer").unsure()
	case v.ask.is(content), v.body.OK():
		f = half("empty-output", "", "it was asked for something and returned nothing")
	default:
		f = works("empty-output", "there is no output and no sign of trouble").unsure()
	}
	f.cause = causeEmpty
	return f
}

// noTrouble: nothing else spoke. It is certain where the exit status is 0, or the score
// has no doubt.
func noTrouble(v *view) finding {
	f := works("no-trouble", "nothing in the output speaks of trouble")
	switch sh := v.ask.shell; {
	case v.endedWell():
	case sh.compares(), sh.mayAnswerByStatus() && v.out.short(2, 40):
		f.sure = false
	default:
		failed, _ := v.score()
		f.sure = failed < doubtBar
	}
	return f
}
