package rules

import (
	"strings"

	"memoryd/internal/phrases"
)

// decide asks the rules in order. The first that finds anything decides, save
// for what the tool's history and a reported exit status of 0 say against it.
func decide(v *view) finding {
	for _, r := range v.rules {
		if f := r.find(v); f.found() {
			return v.weigh(f)
		}
	}
	return works("no-trouble", "nothing in the output speaks of trouble").unsure()
}

// ofCommands are the rules whose failures are those of commands, not what they print.
var ofCommands = phrases.Words("shell-error", "exit-code")

// weigh corrects a failure that stands in the output by what else is known of the call.
func (v *view) weigh(f finding) finding {
	if !f.bad() || f.rule == "success-flag" {
		return f
	}
	if !ofCommands[f.rule] {
		if f = v.printed(f); !f.bad() {
			return f
		}
	}
	switch {
	case !v.body.OK() && v.endedWell():
		return f.doubted(", yet the exit status is 0")
	case !f.sure && f.rule != "shell-error" && v.unlikely():
		return f.doubted(", which reads like content")
	case v.ask.is(inspector) && strings.HasPrefix(strings.ToLower(f.quote), "invalid "):
		return f.doubted(", which may be what it was asked to find")
	}
	return f
}

// printed corrects a failure that stands in what a printing command shows. Such
// commands put their own name before their complaints, so that any other message
// is content of a file, or comes from a program whose status the pipe drops.
func (v *view) printed(f finding) finding {
	sh := v.ask.shell
	switch {
	case sh.prints() && sh.onlyPrints():
		g := works("no-trouble", "what looks like an error is the content that was asked for")
		return g.unsure()
	case f.quote == v.out.last().s && sh.feeds(): // a later command hides the status, but the run ended there
	case sh.prints() && !v.body.OK() && sh.reached(v.out.full):
		return f.doubted(", though a later command hides the exit status")
	}
	return f
}

// successFlag: what the caller saw as failed has failed, save where all that it saw is
// the exit status by which a command says no. The output is searched for the reason only.
func successFlag(v *view) finding {
	if v.call.Success {
		return finding{}
	}
	if code, known := v.givenStatus(); known {
		if f := exitFinding(v, v.out, code); !f.bad() {
			f.rule = "exit-code"
			return f
		}
	}
	f := fails("success-flag", strongestLine(v.out), "the caller recorded it as failed")
	for _, r := range v.rules[1:] {
		if g := r.find(v); g.bad() {
			f.quote, f.cause = g.quote, g.cause
			break
		}
	}
	if f.quote == "" {
		f.why += " and there is no output"
	}
	return f
}
