package rules

import (
	"cmp"
	"strings"

	"memoryd/internal/phrases"
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
	runs    bool   // the command line runs it
	fatal   bool   // the shell could not even parse the command
	sure    bool   // the shell says so, of a command that it could not run
}

// shellError: a diagnostic of a command that decides the exit status is a
// failure; one of a command whose status a pipeline or list goes past leaves a
// half outcome.
func shellError(v *view, t *text) finding {
	if !v.ask.is(commanding) || t == v.out && v.body.OK() {
		return finding{}
	}
	var hit, passed *line
	hits := 0
	const complaint = hasShellComplaint | hasComplaintWord
	for i := range t.lines {
		l := &t.lines[i]
		d, ok := v.diagnosticOf(l)
		believed := i == 0 || d.sure || d.runs // so that quoted logs stay content
		switch {
		case !ok, !believed:
		case d.fatal:
			return fails("shell-error", l.s, "the shell could not parse the command")
		case v.masked(d):
			passed = cmp.Or(passed, l)
		default:
			hits++
			if hit == nil || !hit.has(complaint) && l.has(complaint) {
				hit = l
			}
		}
	}
	switch {
	case t.total == 1 && strings.HasPrefix(t.first().low(), "parse error: "):
		return fails("shell-error", t.first().s, "a command could not parse what it was given")
	case hit != nil && (hit.has(complaint) || !v.unlikely()): // programs also say how it goes
		f := fails("shell-error", hit.s, "the command that decides the exit status printed a diagnostic")
		f.sure = hits*4 >= t.total && hit.has(complaint)
		return f
	case passed != nil:
		return half("shell-error", passed.s, "a command complained, but the command line went on past it")
	}
	return finding{}
}

// masked reports whether the program's failure cannot show in the exit status. A
// name that the shell made out of badly quoted words is placed by where it
// stands in the command line.
func (v *view) masked(d diagnostic) bool {
	sh := v.ask.shell
	return !sh.decides(d.program) && (d.runs || sh.mentionsOnlyBefore(d.program))
}

// diagnosticOf reads a line as "program: complaint".
func (v *view) diagnosticOf(l *line) (d diagnostic, ok bool) {
	name, rest, ok := strings.Cut(l.s, ": ")
	if !ok {
		return d, false
	}
	sh := v.ask.shell
	d.program = baseName(name)
	shell := isShellName(d.program)
	if (shell || strings.Contains(l.s, "-c: line ")) && l.has(hasParseFailure) {
		return diagnostic{fatal: true, sure: true}, true
	}
	d.runs = !shell && sh.runs(d.program)
	if line, after, _ := strings.Cut(rest, ": "); !d.runs && isLineNumber(line) { // bash: line 3: …
		shell, rest = true, after
	}
	switch {
	case shell:
		d, ok = shellLine(strings.ToLower(rest))
		d.runs = sh.runs(d.program)
		return d, ok
	case strings.ContainsAny(name, " \t{}[]<>=\""), l.has(hasHarmless):
		return d, false
	}
	return d, d.runs || l.has(hasPlainComplaint)
}

// shellLine reads what follows "bash: " or "bash: line 1: ", in lower case.
func shellLine(rest string) (diagnostic, bool) {
	who, complaint, _ := strings.Cut(rest, ": ")
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
	return s != "" && strings.Trim(strings.TrimPrefix(s, "line "), "0123456789") == ""
}
