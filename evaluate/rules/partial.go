package rules

import (
	"slices"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// usageText: a usage text that nobody asked for means that the arguments were
// not understood.
func usageText(v *view, t *text) (finding, bool) {
	low := errortext.Strip(t.first().low())
	if next := t.at(1).low(); v.ask.command != "" && !v.ask.reads && strings.HasPrefix(next, "usage") {
		low = next // after what was wrong
	}
	if !strings.HasPrefix(low, "usage:") && !strings.HasPrefix(low, "usage ") || v.ask.help || v.quotes(t) && v.ask.command == "" {
		return finding{}, false
	}
	f := fails("usage", t.first().s, "it printed its usage although that was not asked for").unsure()
	f.cause = causeParameter
	return f, true
}

var refusalPhrases = []string{
	"cannot answer", "can't answer", "can not answer", "unable to answer", "could not answer", "couldn't answer",
	"not able to answer", "no answer", "i'm sorry, but", "i am sorry, but", "i apologize, but", "as an ai",
	"i don't know", "i do not know", "don't have enough information", "do not have enough information",
	"not enough information", "insufficient information", "insufficient context", "cannot help", "can't help",
	"can't assist", "cannot assist", "unable to assist", "cannot provide", "not able to provide", "cannot be answered",
	"could not be answered", "i cannot", "i can't", "i'm unable", "i am unable", "i'm not able", "answer is unknown",
	"not able to help", "cannot determine", "could not determine",
}

// refusal: a short answer that declines to answer.
func refusal(v *view, t *text) (finding, bool) {
	if !t.short(4, 500) {
		return finding{}, false
	}
	for i := range t.lines {
		l := &t.lines[i]
		if v.ask.command != "" && l.has(hasDemand) {
			continue // of an argument
		}
		if l.has(hasRefusal) || l.has(hasToAnswer) && strings.Contains(l.low(), "too ") {
			f := half("refusal", l.s, "the tool declined to answer")
			f.cause = causeRefusal
			return f, !v.echoes(l.s)
		}
	}
	return finding{}, false
}

var noResultPhrases = []string{
	"no results", "no result", "no matches", "no match", "no matching", "nothing found", "no records", "no rows",
	"no data", "no items", "no entries", "no files found", "no documents", "no search results", "found 0 ",
	"zero results", "did not match any", "didn't match any", "no articles", "no relevant", "not find any",
	"empty result", "returned no", "empty set", "no content", "none found", "no hits", "no information",
	"not found any", "there are no ", "there is no ", "no events", "no messages", "no available", "no flights",
	"no products", "no such results",
}

// thingNouns are things whose absence is a mistake in the call rather than an
// empty answer.
var thingNouns = []string{
	"file", "directory", "folder", "path", "command", "tool", "function", "module", "page", "url", "endpoint", "host",
	"table", "column", "method", "element", "selector", "package", "class", "attribute", "argument", "parameter",
	"route", "server", "api", "variable", "string to replace", "old_str", "resource", "branch", "repository", "node",
	"ref", "sheet", "document", "template", "database", "collection", "window", "session", "process", "container",
	"string", "symbol", "image", "key",
}

// zeroResults count what was found, as words of their own.
var zeroResults = []string{"0 results", "0 matches", "0 rows", "0 records", "0 items", "0 hits"}

// lookups are beginnings that report an unsuccessful lookup.
var lookups = []string{"could not find", "couldn't find", "cannot find", "can't find", "unable to find", "did not find", "didn't find"}

// searchers are words of names of tools whose answer may be empty.
var searchers = phrases.Words(
	"search", "find", "finder", "query", "list", "lookup", "retrieve", "filter", "recommend", "match", "browse", "get",
	"track", "check",
)

// noResult: the tool worked and says that there is nothing.
func noResult(v *view, t *text) (finding, bool) {
	if v.idle(t.last().low()) {
		return half("no-result", t.last().s, "there was nothing to do").unsure(), true
	}
	if !isNoResult(t) || v.echoes(t.first().s) {
		return finding{}, false
	}
	names := v.ask.names
	if phrases.HasAny(names, actors) && !phrases.HasAny(names, searchers) && v.ask.command == "" || v.ask.shell.manages && !v.ask.reads {
		return fails("no-result", t.first().s, "what it was to act on was not found").unsure(), true
	}
	if v.ask.command != "" && !v.ask.reads && phrases.StartsAny(t.first().low(), lookups) {
		return fails("no-result", t.first().s, "what it needs was not found").unsure(), true
	}
	if thing, ok := strings.CutSuffix(strings.TrimRight(t.first().low(), ".! "), " not found"); ok && strings.Count(thing, " ") < 2 && !phrases.HasAny(names, finders) && !phrases.HasAny(names, tellers) && !v.answers() {
		return fails("no-result", t.first().s, "what was asked for does not exist").unsure(), true
	}
	f := half("no-result", t.first().s, "it found nothing")
	f.cause = causeEmpty
	return f, true
}

// idle reports whether a last line in lower case says that there was nothing of what the command
// does: "nothing to commit, working tree clean".
func (v *view) idle(last string) bool {
	if v.ask.command == "" || v.ask.reads || !phrases.StartsAny(last, []string{"nothing ", "no "}) {
		return false
	}
	_, verb, _ := strings.Cut(last, " to ")
	return phrases.HasWord(strings.ToLower(v.ask.command), verb[:phrases.NameLen(verb)])
}

// goodAbsences are things that one is glad not to find.
var goodAbsences = []string{
	"no error", "no issue", "no problem", "no warning", "no conflict", "no vulnerab", "no fail", "no violation",
	"no mistake", "no difference", "no changes needed", "no duplicate",
}

func isNoResult(t *text) bool {
	first := t.first()
	if !t.short(4, 400) || identified(first.low()) || strings.HasPrefix(first.s, "HTTP") {
		return false
	}
	if first.has(hasGoodAbsence) {
		return false
	}
	if first.has(hasNoResult) {
		return true
	}
	low := first.low()
	if first.has(hasZeroResults) && slices.ContainsFunc(zeroResults, func(p string) bool { return phrases.HasWord(low, p) }) {
		return true
	}
	if strings.HasPrefix(low, "no ") && (strings.Contains(low, " found") || strings.Contains(low, " match") || strings.Contains(low, " available")) {
		return true
	}
	if head, ok := phrases.HasPrefixAny(low, lookups); ok && !phrases.ContainsAny(low, thingNouns) && !aboutPrograms(low[len(head):min(len(low), len(head)+16)]) {
		return true
	}
	return t.short(2, 160) && strings.HasSuffix(strings.TrimRight(low, ".! "), " not found") && !phrases.ContainsAny(low, thingNouns)
}

// adviceWords in a warning show that it is about the values of the call.
var adviceWords = []string{
	"not supported", "unsupported", "invalid", "unknown", "ignored", "ignoring", "too generic", "too broad",
	"limited results", "partial", "truncated", "incomplete", "default", "deprecated", "parameter", "argument", "option",
	"value", "language", "format", "limit", "exceed", "failed", "could not", "unable", "skipped", "missing",
	"not found", "unrecognized", "out of range", "no effect", "fallback", "falling back", "expired", "not available",
	"not enabled",
}

var warningHeads = []string{
	"warning:", "warning -", "warning!", "warning]", "warning ", "warnings:", "warn:", "warn]", "caution:",
	"partial results", "partial data", "partial output", "partial answer", "partial response", "partial success", "partially ", "partial failure", "completed with errors",
	"completed with warnings", "completed with issues", "some results", "some items", "incomplete results",
	"results may be incomplete", "query too generic", "query too broad", "limited results",
}

// warning: the output opens with a warning, or a short one contains it.
func warning(v *view, t *text) (finding, bool) {
	if v.quotes(t) {
		return finding{}, false
	}
	few := t.short(6, 800)
	for i := range t.lines {
		l := &t.lines[i]
		if i > 0 && (!few || v.ask.command != "") || i > 6 {
			break
		}
		head, ok := phrases.HasPrefixAny(errortext.Strip(l.low()), warningHeads)
		if !ok && l.has(hasWarningAfter) {
			_, said, cut := strings.Cut(l.low(), ": warning: ")
			ok, head = cut && said != "", "warning:"
		}
		if !ok || v.echoes(l.s) || head == "warning " && !phrases.ContainsAny(l.low(), adviceWords) {
			continue
		}
		if _, name, missing := strings.Cut(l.low(), "not found: "); missing && t.total == 1 && v.ask.command != "" && phrases.HasWord(strings.ToLower(v.ask.command), name) {
			return fails("warning", l.s, "what the command names does not exist").unsure(), true
		}
		f := half("warning", l.s, "it ran and warned")
		if f.cause == causeMissing || f.cause == causeUnknown {
			f.cause = causeParameter
		}
		f.sure = i == 0 && few && v.ask.command == "" && phrases.ContainsAny(l.low(), adviceWords)
		return f, true
	}
	return finding{}, false
}

// identified recognises "User 9 not found": what was asked for by its identity
// does not exist, which is no empty answer.
func identified(low string) bool {
	thing, ok := strings.CutSuffix(strings.TrimRight(low, ".! "), " not found")
	words := strings.Fields(thing)
	return ok && len(words) >= 2 && len(words) <= 4 && strings.ContainsAny(words[len(words)-1], "0123456789'\"")
}
