package rules

import (
	"strings"

	"memoryd"
	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// errorHeading: the text starts as an error message does.
func errorHeading(v *view, t *text) (finding, bool) {
	first := t.opening()
	if strings.HasSuffix(first.s, ":") && t.short(3, 600) && len(t.lines) > 1 {
		first = t.at(1) // after a preface such as "Output of the command:"
	}
	low := first.low()
	if !v.headsError(t, low) || !t.short(40, 6000) && !opensReport(low) || v.echoes(first.s) {
		return finding{}, false
	}
	if v.quotes(t) && (v.ask.troubled || !t.short(60, 4000) || !opensReport(low)) {
		return finding{}, false
	}
	if isNoResult(t) && !opensReport(low) && !startsPlainly(low) {
		return finding{}, false
	}
	f := fails("error-heading", first.s, "its first words say that it failed")
	plain := opensReport(low) || startsPlainly(low)
	f.sure = t.short(12, 2000) && !first.has(hasHedge) && (plain || !v.ask.reads)
	if first.has(hasHedge) {
		f.score = memoryd.ScorePartial
	}
	return f, true
}

// headsError reports whether a first line, in lower case, is that of an error
// message, given what the tool is for and what follows.
func (v *view) headsError(t *text, low string) bool {
	if errortext.Heads(low) || errortext.HeadsShortly(low) && (t.total <= 2 || errortext.Heads(t.at(1).low())) {
		return true
	}
	mayQualify := !v.ask.reads || v.ask.command == "" && t.short(2, 400) && !v.ask.troubled
	return mayQualify && errortext.HeadsQualified(errortext.Strip(low))
}

// hedges turn a complaint into a remark: what follows is the result.
var hedges = []string{
	"but here is", "but here are", "but the following", "instead, here", "falling back to", "fell back to",
	"using default", "using the default", "continuing with", "proceeding with", "showing results for",
}

// reportHeads are the beginnings that hardly any page or file has.
var reportHeads = []string{
	"error:", "error -", "error executing", "error calling", "error while", "error during", "error occurred",
	"failed to ", "failed:", "fatal:", "exception:", "an error occurred", "an error has occurred",
	"an unexpected error", "internal error", "internal server error", "search failed", "request failed",
	"execution failed", "navigation failed", "fetch failed", "mcp error", "tool error",
}

func opensReport(low string) bool {
	_, ok := phrases.HasPrefixAny(errortext.Strip(low), reportHeads)
	return ok || errortext.HeadsShortly(low)
}

// startsPlainly reports whether the first word is error itself.
func startsPlainly(low string) bool { return strings.HasPrefix(errortext.Strip(low), "error") }

// endings are beginnings of a last line that tell how a run of a program ended.
var endings = []string{
	"error:", "fatal:", "fatal error", "npm err!", "make: ***", "failed to ", "error occurred", "build failed",
	"failed:", "e: ", "compilation terminated", "ninja: build stopped", "killed", "segmentation fault", "aborted",
	"error: command failed", "command failed", "an error occurred", "unable to ", "exception:",
}

// errorEnding: the last line of a tool that does something says that it failed.
func errorEnding(v *view, t *text) (finding, bool) {
	if len(t.lines) < 2 || v.ask.reads {
		return finding{}, false
	}
	last := t.last()
	if _, ok := phrases.HasPrefixAny(errortext.Strip(last.low()), endings); !ok || v.echoes(last.s) {
		return finding{}, false
	}
	return fails("error-ending", last.s, "its last words say that it failed").unsure(), true
}
