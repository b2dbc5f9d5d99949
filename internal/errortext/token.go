package errortext

import (
	"strings"

	"memoryd/internal/loosejson"
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

// FailureName reports whether s is the name of a condition of failure: a word, or
// words joined by underscores, hyphens, points or capitals, as protocols name theirs:
// NOT_FOUND, PERMISSION_DENIED, client-error-not-possible, BadNodeIdUnknown, Refused.
func FailureName(s string) bool {
	words := conditionWords(s)
	failed := false
	for i, w := range words {
		switch {
		case failureWords[w], softWords[w] && len(words) > 1, i > 0 && failurePairs[words[i-1]+" "+w]:
			failed = true
		case fineWords[w] && (w != "no" || i+1 == len(words) || !failurePairs["no "+words[i+1]]) && (w != "allowed" && w != "ok" || i == 0 || words[i-1] != "not"):
			return false
		}
	}
	return failed
}

// NamesFailure reports whether s can be nothing but such a name: of several words,
// in capitals or written together.
func NamesFailure(s string) bool {
	if len(s) < 5 || s[0] < 'A' || s[0] > 'Z' || !strings.ContainsRune(s, '_') && !strings.HasPrefix(s, "Bad") {
		return false
	}
	words := conditionWords(s)
	return len(words) > 1 && (s == strings.ToUpper(s) || words[0] == "bad") && FailureName(s)
}

// conditionWords are the words of a name, in lower case, or nil when s is none.
func conditionWords(s string) []string {
	if len(s) < 3 || len(s) > 64 || !phrases.IsAlpha(s[0]) {
		return nil
	}
	var words []string
	start := 0
	for i := 0; i <= len(s); i++ {
		end := i == len(s) || strings.IndexByte("_-.", s[i]) >= 0
		hump := !end && i > start && s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z'
		switch {
		case end || hump:
			if i > start {
				words = append(words, strings.ToLower(s[start:i]))
			}
			if start = i; end {
				start++
			}
		case !phrases.IsWord(s[i]):
			return nil
		}
	}
	return words
}

// nothingStatus are values of a status member that say that there was nothing to find.
var nothingStatus = phrases.Words("nxdomain", "zero_results", "no_results", "no_result", "no_data", "no_match", "no_matches", "no_hits")

// NamesNothing reports whether a status says that there was nothing to find.
func NamesNothing(s string) bool { return phrases.FoldedIn(s, nothingStatus) }

// severeKeys are normal keys of lists in which services say what they think of a
// request.
var severeKeys = phrases.Words("issue", "issues", "messages", "diagnostics", "notifications", "problems", "notices")

// severe is the first remark in such a list that is as severe as an error, 0 if there
// is none.
func (d *Doc) severe(i int32) int32 {
	n := &d.Nodes[i]
	if n.Kind != loosejson.Array || n.Child == 0 || d.Nodes[n.Child].Kind != loosejson.Object || !severeKeys[NormalKey(n.Key)] {
		return 0
	}
	for c := n.Child; c != 0; c = d.Nodes[c].Next {
		if s := d.Member(c, "severity"); s != 0 && (strings.EqualFold(d.Nodes[s].Val, "error") || strings.EqualFold(d.Nodes[s].Val, "fatal")) {
			return c
		}
	}
	return 0
}
