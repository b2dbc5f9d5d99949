package errortext

import (
	"strings"

	"memoryd/internal/phrases"
)

// What a word, or two in a row, make of a name that they stand in.
const (
	failingWord = 1 << iota // it is that of a failure
	softWord                // it is, beside other words
	fineWord                // it is not, whatever else stands in it
	failingPair             // it is, whatever else stands in it
)

var nameWords = func() map[string]byte {
	words := map[string]byte{}
	for mark, list := range map[byte]string{
		failingWord: "err error errored fail failed failure invalid denied refused rejected declined forbidden fatal unauthorized unauthorised " +
			"unauthenticated unsupported unimplemented exceeded exhausted unavailable exception timeout aborted crashed unsuccessful " +
			"unprocessable malformed servfail formerr rjct disallowed nok ko",
		softWord: "bad unreachable expired insufficient illegal unknown missing unrecognized mismatch fault unsatisfiable corrupt",
		fineWord: "no non without success successful ok partial partially complete completed resolved handled allowed with free 0",
		failingPair: "not_found not_supported not_allowed not_implemented not_permitted not_authorized not_registered not_available not_ready " +
			"not_exist not_configured not_applicable failed_precondition out_of already_exists data_loss no_such too_many too_large too_long " +
			"rate_limited",
	} {
		for w := range strings.FieldsSeq(list) {
			words[strings.ReplaceAll(w, "_", " ")] |= mark
		}
	}
	return words
}()

// maxName is how long the name of a condition is at most.
const maxName = 64

// FailureName reports whether s is the name of an error condition, in one of the forms that
// protocols use: NOT_FOUND, PERMISSION_DENIED, client-error-not-possible, BadNodeIdUnknown,
// Refused.
func FailureName(s string) bool {
	if isErrno(s) {
		return true
	}
	var room [2 * maxName]byte
	name, ok := parted(room[:0], s)
	if !ok {
		return false
	}
	var found byte
	before, start := 0, 0 // where the word before begins, and this one
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != ' ' {
			continue
		}
		mark := nameWords[string(name[start:i])]
		if start > 0 {
			mark |= nameWords[string(name[before:i])] & failingPair
		}
		if start == 4 && i > start && string(name[:start]) == "err " {
			mark |= failingPair
		}
		found |= mark
		before, start = start, i+1
	}
	failed := found&failingWord != 0 || found&softWord != 0 && before > 0
	return found&failingPair != 0 || failed && found&fineWord == 0
}

// parted writes a name in lower case with a blank between its words; ok is false where it is no name.
func parted(name []byte, s string) (parts []byte, ok bool) {
	if len(s) < 2 || len(s) > maxName || !phrases.IsAlpha(s[0]) {
		return nil, false
	}
	for i := range len(s) {
		c := s[i]
		upper := c >= 'A' && c <= 'Z'
		switch {
		case strings.IndexByte("_.-", c) >= 0:
			c = ' '
		case !phrases.IsWord(c):
			return nil, false
		case upper && i > 0 && s[i-1] >= 'a': // in words there is nothing above z
			name = append(name, ' ')
		}
		if upper {
			c |= 0x20
		}
		name = append(name, c)
	}
	return name, true
}
