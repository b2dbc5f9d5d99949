package rules

import (
	"strings"

	"memoryd/internal/phrases"
	"memoryd/internal/textsafe"
)

// shellComplaints are what the C library, shells and common utilities say after
// "name: " when they cannot do something (POSIX error strings, GNU coreutils,
// bash, dash, zsh, busybox).
var shellComplaints = []string{
	"no such file or directory", "permission denied", "command not found", "is a directory", "not a directory",
	"file exists", "invalid option", "unrecognized option", "illegal option", "unknown option", "invalid argument",
	"missing operand", "missing argument", "extra operand", "syntax error", "operation not permitted", "no space left",
	"read-only file system", "resource busy", "directory not empty", "connection refused", "could not resolve host",
	"name or service not known", "network is unreachable", "input/output error", "text file busy",
	"argument list too long", "bad file descriptor", "broken pipe", "too many open files", "cannot ", "can't ",
	"could not ", "failed to ", "unable to ", "refusing to", "unexpected ", "unterminated", "unmatched",
	"ambiguous redirect", "bad substitution", "unbound variable", "event not found", "division by 0",
	"numeric argument required", "too many arguments", "not a valid identifier", "integer expression expected",
	"operator expected", "requires an argument", "option requires", "no such process", "no such device", "must precede",
	"not found", "invalid ", "unknown ", "bad ", "not permitted", "no such user", "does not exist", "error:", "fatal:",
	"try '", "missing ", "not a git repository", "must be", "no match", "out of range", "readonly variable", "unrecognized ",
}

// plainComplaints is how many of them are believed of programs that the command
// line does not name.
const plainComplaints = 8

// harmless are remarks that programs make on the same channel while all is well.
var harmless = []string{
	"warning", "note:", "info:", "removing leading", "hint:", "debug:", "deprecat", "is up to date",
	"created directory", "nothing to be done", "entering directory", "leaving directory",
}

// diagnostic is what one line of shell output complains of.
type diagnostic struct {
	program string // who complains, a base name; "" when it is the shell about its own input
	fatal   bool   // the shell could not even parse the command
	sure    bool   // the shell says so, of a command that it could not run
}

// shellError: a diagnostic of a command that decides the exit status is a
// failure; one of a command whose status a pipeline or list goes past leaves a
// half outcome.
func shellError(v *view, t *text) (finding, bool) {
	if !v.ask.is(commanding) {
		return finding{}, false
	}
	var hit, passed *line
	var hits, masks int
	for i := range t.lines {
		l := &t.lines[i]
		d, ok := v.diagnosticOf(l)
		if !ok || i > 0 && !v.mayComplainAt(d) || t.chats(i, d.program) {
			continue
		}
		if d.fatal {
			return fails("shell-error", l.s, "the shell could not parse the command"), true
		}
		if v.masked(d) {
			masks++
			passed = firstLine(passed, l)
			continue
		}
		hits++
		hit = firstLine(hit, l)
	}
	if first := t.first(); t.total == 1 && strings.HasPrefix(first.low(), "parse error: ") {
		return fails("shell-error", first.s, "a command could not parse what it was given"), true
	}
	switch {
	case hits > 0:
		return v.shellFailure(t, hit, hits), true
	case masks > 0:
		return half("shell-error", passed.s, "a command complained, but the command line went on past it"), true
	}
	return finding{}, false
}

// chats reports whether line i is one of several that a program signs, and holds no word
// of trouble: it tells how it goes.
func (t *text) chats(i int, program string) bool {
	if t.total < 3 || t.at(i).has(hasShellComplaint|hasComplaintWord) {
		return false
	}
	return strings.HasPrefix(t.at(i-1).s, program+":") || strings.HasPrefix(t.at(i+1).s, program+":")
}

func firstLine(have, l *line) *line {
	if have != nil {
		return have
	}
	return l
}

// shellFailure grades a diagnostic that decides by how much else there is, and by whether it
// holds a word of trouble: programs also say how it goes.
func (v *view) shellFailure(t *text, l *line, hits int) finding {
	f := fails("shell-error", l.s, "the command that decides the exit status printed a diagnostic")
	f.sure = hits*4 >= t.total && l.has(hasShellComplaint|hasComplaintWord)
	return f
}

// mayComplainAt reports whether a diagnostic is believed on another line than
// the first: only one of a program that the command line runs, so that quoted
// logs stay content.
func (v *view) mayComplainAt(d diagnostic) bool {
	return d.sure || v.ask.shell.runs(d.program)
}

// masked reports whether the program's failure cannot show in the exit status. A
// name that the shell made out of badly quoted words is placed by where it
// stands in the command line.
func (v *view) masked(d diagnostic) bool {
	sh := v.ask.shell
	return !sh.decides(d.program) && (sh.runs(d.program) || sh.mentionsOnlyBefore(d.program))
}

func hasDiagnostic(v *view, t *text) bool {
	_, ok := shellError(v, t)
	return ok
}

// diagnosticOf reads a line as "program: complaint".
func (v *view) diagnosticOf(l *line) (diagnostic, bool) {
	name, rest, ok := strings.Cut(l.s, ": ")
	if !ok {
		return diagnostic{}, false
	}
	program := baseName(name)
	shell := isShellName(program)
	if (shell || strings.Contains(l.s, "-c: line ")) && l.has(hasParseFailure) {
		return diagnostic{fatal: true, sure: true}, true
	}
	runs := !shell && v.ask.shell.runs(program)
	if line, after, _ := strings.Cut(rest, ": "); !runs && isLineNumber(line) { // bash: line 3: …
		shell, rest = true, after
	}
	if shell {
		return shellLine(strings.ToLower(rest))
	}
	if strings.ContainsAny(name, " \t{}[]<>=\"") || l.has(hasHarmless) {
		return diagnostic{}, false
	}
	if runs {
		fine := strings.Contains(rest, "success") || strings.HasSuffix(strings.ToLower(rest), " ok")
		return diagnostic{program: program}, !fine
	}
	return diagnostic{program: program}, l.has(hasPlainComplaint)
}

// shellLine reads what follows "bash: " or "bash: line 1: ", in lower case.
func shellLine(rest string) (diagnostic, bool) {
	who, complaint, _ := strings.Cut(rest, ": ")
	if strings.HasPrefix(who, "command not found") { // zsh
		return diagnostic{program: baseName(complaint), sure: true}, true
	}
	if complaint == "" {
		who, complaint = "", who
	}
	return diagnostic{program: baseName(who), sure: true}, phrases.ContainsAny(complaint, shellComplaints)
}

// parseComplaints are what shells say of a command line that they cannot parse, whatever $0 is.
var parseComplaints = []string{
	"syntax error", "unexpected eof while", "unexpected end of file", "unterminated quoted string", "bad substitution",
	"unmatched",
}

func isShellName(name string) bool {
	switch strings.TrimPrefix(name, "-") {
	case "bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "rbash", "busybox":
		return true
	}
	return false
}

// isLineNumber accepts "line 3" and "3".
func isLineNumber(s string) bool {
	number := strings.TrimPrefix(s, "line ")
	return s != "" && digits.Span(number) == len(number)
}

var digits = textsafe.BytesOf("09", "")
