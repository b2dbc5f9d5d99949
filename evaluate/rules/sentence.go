package rules

import (
	"slices"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// complaints in a short answer say that the request was not carried out.
var complaints = []string{
	"does not exist", "doesn't exist", "do not exist", "don't exist", "is not valid", "are not valid", "is invalid",
	"are invalid", "not a valid", "is not supported", "are not supported", "not supported", "is not allowed",
	"are not allowed", "not permitted", "not authorized", "permission denied", "access denied", "was denied",
	"is denied", "already exists", "is not recognized", "not recognized", "cannot be ", "could not be ", "can't be ",
	"couldn't be ", "not logged in", "not match any", "been denied", "been revoked", "been expired", "token expired",
	"please try again", "try again later", "is incorrect", "does not match", "do not match", "was rejected",
	"were rejected", "timed out", "an error", "error:", "cannot find", "could not find", "couldn't find", "can't find",
	"unreachable", "not applied", "not performed", "is unavailable", "is not available", "temporarily unavailable",
	"too many requests", "rate limit", "exceeded", "no longer available", "not subscribed", "not implemented",
	"has expired", "is expired", "invalid api key", "api key", "did not appear", "not found", "missing required",
	"not installed", "cancelled due", "did not succeed", "unsuccessful", "overloaded", "exceeds maximum",
	"exceeds the ", "exceeds limit", "doesn't match", "failed because", "terminated early", "not registered", "maximum context length", "not ready yet",
	"the wrong kind", "the wrong type", "wrong number of", "outside the allowed", "outside the range", "has been closed", "is offline", "is not enough",
	"unsatisfiable", "no solution", "infeasible", "nothing was ", "invalid data", "is not in the ", "please enter a valid", "already taken", "already booked", "already reserved",
	"is not known", "is not a known", "already in use", "already been paid", "already been used", "already been cancelled", "already been refunded", "already been closed", ": invalid format",
}

// softComplaints say it too, but also stand in sentences about the world.
var softComplaints = []string{
	"cannot ", "can't ", "was not ", "were not ", "not been ", "failed", "refused", "is missing", "are missing",
	"unable to ", "not enough", "insufficient", "aborted", " unexpectedly",
}

// demands are what a tool that acts says of values it does not take.
var demands = []string{
	"must be ", "must provide", "must have", "is required", "are required", "please provide", "please specify",
	"should be ",
}

// doubtful complaints also stand in ordinary sentences.
var doubtful = []string{
	"must be ", "must provide", "is required", "are required", "please provide", "please specify", "should be ",
	"expected ", "too long", "too short", "too large", "not a ", "no such", "invalid", "error", "out of range", "no ",
	"problem", "wrong", "incorrect", "unterminated", "malformed",
}

// relief in the same text says that it went well after all.
var relief = []string{
	"no error", "0 errors", "without error", "no issues", "no problems", "0 failed", "successfully", "success",
	"completed", "all tests passed", "not an error", "succeeded",
}

// errorSentence: one or two sentences that complain. A tool that answers in
// sentences may mean something else, so an evaluation is certain only where the
// tool's successes look different.
func errorSentence(v *view, t *text) (finding, bool) {
	if !t.short(3, 360) || looksLikeCode(t.full) || v.ask.reads && !t.short(1, 240) || strings.HasPrefix(t.full, "<") || v.ask.command != "" && v.ask.reads {
		return finding{}, false
	}
	first := t.first()
	if entry, said, ok := strings.Cut(first.low(), ":"); ok && (len(entry) > 2 && v.gave(entry) || entry == "error" && errortext.IsVoid(strings.TrimSpace(said))) {
		return finding{}, false
	}
	if level, _, _ := strings.Cut(first.s, " "); first.relieved() || level == "NOTICE" || level == "INFO" || level == "DEBUG" || errortext.Measures(first.low()) || v.echoes(first.s) || len(t.lines) > 1 && logged(first.s) && phrases.ContainsAny(first.low(), []string{" warn", " info "}) {
		return finding{}, false
	}
	if v.tells() && v.ask.troubled && v.answers() {
		return finding{}, false // what the question was about
	}
	if instructs(t) && !v.ask.reads && !v.tells() {
		return fails("error-sentence", first.s, "it tells the caller what had to be otherwise").unsure(), true
	}
	if !first.has(hasComplaint | hasSoftComplaint | hasDemand | hasDoubt | hasComplaintWord) {
		return finding{}, false
	}
	said := mainSentence(first.low())
	narrates := phrases.HasAny(v.ask.names, narrators) || v.tells()
	if strings.Contains(said, "warning: ") && t.total > 1 {
		return finding{}, false
	}
	if v.ask.reads && v.ask.troubled {
		return half("error-sentence", first.s, "it tells of what was asked"), first.has(hasComplaint)
	}
	acts := t.reply || phrases.HasAny(v.ask.names, actors) || !narrates && v.plainly(t, said)
	complaint, complains := first.find(hasComplaint, complaints)
	if complains && !strings.Contains(said, strings.TrimRight(complaint, ". ")) && (v.ask.reads || narrates && v.linksOf(said) == 0 || v.clauseOf(said) == 0 && !errortext.Troubled(said)) {
		return half("error-sentence", first.s, "it complains of something beside what it tells"), true
	}
	if complains && narrates && !addressesCaller(first.low()) && v.linksOf(said)&(toIdentity|toMember) == 0 && len(said) > 60 {
		return half("error-sentence", first.s, "it complains, or tells of what was"), true
	}
	soft, _ := first.find(hasSoftComplaint, softComplaints)
	if complains && cited(first.low(), complaint) || !complains && soft != "" && cited(first.low(), soft) {
		return finding{}, false
	}
	complains = complains && (!v.ask.reads || strings.Index(first.low(), complaint) < 70)
	if complains && (v.ask.reads || v.tells()) && !t.reply && phrases.ContainsAny(complaint, []string{"cannot be", "can't be", "allowed", "supported", "permitted", "exceed"}) && v.linksOf(said) == 0 && !strings.Contains(first.low(), "please ") {
		return half("error-sentence", first.s, "it states a rule, or complains"), true
	}
	if complains && phrases.HasAny(v.ask.names, inspectors) && phrases.ContainsAny(complaint, judgements) {
		return half("error-sentence", first.s, "it may be what it was asked to find"), true
	}
	firm := complains || v.namesParameter(first.low()) || t.total == 1 && (strings.HasPrefix(errortext.Strip(first.low()), "invalid ") || !v.ask.reads && !narrates && errortext.HeadsReply(first.low()) && !defines(first.low())) || first.has(hasSoftComplaint) && acts ||
		first.has(hasDemand) && t.short(1, 200) && acts
	if !firm && !first.has(hasDoubt|hasSoftComplaint) {
		return finding{}, false
	}
	different := v.unlike()
	switch {
	case firm && different:
		return fails("error-sentence", first.s, "it complains, and the tool's successes look different"), true
	case firm && len(t.full) <= 240:
		return fails("error-sentence", first.s, "a short answer that complains").unsure(), true
	case firm || different || !v.ask.reads && first.has(hasSoftComplaint):
		return half("error-sentence", first.s, "a short answer that may be a complaint"), true
	}
	return finding{}, false
}

// looksLikeCode reports whether a short text is a line of a program.
func looksLikeCode(s string) bool {
	return strings.HasSuffix(s, "}") && strings.Contains(s, ") {") && strings.Contains(s, "(\"")
}

// plainly reports whether a sentence in lower case that is all of an answer complains in a few plain words, of a
// tool that is not known to answer in sentences.
func (v *view) plainly(t *text, said string) bool {
	if v.ask.reads || v.ask.command != "" || t.total > 1 || v.answers() || phrases.HasAny(v.ask.names, inspectors) || v.prof != nil && v.prof.successes >= int64(v.cfg.MinHistory) && v.prof.share(shapeText) > 0.5 {
		return false
	}
	if said == "" || !phrases.IsAlpha(said[0]) || strings.Count(said, " ") > 14 || strings.ContainsAny(said, "0123456789[]|%") {
		return false
	}
	return phrases.ContainsAny(said, softComplaints) && !phrases.HasWord(said, "we") && !phrases.HasWord(said, "our") && !phrases.HasWord(said, "should")
}

// narrators are words of names of tools that tell of what they read or did.
var narrators = phrases.Words("summarize", "summarise", "summary", "subagent", "rag", "analyze", "analyse", "analyzer", "insights", "digest", "brief")

// mainSentence is the first sentence of a line in lower case that says something.
func mainSentence(low string) string {
	for {
		said, rest, more := strings.Cut(low, ". ")
		if !more || strings.Count(said, " ") > 1 && !strings.HasSuffix(said, ".") {
			return said
		}
		low = rest // "Sorry. ...", "Powering on ... ..."
	}
}

// addressesCaller reports whether a sentence speaks of the request.
func addressesCaller(said string) bool {
	return phrases.HasWord(said, "you") || phrases.HasWord(said, "your") || phrases.HasWord(said, "request") || strings.HasPrefix(said, "please")
}

// judgements are complaints that an examination comes to.
var judgements = []string{"valid", "match", "incorrect", "available", "exceed", "supported", "unreachable", "offline", "expired", "taken", "registered", "recognized"}

// clouded gives a word of trouble in the lines that were read.
func clouded(t *text) (string, bool) {
	for i := range t.lines {
		l := &t.lines[i]
		if w, ok := l.find(hasComplaintWord, trouble); ok && !l.has(hasNoError) {
			return w, true
		}
	}
	return "", false
}

// namesParameter reports whether a sentence begins with a parameter of the call
// and says what it must be.
func (v *view) namesParameter(low string) bool {
	low = strings.TrimLeft(low, "'\"`")
	name := low[:phrases.NameLen(low)]
	if len(name) < 2 || !slices.ContainsFunc(v.ask.keys, func(k string) bool { return strings.EqualFold(k, name) }) {
		return false
	}
	rest := strings.TrimLeft(low[len(name):], "'\"` ")
	return phrases.StartsAny(rest, []string{"must ", "is required", "is missing", "is not ", "should ", "cannot ", "can't ", "may not ", "has to "})
}
