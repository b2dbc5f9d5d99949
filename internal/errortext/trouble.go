package errortext

import "slices"

// troubleWords mark a line as worth quoting, and a text as not certainly clean.
var troubleWords = []string{
	"error", "fail", "exception", "cannot", "can't", "couldn't", "could not", "no such", "not found", "denied",
	"invalid", "unable", "timeout", "timed out", "fatal", "refused", "unknown", "missing", "not allowed",
	"unauthorized", "forbidden", "warning", "traceback", "unexpected", "illegal", "rejected", "does not exist",
	"unsupported", "not supported", "not available", "unavailable",
}

// TroubleWords returns, in lower case, the words without which hardly any line
// speaks of trouble.
func TroubleWords() []string { return slices.Clone(troubleWords) }
