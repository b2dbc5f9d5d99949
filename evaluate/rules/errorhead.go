package rules

import (
	"slices"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// errorHeading: the text starts as an error message does.
func errorHeading(v *view, t *text) (finding, bool) {
	first := t.opening()
	if strings.HasSuffix(first.s, ":") && t.short(3, 600) && len(t.lines) > 1 && !errortext.Heads(first.low()) || strings.HasPrefix(first.s, "#") && len(first.s) < 30 && len(t.lines) > 1 && !v.ask.troubled && !errortext.Heads(first.low()) {
		first = t.at(1) // after a preface such as "Output of the command:" or "### Result"
	}
	low := first.low()
	if (crossed(first) && !v.ask.reads || strings.HasPrefix(first.s, "❌") && first.has(hasComplaintWord) && t.short(2, 300)) && t.short(4, 1000) {
		return fails("error-heading", first.s, "it is marked as failed, and complains").unsure(), true
	}
	if !v.headsError(t, first.s, low) && (!t.reply || !errortext.HeadsReply(low)) || !t.short(40, 6000) && !opensReport(low) || v.echoes(first.s) {
		return finding{}, false
	}
	if v.quotes(t) && (v.ask.troubled || !t.short(60, 4000) || !opensReport(low) && (t.total > 1 || !errortext.HeadsQualified(errortext.Strip(low)))) {
		return finding{}, false
	}
	if entry, _, ok := strings.Cut(low, ":"); ok && len(entry) > 2 && v.gave(entry) && !phrases.HasAny(v.ask.names, actors) {
		return finding{}, false
	}
	if t.total == 1 && v.ask.troubled && v.ask.command != "" && !strings.Contains(first.s, " ") && phrases.HasWord(strings.ToLower(v.ask.command), low) {
		return finding{}, false // a value that it was to print
	}
	f := fails("error-heading", first.s, "its first words say that it failed")
	plain := opensReport(low) || startsPlainly(low)
	f.sure = t.short(12, 2000) && (plain || !v.ask.reads)
	return f, true
}

// gave reports whether a value of the input is nothing but this word: what is said of it
// is an entry of a dictionary.
func (v *view) gave(word string) bool {
	for s := range strings.SplitSeq(v.ask.text, "\n") {
		if strings.EqualFold(s, word) {
			return true
		}
	}
	return false
}

// crossed reports whether a line has the mark of a failure before a complaint.
func crossed(l *line) bool {
	if l.s == "" || strings.IndexByte("Xx[\xe2\xc3", l.s[0]) < 0 {
		return false
	}
	for _, mark := range []string{"x ", "✗ ", "✘ ", "✖ ", "✕ ", "× ", "❌ ", "[✗] ", "[x] "} {
		if rest, ok := strings.CutPrefix(l.low(), mark); ok {
			return (strings.HasPrefix(rest, "no ") || l.has(hasComplaintWord) || strings.Contains(l.low(), " not ")) && !l.relieved()
		}
	}
	return false
}

// headsError reports whether a first line, in lower case, is that of an error
// message, given what the tool is for and what follows.
func (v *view) headsError(t *text, first, low string) bool {
	if t.total == 1 && (strings.HasPrefix(first, "ERR ") && !v.ask.troubled || errortext.IsErrno(first)) {
		return true
	}
	if errortext.Heads(low) || errortext.HeadsShortly(low) && (t.total <= 2 || errortext.Heads(t.at(1).low())) {
		return true
	}
	if strings.HasPrefix(first, "**") && strings.HasSuffix(first, "**") && t.short(8, 800) && errortext.HeadsShortly(strings.Trim(low, "* ")) {
		return true // a bold heading
	}
	if t.total <= 2 && v.stepFailed(low) {
		return true
	}
	if t.total <= 2 && (!v.ask.reads || t.total == 1 && v.ask.command == "") && (v.said(low) || closesPlainly(low) || logged(low) && errortext.Heads(strings.TrimLeft(low, "0123456789-/:.,+tz[] "))) {
		return true
	}
	if bracketed := strings.HasPrefix(first, "("); (bracketed || t.total <= 2 && !v.ask.reads) && (t.total == 1 && numberedMessage(first) || namedCondition(first, t.total == 1)) {
		return true
	}
	if own, rest, ok := strings.Cut(low, " "); ok && !v.ask.reads && v.ask.isNamed(own) && (errortext.Heads(rest) || strings.HasPrefix(rest, "fail ")) {
		return true
	}
	if own, rest, ok := strings.Cut(low, ": "); ok && v.ask.isNamed(own) && t.short(3, 400) && phrases.ContainsAny(rest, shellComplaints) {
		return true // it signs what it complains of
	}
	if !errortext.HeadsQualified(errortext.Strip(low)) {
		return false
	}
	advised := len(t.lines) > 1 && t.short(8, 800) && phrases.StartsAny(t.at(1).low(), advice)
	return !v.ask.reads || v.ask.command == "" && (t.short(2, 400) || advised) && !v.ask.troubled
}

// stepFailed recognises the wrapped error of a step that the tool is named for: "create
// alert rule: invalid duration ...", "fetching settings: connection refused".
func (v *view) stepFailed(low string) bool {
	step, what, ok := strings.Cut(low, ": ")
	if !ok || len(step) > 60 || strings.IndexByte(step, ' ') < 0 || strings.ContainsAny(step, "\"'`=,;()[]{}<>") || !errortext.Heads(what) && !errortext.HeadsReply(what) && !closesPlainly(what) {
		return false
	}
	words := strings.Fields(step)
	if len(words) > 1 && len(words) < 6 && strings.HasSuffix(words[0], "ing") && !v.ask.reads {
		return true
	}
	known := 0
	for _, w := range words {
		if slices.Contains(v.ask.names, w) {
			known++
		}
	}
	return known > 1 && known*2 >= len(words)
}

// numberedMessage recognises the reply of an instrument or driver that is but a
// negative error number and its meaning in quotation marks: -113,"Undefined header".
func numberedMessage(s string) bool {
	if inner, ok := strings.CutPrefix(s, "("); ok && strings.HasSuffix(inner, ")") && phrases.IsDigit(inner[0]) { // (406, "PRECONDITION_FAILED - ...")
		s = "-" + inner[:len(inner)-1]
	}
	num, said, ok := strings.Cut(s, ",")
	if !ok || len(num) < 2 || num[0] != '-' || strings.Trim(num[1:], "0123456789") != "" {
		return false
	}
	said = strings.TrimSpace(said)
	return len(said) > 4 && said[0] == '"' && strings.IndexByte(said[1:], '"') == len(said)-2
}

// namedCondition recognises a text that begins with the name of a condition of failure,
// NOT_FOUND - no queue 'a', or, where alone is set, is nothing else.
func namedCondition(s string, alone bool) bool {
	name, said, _ := strings.Cut(s, " ")
	if inner, ok := strings.CutPrefix(name, "("); ok && said != "" { // (ResourceGroupNotFound) ...
		inner, ok = strings.CutSuffix(inner, ")")
		return ok && strings.ToLower(inner) != inner && errortext.FailureName(inner)
	}
	name = strings.TrimSuffix(name, ":")
	if alone && said == "" && strings.ContainsRune(name, '.') && errortext.FailureName(name) { // api.err.InvalidMac
		return true
	}
	return errortext.NamesFailure(name) && (alone && said == "" || strings.ContainsRune(name, '_') && said != "")
}

// said reports whether a line is a complaint of a program or function behind its name,
// "ldap_bind: Invalid credentials (49)", or of a command behind that of a file.
func (v *view) said(low string) bool {
	who, what, ok := strings.Cut(low, ": ")
	if own, _, cut := strings.Cut(who, " "); cut && v.ask.isNamed(own) {
		who = own // "samtools index: failed to ..."
	}
	if !ok || who == "" || len(who) > 60 || strings.ContainsAny(who, " \"'`=,;()[]{}<>") || v.ask.command == "" && strings.ContainsAny(who, "/.") {
		return false
	}
	if isLabel(who) {
		return false
	}
	if strings.HasPrefix(what, "error (") {
		return true // web: ERROR (spawn error)
	}
	return strings.Contains(what, " ") && errortext.Heads(what) || endsInCode(low)
}

// isLabel reports whether the word before a colon labels what somebody wrote.
func isLabel(who string) bool {
	switch who {
	case "caught", "note", "warning", "info", "hint", "title", "subject", "message", "summary", "description", "comment", "topic", "question", "answer", "name", "reason", "body", "text", "quote", "review", "issue", "state", "status":
		return true
	}
	return false
}

// endsInCode recognises what a function of a library says of a result that is not 0:
// "ldap_modify: Object class violation (65)".
func endsInCode(s string) bool {
	if !strings.HasSuffix(s, ")") {
		return false
	}
	who, what, _ := strings.Cut(s, ": ")
	said, code, ok := strings.Cut(what, " (")
	code, closed := strings.CutSuffix(code, ")")
	return ok && closed && code != "" && code[0] != '0' && strings.Trim(code, "0123456789") == "" && strings.ContainsRune(who, '_') && strings.Contains(said, " ")
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

// lineHeads are beginnings of lines, anywhere in the output of a tool that does
// something, by which it says that it failed.
var lineHeads = []string{
	"error:", "error[", "error -", "error executing", "error while", "fatal:", "fatal error", "npm err!", "npm error", "make: ***",
	"cmake error", "conflict (", "an error occurred", "failed to ", "failed:", "build failed", "command failed", "exception:",
	"error: command failed", "e: ", "err:", "err_", "abort: ",
}

// lastHeads say it only at the end.
var lastHeads = []string{
	"error occurred", "compilation terminated", "ninja: build stopped", "killed", "segmentation fault", "aborted", "unable to ",
	"terminated", "core dumped",
}

// errorLine: a line of its own in the output of a tool that does something opens
// as an error message, or its last line says that it ended in failure. What the
// tool usually answers has no say in it.
func errorLine(v *view, t *text) (finding, bool) {
	if len(t.lines) < 2 || v.ask.reads && !v.ask.shell.acted {
		return finding{}, false
	}
	last := t.last()
	relieved := last.relieved()
	if low := errortext.Strip(last.low()); !relieved && (v.ask.command != "" && last.s[0] != '-' && (errortext.Heads(low) || opensLine(last.low())) || phrases.StartsAny(low, lastHeads) || errortext.HeadsShortly(low) || strings.HasSuffix(low, " not found.") || strings.HasSuffix(low, " not found")) && !v.echoes(last.s) {
		return fails("error-line", last.s, "its last words say that it failed").unsure(), true
	}
	if !relieved && (v.ask.command != "" && (closesBadly(last.low()) || strings.Contains(last.low(), " aborted due to ")) || countsErrors(t)) && !v.echoes(last.s) {
		return fails("error-line", last.s, "its last words say that it failed").unsure(), true
	}
	if glued := gluedError(last.s); glued != "" && !v.echoes(glued) {
		return fails("error-line", glued, "its last words are an error message").unsure(), true
	}
	if v.ask.reads || v.ask.command == "" && !phrases.HasAny(v.ask.names, actors) && !t.short(12, 1500) {
		return finding{}, false // what it shows may hold anything
	}
	for i := range t.lines {
		l := &t.lines[i]
		if i < 3 && announces(l.s) && t.at(i+1).has(hasComplaintWord) && t.short(8, 1000) && !v.echoes(l.s) {
			return fails("error-line", t.at(i+1).s, "a line of its own says that it failed").unsure(), true
		}
		complains := !relieved && t.short(6, 600) && (v.ask.command != "" && v.said(l.low()) || endsInCode(l.s))
		if !complains && !opensLine(l.low()) && (!errortext.Thrown(l.s) || !strings.Contains(l.s, ": ")) || l.has(hasRelief) || v.echoes(l.s) || strings.Trim(l.low(), "abcdefghijklmnopqrstuvwxyz") == "" { // a cell of a table
			continue
		}
		f := fails("error-line", l.s, "a line of its own says that it failed").unsure()
		if after := len(t.lines) - i; relieved && after > 1 || t.long && after > tailLines/2 {
			f = half("error-line", l.s, "a line of its own says that it failed, and it goes on after it")
		}
		return f, true
	}
	return finding{}, false
}

// announces reports whether a line is but a word for failure, in capitals.
func announces(s string) bool {
	switch s = strings.Trim(s, "*!:. "); s {
	case "FAILED", "FAILURE", "ERROR", "FAIL", "ABORTED", "REJECTED":
		return true
	}
	return s == "Failed"
}

// opensLine reports whether a line in lower case opens as an error message by
// itself. Bullets and quotes before it make it content.
func opensLine(low string) bool {
	bare := strings.TrimLeft(low, "│╷|❌✗✖×>!=% \t")
	if bare != low && errortext.Heads(bare) { // a mark that makes it a heading
		return true
	}
	if state, _, ok := strings.Cut(strings.TrimPrefix(bare, "["), "] "); ok && bare != low && bare[0] == '[' && errortext.FailureName(state[strings.LastIndexByte(state, ' ')+1:]) {
		return true // ! [remote rejected] main
	}
	low = bare
	if inner, ok := strings.CutPrefix(low, "["); ok && strings.HasSuffix(inner, "exception]") {
		return true
	}
	return phrases.StartsAny(low, lineHeads) || strings.Contains(low, "make: *** [") || strings.HasPrefix(low, "error") && errortext.Heads(low)
}

// closers end the last line of a command that could not do what it was asked, after
// the name of what it stumbled over: error strings of POSIX and of validators.
var closers = []string{
	": permission denied", ": no such file or directory", ": access denied", ": access is denied", ": not found", ": unauthorized", ": forbidden",
	": invalid argument", ": connection refused", ": operation not permitted", ": is a directory", ": not a directory", ": file exists",
	": no space left on device", ": no buffer space available", ": resource temporarily unavailable", ": device or resource busy", ": text file busy",
	": cannot allocate memory", ": too many open files", ": read-only file system", ": input/output error", ": operation not supported", ": address already in use",
	": network is unreachable", ": no route to host", ": host is down", ": connection reset by peer", ": connection timed out", ": broken pipe", ": bad file descriptor",
	": exec format error", ": argument list too long", ": directory not empty", ": file name too long", ": function not implemented", ": disk quota exceeded",
	": no such process", ": no such device", ": no such device or address", ": numerical result out of range", ": too many levels of symbolic links", ": stale file handle",
}

// closesPlainly reports whether a line in lower case ends with one of the closers.
func closesPlainly(low string) bool {
	bare := strings.TrimRight(low, " .!")
	if end := strings.LastIndex(bare, " ("); end > 0 && strings.HasSuffix(bare, ")") && len(bare)-end < 12 {
		bare = bare[:end] // an error number
	}
	for _, c := range closers {
		if strings.HasSuffix(bare, c) {
			return true
		}
	}
	return false
}

// closesBadly reports whether a last line, in lower case, is what a program says when it
// gives up: "name: error: ...", "in.mov: invalid data", "... is invalid: ...".
func closesBadly(low string) bool {
	if closesPlainly(low) || strings.Contains(low, " is invalid: ") || strings.Contains(low, " is not valid: ") || strings.Contains(low, " is forbidden: ") {
		return true
	}
	who, what, ok := strings.Cut(low, ": ")
	if !ok || who == "" || len(who) > 60 || phrases.ContainsAny(what, harmless) {
		return false
	}
	if strings.Contains(who, " ") {
		return strings.HasSuffix(who, " error") && strings.Count(who, " ") < 3
	}
	return errortext.Heads(what) || phrases.StartsAny(what, shellComplaints)
}

// countsErrors reports whether one of the last lines of an output says that the tool
// ended with so many errors.
func countsErrors(t *text) bool {
	for i := max(0, len(t.lines)-4); i < len(t.lines); i++ {
		low := t.lines[i].low()
		if someFailed(low) {
			return true
		}
		for _, lead := range []string{"completed with ", "finished with ", "ended with ", "error="} {
			_, rest, ok := strings.Cut(low, lead)
			n := strings.TrimLeft(rest, "0123456789")
			if digits := rest[:len(rest)-len(n)]; !ok || digits == "" || strings.Trim(digits, "0") == "" {
				continue
			}
			if lead == "error=" && strings.Contains(low, "pass=") || phrases.StartsAny(n, []string{" error", " failure"}) {
				return true
			}
		}
	}
	return false
}

// someFailed recognises "2 out of 3 hunks failed" and "1 of 5 tasks failed".
func someFailed(low string) bool {
	low, _, _ = strings.Cut(low, " -- ")
	low, ok := strings.CutSuffix(strings.TrimRight(low, ". "), " failed")
	if !ok {
		return false
	}
	failed, of, ok := strings.Cut(low, " of ")
	failed = strings.TrimSuffix(failed, " out")
	return ok && failed != "" && strings.Trim(failed, "0123456789") == "" && strings.Trim(failed, "0") != "" && of != "" && phrases.IsDigit(of[0])
}

// gluedError is the error message that follows other output without a line break:
// "3 rows writtenError: connection lost". The names of exceptions, which begin
// with a capital or hold a point, are no such message.
func gluedError(s string) string {
	i := strings.LastIndex(s, "Error: ")
	if i <= 0 || !phrases.IsAlpha(s[i-1]) && strings.IndexByte(".!?)]}>", s[i-1]) < 0 {
		return ""
	}
	word := s[strings.LastIndexByte(s[:i], ' ')+1 : i]
	if phrases.IsAlpha(s[i-1]) && (word[0] < 'a' || strings.Contains(word, ".")) {
		return ""
	}
	return s[i:]
}
