package errortext

import (
	"bytes"
	"strings"

	"memoryd/internal/phrases"
)

// failureWords within the name of a condition say that it is one of failure, and so
// do failurePairs of words; fineWords take it back.
var (
	failureWords = phrases.Words(
		"err", "error", "errored", "fail", "failed", "failure", "invalid", "denied", "refused", "rejected", "declined", "forbidden", "fatal",
		"unauthorized", "unauthorised", "unauthenticated", "unsupported", "unimplemented", "exceeded", "exhausted", "unavailable", "exception",
		"timeout", "aborted", "crashed", "unsuccessful", "unprocessable", "malformed", "servfail", "formerr", "rjct", "disallowed", "nok", "ko",
	)
	// softWords do so beside others; alone they are states.
	softWords = phrases.Words(
		"bad", "unreachable", "expired", "insufficient", "illegal", "unknown", "missing", "unrecognized", "mismatch", "fault", "unsatisfiable", "corrupt",
	)
	failurePairs = phrases.Words(
		"not found", "not supported", "not allowed", "not implemented", "not permitted", "not authorized", "not registered", "not available",
		"not ready", "not exist", "not configured", "not applicable", "failed precondition", "out of", "already exists", "data loss", "no such", "too many",
		"too large", "too long", "rate limited",
	)
	fineWords = phrases.Words("no", "non", "without", "success", "successful", "ok", "partial", "partially", "completed", "complete", "resolved", "handled", "allowed", "with", "free", "0")
)

// FailureName reports whether s is the name of an error condition, in one of the forms that
// protocols use: NOT_FOUND, PERMISSION_DENIED, client-error-not-possible, BadNodeIdUnknown,
// Refused.
func FailureName(s string) bool {
	if IsErrno(s) {
		return true
	}
	var words condition
	if !words.read(s) {
		return false
	}
	failed, before := false, 0
	for start := 0; start < words.n; {
		w := words.from(start, 1)
		pair := words.text[before : start+len(w)] // with the word before it
		switch {
		case start == 0 && len(w) < words.n && string(w) == "err":
			return true // ERR_NO_MANIFEST
		case failureWords[string(w)], softWords[string(w)] && len(w) < words.n, failurePairs[string(pair)]:
			failed = true
		case fineWords[string(w)] && !bytes.HasPrefix(pair, []byte("not ")) && !failurePairs[string(words.from(start, 2))]:
			return false
		}
		before, start = start, start+len(w)+1
	}
	return failed
}

// NamesFailure reports whether s can only be such a name: several words, in capitals or
// written together.
func NamesFailure(s string) bool {
	if IsErrno(s) {
		return true
	}
	if len(s) < 5 || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	capitals := strings.ContainsRune(s, '_') && s == strings.ToUpper(s)
	together := strings.HasPrefix(s, "Bad") && s[3] >= 'A' && s[3] <= 'Z'
	return (capitals || together) && FailureName(s)
}

// condition holds the words of a name in lower case, with blanks between them.
type condition struct {
	text [2 * maxName]byte
	n    int
}

const maxName = 64

// read takes a name apart; it reports whether s is one.
func (c *condition) read(s string) bool {
	if len(s) < 2 || len(s) > maxName || !phrases.IsAlpha(s[0]) {
		return false
	}
	for i := range len(s) {
		b := s[i]
		if b >= 'A' && b <= 'Z' {
			if b |= 0x20; i > 0 && s[i-1] >= 'a' && s[i-1] <= 'z' {
				c.put(' ')
			}
		} else if b == '_' || b == '-' || b == '.' {
			b = ' '
		} else if !phrases.IsWord(b) {
			return false
		}
		c.put(b)
	}
	return true
}

func (c *condition) put(b byte) {
	if b != ' ' || c.text[c.n-1] != ' ' {
		c.text[c.n] = b
		c.n++
	}
}

// from gives so many words from start on, or as many as there are.
func (c *condition) from(start, words int) []byte {
	end := start
	for ; end < c.n; end++ {
		if c.text[end] == ' ' {
			if words--; words == 0 {
				break
			}
		}
	}
	return c.text[start:end]
}

// nothingStatus are values of a status member that say that there was nothing to find.
var nothingStatus = phrases.Words("nxdomain", "zero_results", "no_results", "no_result", "no_data", "no_match", "no_matches", "no_hits")

// NamesNothing reports whether a status says that nothing was found.
func NamesNothing(s string) bool { return phrases.FoldedIn(s, nothingStatus) }
