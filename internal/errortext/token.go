package errortext

import (
	"regexp"
	"strings"
)

// What makes a name that of a failure: pairs of words, words, and soft words beside others;
// fine words take it back.
var (
	nameForm = regexp.MustCompile(`^[A-Za-z][\w.-]{1,63}$`)
	wordEnds = regexp.MustCompile(`([a-z])([A-Z])|[_.-]+`)
	pairs    = named(`^err `,
		`not (?:found|supported|allowed|implemented|permitted|authorized|registered|available|ready|exist|configured|applicable)`,
		`failed precondition|out of|already exists|data loss|no such|too (?:many|large|long)|rate limited`)
	failing = named(`err|error|errored|fail|failed|failure|invalid|denied|refused|rejected|declined|forbidden|fatal|unauthori[sz]ed`,
		`unauthenticated|unsupported|unimplemented|exceeded|exhausted|unavailable|exception|timeout|aborted|crashed|unsuccessful`,
		`unprocessable|malformed|servfail|formerr|rjct|disallowed|nok|ko`)
	soft = named(`bad|unreachable|expired|insufficient|illegal|unknown|missing|unrecognized|mismatch|fault|unsatisfiable|corrupt`)
	fine = named(`no|non|without|success|successful|ok|partial|partially|completed?|resolved|handled|allowed|with|free|0`)
)

// named finds one of some words, whole.
func named(words ...string) *regexp.Regexp {
	return regexp.MustCompile(`\b(?:` + strings.Join(words, "|") + `)\b`)
}

// FailureName reports whether s is the name of an error condition, in one of the forms that
// protocols use: NOT_FOUND, PERMISSION_DENIED, client-error-not-possible, BadNodeIdUnknown,
// Refused.
func FailureName(s string) bool {
	if IsErrno(s) || !nameForm.MatchString(s) {
		return IsErrno(s)
	}
	words := strings.ToLower(wordEnds.ReplaceAllString(s, "$1 $2"))
	failed := failing.MatchString(words) || strings.Contains(words, " ") && soft.MatchString(words)
	return pairs.MatchString(words) || failed && !fine.MatchString(words)
}
