package rules

import (
	"slices"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// clause is what the first sentence of a short answer does.
type clause uint8

const (
	denies  clause = 1 << iota // says that something is not so, or cannot be
	obliges                    // says what must be
	suffers                    // gives a state in which nothing can be done: is disabled, has already been closed
	orders                     // compares: is after, is less than
	misses                     // says what was expected and what came
	limits                     // says that there is only so much
)

// link is what a sentence has to do with the call that it answers.
type link uint8

const (
	toMember    link = 1 << iota // it names a member of the input
	toValue                      // it repeats a value of the input
	toIdentity                   // and this value names a thing, it is no text to search for
	toCaller                     // it speaks to the caller
	toTool                       // it speaks of the tool
	toParameter                  // it names what can only be a parameter: page_size, pageSize
)

// clauseWords are what no such sentence is without.
var clauseWords = []string{
	"not ", " only.", "n't ", "cannot ", "can only ", "may only ", " must ", " need to ", " needs to ", " has to ", " have to ", "require", "mandatory", "at least one ", "at most ",
	"disabled", "deactivated", "read-only", "suspended", "archived", "locked", "frozen", "expired", "revoked", "missing", "empty", "closed", "ended", "already been ",
	"expected ", " already", " has passed", " have passed", " has cancelled ", " has canceled ", " has withdrawn ", " has blocked ", " is over", " fully booked", "need at least", "needs at least", " has only ", "blocked", "terminated", "offline", "exhausted", "incomplete", "ambiguous", "unverified", "unpaid", " is after ", " is before ", " than ", " same as ", "equal to ",
	" failed", " still ", "nothing to ", " needed", " taken", " too ", "out of ", " outside ", "invalid", "incorrect", "malformed", "unrecognized", "lapsed", "crashed", "stalled", "disconnected",
	"provide ", "specify ", "no ", "neither ", " only ", "only ", "please ", "mutually exclusive", "incompatible", "exceed", "occupied", "busy", "jammed", "encrypted", "corrupt", " stuck", "inactive", "sold out",
	"out of range", "out of bounds", "above the ", "below the ", "conflict", "overlap", "limit reached", "does not fit",
	"declined", "rejected", "denied", "refused", "aborted", "interrupted", "already being ", "is full", " first", "quota ", "limit ", "maximum ", "minimum ", "capacity ", "balance ", "unavailable", "unreachable", "unsupported",
}

// clauseIndex covers them. It is apart from lineIndex since only short answers are read so.
var clauseIndex = phrases.NewIndex(map[phrases.Marks][]string{1: clauseWords})

var (
	obligations = []string{" must ", " need to ", " needs to ", " has to ", " have to ", " required", " requires ", "mandatory", "can only ", "may only ", "at least one ", "need at least ", "needs at least ", "at most ", " should be ", " is needed", " are needed", "mutually exclusive", "incompatible", "exceed"}
	comparisons = []string{" is after ", " is before ", " greater than ", " less than ", " larger than ", " smaller than ", " later than ", " earlier than ", " longer than ", " higher than ", " lower than ", " is equal to ", " is the same as ", " are the same"}
	doneMarks   = []string{"✅", "✔", "✓", "☑", "🎉"}
	copulas     = phrases.Words("is", "are", "was", "were", "currently", "already")
	deadStates  = phrases.Words(
		"disabled", "deactivated", "read-only", "suspended", "archived", "locked", "frozen", "expired", "revoked", "missing", "empty", "closed", "ended", "blocked",
		"terminated", "offline", "exhausted", "incomplete", "ambiguous", "unverified", "unpaid", "invalid", "unknown", "unavailable", "unreachable", "unsupported", "full",
		"too", "taken", "occupied", "busy", "jammed", "encrypted", "corrupt", "corrupted", "stuck", "inactive", "sold",
	)
	// turnedDown are participles of what somebody did to a request.
	turnedDown = phrases.Words("declined", "rejected", "denied", "refused", "aborted", "interrupted", "blocked", "prohibited", "prevented", "expired", "ended", "lapsed", "crashed", "stalled", "jammed", "disconnected")
	givenAtEnd = []string{" connected|", " available|", " installed|", " configured|", " running|", " selected|", " attached|", " specified|", " provided|", " supplied|"}
	// faulty are what a value is.
	faulty = phrases.Words("invalid", "incorrect", "malformed", "unrecognized")
	lacks  = []string{" is no ", " are no ", " has no ", " have no ", " had no ", " with no ", " contains no ", " and no ", " no longer ", " was no "}
	// bounds are what a value broke.
	bounds    = []string{" out of range", " out of bounds", "above the allowed", "above the maximum", "above the limit", "below the minimum", "below the allowed", " is outside ", " are outside ", " conflicts with ", " overlaps with ", "limit reached"}
	alreadySo = []string{" has passed", " have passed", " has ended", " has closed", " has cancelled ", " has canceled ", " has withdrawn ", " has blocked ", " has disabled ", " closed on ", " closed at ", " is over", " fully booked", " sold out", "already running", "already initialized", "already initialised", "already present", "already registered", "already connected", "already closed", "already started", "already in progress", "already active", "already open"}
	// given end "no password was supplied".
	given  = []string{" supplied", " provided", " given", " specified", " configured", " selected", " passed", " attached", " set up", " connected", " available", " installed", " running", " defined"}
	advice = []string{
		"please ", "use ", "try ", "check ", "select ", "provide ", "specify ", "inspect ", "make sure ", "ensure ", "double check ", "enable ", "run ", "set ", "contact ", "verify ", "consider ",
		"did you mean", "available ", "valid ", "allowed ", "supported ", "choose ", "call ", "start ", "stop ", "see ", "pick ", "wait ", "add ", "first ", "log in", "sign in", "you can ", "you must ", "you need ", "you may need ",
	}
	// reserved say for what alone something is.
	reserved = []string{" only available ", " only allowed ", " only supported ", " only permitted ", " only possible ", " only works ", " only valid "}
	// summons open a sentence that is all of an answer and sends the caller elsewhere first.
	summons = []string{
		"provide ", "specify ", "please run ", "please log", "please sign", "please provide", "please specify", "please set", "please configure", "please install", "please connect", "please enable", "please authenticate",
		"please re-authenticate", "please select", "please choose", "please enter", "please use ", "please try again", "please upgrade", "please wait", "please check ",
	}
)

// tellers are words of names of tools that answer in sentences about the world.
var tellers = phrases.Words(
	"ask", "answer", "chat", "question", "explain", "agent", "task", "think", "weather", "forecast", "status", "track", "tracking", "state", "is", "has", "compare", "describe", "tell", "health", "monitor",
	"info", "define", "dictionary", "translate", "classify", "sentiment", "detect", "advise", "recommend", "suggest", "generate", "write", "draft", "compose", "rewrite", "llm",
	"rule", "rules", "policy", "policies", "terms", "law", "regulations", "requirements", "faq", "manual", "handbook", "contract", // of norms
	"assistant", "research", "reason", "predict", "diff", "ocr", "transcribe", "speech", "caption", "vision", "calculate", "calculator", "say", "joke", "quote",
)

// unmetCondition: a short answer denies, demands or deplores something of what the call
// itself named: a member or a value of its input, the tool, the caller. A sentence about
// the world names none of them, or comes from a tool that tells of it.
func unmetCondition(v *view, t *text) (finding, bool) {
	if !t.short(4, 500) || strings.HasPrefix(t.full, "<") || v.ask.troubled && v.ask.reads {
		return finding{}, false
	}
	if v.ask.command != "" && (t.total > 2 || v.ask.shell.onlyPrints()) {
		return finding{}, false
	}
	l := t.first()
	if strings.HasPrefix(l.s, "#") && len(l.s) < 30 && len(t.lines) > 1 {
		l = t.at(1) // "### Result"
	}
	if clauseIndex.Scan(l.s) == 0 || phrases.StartsAny(l.s, doneMarks) || l.relieved() && !strings.Contains(l.low(), " already been ") || v.echoes(l.s) || logged(l.s) {
		return finding{}, false
	}
	if v.ask.command != "" {
		return v.signedDenial(t, l)
	}
	said, more := firstSentence(l.low())
	does, links := v.clauseOf(said), v.linksOf(said)
	if namesParameter(l.s) {
		links |= toParameter
	}
	bare := strings.TrimLeft(said, "*_`\"'#> ")
	if reportsDone(bare) && does&limits == 0 {
		return finding{}, false
	}
	advised := phrases.StartsAny(more, advice) || phrases.StartsAny(t.at(1).low(), advice) || strings.Contains(said, ", please ")
	if endsFirst(more) {
		does, advised = does|obliges, true
	}
	tells := phrases.HasAny(v.ask.names, tellers) || phrases.HasAny(v.ask.names, inspectors) || phrases.HasAny(v.ask.names, narrators) || v.answers()
	acts := phrases.HasAny(v.ask.names, actors)
	met := false
	switch {
	case strings.HasPrefix(bare, "not ") && !v.ask.reads && !tells:
		met = t.total == 1
	case phrases.StartsAny(bare, summons):
		met = t.total == 1 && !tells && (!v.ask.reads || more == "")
	case does&misses != 0:
		met = !v.ask.reads || links&(toIdentity|toTool) != 0
	case does&obliges != 0 && phrases.ContainsAny(said, given[:5]) && !tells:
		met = t.total <= 2 && (links&toParameter != 0 || !v.ask.reads)
	case tells && does&obliges != 0 && links&toParameter != 0:
		met = t.total == 1
	case tells:
		met = advised && (links&toIdentity != 0 && does != 0 || strings.HasSuffix(said, " failed"))
	case givesNone(said):
		met = t.total <= 2
	case absent(said):
		met = (links&toIdentity != 0 || acts && !phrases.HasAny(v.ask.names, searchers)) && !strings.HasPrefix(said, "no match") && !strings.HasPrefix(said, "no result")
	case v.ask.reads && t.total == 1 && v.looksUp() && len(said) < 100 && (strings.Contains(said, " must be ") || errortext.HeadsReply(said) && strings.Contains(said, ": ")):
		met = links&toCaller == 0
	case v.ask.reads && t.total == 1 && phrases.ContainsAny(said, validations) && (links&(toMember|toParameter) != 0 || aboutPrograms(said) || v.looksUp() && len(said) < 100):
		met = links&toCaller == 0 || advised
	case v.ask.reads && t.total == 1 && does&denies != 0 && links&toIdentity != 0 && len(said) < 80:
		met = true
	case v.ask.reads && links&toMember != 0 && (does&suffers != 0 && t.reply || strings.Contains(said, " is not a")):
		met = t.total == 1
	case v.ask.reads:
		met = (t.total <= 2 || links&toTool != 0) && (does&obliges != 0 && links&toParameter != 0 && t.total == 1 || does&(denies|obliges|suffers) != 0 && (links&toIdentity != 0 && links&toMember != 0 || links&toTool != 0 || advised && links != 0) ||
			does&orders != 0 && links&toMember != 0 || does&suffers != 0 && advised || does&obliges != 0 && links&toCaller != 0 && comesFirst(said))
	case does&(denies|obliges|suffers|limits) != 0:
		met = t.total == 1 && links&toCaller == 0 && phrases.ContainsAny(said, validations) || links&^toCaller != 0 || links != 0 && !strings.Contains(said, "should") || advised || acts || t.reply
	case t.total == 1 && phrases.ContainsAny(said, validations):
		met = true
	default:
		met = does&orders != 0 && (links&(toMember|toParameter) != 0 || acts && t.total == 1)
	}
	if !met {
		return finding{}, false
	}
	return fails("unmet-condition", l.s, "it says what of the call did not fit").unsure(), true
}

// validations are what only a validator says of a value.
var validations = []string{
	"cannot be empty", "can't be empty", "not be empty", "cannot be blank", "can't be blank", "cannot be null", "cannot be nil", "cannot be none", "cannot be undefined", "cannot be negative", "cannot be zero",
	"cannot be after", "cannot be before", "cannot be greater", "cannot be less", "cannot exceed", "must be non-", "must be a positive", "must be positive", "must be a valid", "must be valid", "must be an integer", "must be a string",
	"must be a list", "must be an array", "must be an object", "must be a number", "must be a boolean", "must be one of", "must be either", "must be specified", "must be provided", "must be supplied", "must be set",
	"must be given", "must be greater than", "must be less than", "must be at least", "must be at most", "must be between", "must be in format", "must be in the format", "must contain ", "must start with", "must end with",
	"must match", "must have at least", "must include", "must define", "is required", "are required", " required", "can only be ", "out of bounds", "out of range", "is not set", "are not set", "is not a ", "is not an ",
	"not provided", "is empty", "already running", "is not running", "not been initialized", "not initialized", "did not complete",
}

// looksUp reports whether a tool that reads gets things by their identity: what it hands
// over are records, hardly sentences.
func (v *view) looksUp() bool {
	looks := false
	for _, w := range v.ask.names {
		if w == "get" || w == "list" || w == "show" || w == "download" {
			looks = true
		} else if readerNames[w] {
			return false
		}
	}
	return looks && !v.answers()
}

// aboutPrograms reports whether one of the first words of a sentence in lower case is one
// of programming, or stands in quotation marks.
func aboutPrograms(said string) bool {
	n := 0
	for w := range strings.FieldsSeq(said) {
		if n++; n > 5 {
			return false
		}
		if errortext.ProgramNoun(strings.Trim(w, ",.:;()")) || len(w) > 2 && strings.IndexByte("\"'`-", w[0]) >= 0 {
			return true
		}
	}
	return false
}

// firstSentence is the first sentence of a line in lower case, without what stands in
// brackets, and what follows it.
func firstSentence(low string) (first, rest string) {
	for i := 0; i+1 < len(low); i++ {
		if (low[i] == '.' || low[i] == ';' || low[i] == '!') && low[i+1] == ' ' {
			first, rest = low[:i], strings.TrimLeft(low[i+1:], " ")
			break
		}
	}
	if first == "" {
		first = strings.TrimRight(low, ".! ")
	}
	if open := strings.IndexByte(first, '('); open > 0 {
		if end := strings.IndexByte(first[open:], ')'); end > 0 {
			first = first[:open] + first[open+end+1:]
		}
	}
	return first, rest
}

// reportsDone reports whether a sentence in lower case opens as a report of what was
// done does: with a participle.
func reportsDone(s string) bool {
	word := s[:phrases.NameLen(s)]
	switch word {
	case "ok", "done", "sent", "set", "put", "wrote", "built", "made", "ran", "found":
		return true
	case "expected", "need", "failed", "rejected", "denied", "refused", "expired", "required", "unsupported", "disabled", "exceeded", "blocked", "prevented", "prohibited", "aborted", "declined", "interrupted":
		return false
	}
	return len(word) > 4 && strings.HasSuffix(word, "ed")
}

// clauseOf tells what a sentence in lower case does.
func (v *view) clauseOf(s string) (c clause) {
	s = strings.ReplaceAll(s, " should not ", " should ")
	if strings.HasPrefix(s, "only ") || strings.Contains(s, " has only ") || strings.Contains(s, " only ") && (phrases.ContainsAny(s, reserved) || strings.HasSuffix(s, " left") || strings.HasSuffix(s, " remaining") || strings.HasSuffix(s, " available")) || strings.HasSuffix(s, " only") || givesBound(s) {
		c |= limits
	}
	if strings.Contains(s, " not ") || strings.Contains(s, "n't ") || strings.Contains(s, "cannot ") || strings.HasPrefix(s, "no ") || strings.HasPrefix(s, "neither ") || phrases.ContainsAny(s, lacks) {
		c |= denies
	}
	if phrases.ContainsAny(s, obligations) {
		c |= obliges
	}
	if phrases.ContainsAny(s, bounds) {
		c |= suffers
	}
	if _, then, ok := strings.Cut(s, " more "); phrases.ContainsAny(s, comparisons) || ok && strings.Contains(then, " than ") {
		c |= orders
	}
	if strings.HasPrefix(s, "expected ") && phrases.ContainsAny(s, []string{" but ", " got ", " found ", " received ", ", not "}) {
		c |= misses
	}
	if rest, ok := strings.CutPrefix(s, "out of "); ok && rest != "" && !phrases.IsDigit(rest[0]) || strings.HasSuffix(s, " failed") {
		c |= suffers
	}
	if strings.Contains(s, " still ") || strings.HasPrefix(s, "nothing to ") || strings.HasSuffix(s, " already") {
		c |= suffers
	}
	if strings.Contains(s, " already been ") || strings.Contains(s, " already being ") || phrases.ContainsAny(s, alreadySo) {
		c |= suffers
	}
	before := ""
	for w := range strings.FieldsSeq(s) {
		w = strings.Trim(w, "\"'`,:.*()[]")
		if deadStates[w] && (copulas[before] || before == "been" && strings.HasPrefix(s, "your ")) || turnedDown[w] && !v.ask.does(w) || faulty[w] {
			c |= suffers
		}
		before = w
	}
	return c
}

// absent reports whether a sentence says only that there is no such thing, as searches do.
func absent(s string) bool {
	return strings.HasPrefix(s, "no ") && !phrases.ContainsAny(s, obligations) || strings.HasSuffix(s, " not found") || phrases.StartsAny(s, lookups)
}

// givesNone reports whether a sentence in lower case says that something was not given: "no
// URL provided", but not "no results for the given query", which was.
func givesNone(s string) bool {
	_, none, ok := strings.Cut(s, "no ")
	none, _, _ = strings.Cut(none, " for ")
	return ok && phrases.ContainsAny(none, given)
}

// givesBound reports whether a sentence gives a bound as a number: "quota is 8", "limit of 0".
func givesBound(s string) bool {
	for _, noun := range []string{"quota ", "limit ", "maximum ", "minimum ", "capacity ", "balance "} {
		_, after, ok := strings.Cut(s, noun)
		if _, number, _ := strings.Cut(after, " "); ok && number != "" && phrases.IsDigit(number[0]) && phrases.StartsAny(after, []string{"is ", "of ", "was "}) {
			return true
		}
	}
	return false
}

// endsFirst reports whether a second sentence sends the caller to do something else first.
func endsFirst(more string) bool {
	return strings.HasSuffix(strings.TrimRight(more, ".! "), " first") && strings.Count(more, " ") < 9
}

// comesFirst reports whether a demand is one for something that has to come first.
func comesFirst(s string) bool {
	return strings.Contains(s, " before ") || strings.Contains(s, " first") || strings.Contains(s, " in order to ") || strings.Contains(s, " to use ")
}

// selfWords are how a tool speaks of itself and of what it works in.
var selfWords = []string{"this tool", "this action", "this operation", "this feature", "this command", "this endpoint", "this request", "this project", "this account", "this plan", "this mode", "read-only mode", "integration ", " for this ", " in this ", " on this "}

// linksOf tells what a sentence in lower case has to do with the call.
func (v *view) linksOf(low string) (found link) {
	if phrases.HasWord(low, "you") || phrases.HasWord(low, "your") || strings.HasPrefix(low, "please ") {
		found |= toCaller
	}
	own := v.call.Tool[strings.LastIndexAny(v.call.Tool, ".:/ ")+1:]
	own = own[strings.LastIndex(own, "__")+1:]
	if phrases.ContainsAny(low, selfWords) || len(own) > 5 && strings.Contains(low, strings.ToLower(strings.Trim(own, "_"))) {
		found |= toTool
	}
	if name, _, ok := strings.Cut(low, " "); ok && len(name) > 4 && (slices.Contains(v.ask.names, name) || slices.Contains(v.ask.names, strings.TrimSuffix(name, "s"))) {
		found |= toTool // "Batch requests cannot exceed 50"
	}
	d := &v.scratch.input
	if !d.OK() {
		return found
	}
	for i := range d.Nodes[:min(len(d.Nodes), 48)] {
		n := &d.Nodes[i]
		if n.Key != "" && namesMember(low, n.Key) {
			found |= toMember
		}
		if n.Kind == loosejson.String && searchKey(n.Key) {
			continue // what it is about
		}
		if n.Kind != loosejson.String && n.Kind != loosejson.Number || len(n.Val) < 2 || len(n.Val) > 120 {
			continue
		}
		if val := strings.ToLower(n.Val); phrases.HasWord(low, val) {
			found |= toValue
			if identifies(n.Key, val) {
				found |= toIdentity
			}
		}
	}
	return found
}

// namesMember reports whether a sentence in lower case names a member of the input: by its
// key, or by one of the longer words of it, also in the singular.
func namesMember(low, key string) bool {
	if len(key) > 40 {
		return false
	}
	if lower := strings.ToLower(key); len(lower) > 2 && phrases.HasWord(low, lower) {
		return true
	}
	first, _, _ := strings.Cut(low, " ") // "Required file is not ..." of filepath
	second, _, _ := strings.Cut(strings.TrimPrefix(low[len(first):], " "), " ")
	if lower := strings.ToLower(key); len(first) > 3 && strings.Contains(lower, first) || len(second) > 3 && strings.Contains(lower, second) {
		return true
	}
	for _, w := range nameWords(key) {
		if w = strings.TrimSuffix(w, "s"); len(w) > 3 && (phrases.HasWord(low, w) || phrases.HasWord(low, w+"s")) {
			return true
		}
	}
	return false
}

// searchKeys are members that hold what is searched for: nothing may fit it.
var searchKeys = phrases.Words("query", "q", "search", "keyword", "keywords", "pattern", "text", "term", "terms", "prompt", "question", "filter", "topic", "regex", "title", "phrase", "sql", "message", "content", "body", "where", "tag", "tags")

// searchKey reports whether a member holds what is searched for or asked.
func searchKey(key string) bool { return phrases.HasAny(nameWords(key), searchKeys) }

// answers reports whether the input is but a question, or what to search for.
func (v *view) answers() bool {
	for _, k := range v.ask.keys {
		if !searchKey(k) {
			return false
		}
	}
	return len(v.ask.keys) > 0 && !phrases.HasAny(v.ask.names, actors)
}

// namesParameter reports whether a line has a word that can only be the name of a
// parameter: page_size, pageSize.
func namesParameter(s string) bool {
	for w := range strings.FieldsSeq(s) {
		w = strings.Trim(w, "\"'`,.:;()[]")
		if phrases.NameLen(w) != len(w) || len(w) < 4 || w[0] < 'a' || w[0] > 'z' {
			continue
		}
		if strings.IndexByte(w, '_') > 1 && w[len(w)-1] != '_' {
			return true
		}
		for i := 1; i+1 < len(w); i++ {
			if w[i] >= 'A' && w[i] <= 'Z' && w[i-1] >= 'a' && w[i+1] >= 'a' {
				return true
			}
		}
	}
	return false
}

// identifies reports whether a value in lower case names one thing.
func identifies(key, val string) bool {
	if words := nameWords(key); len(words) > 0 {
		switch words[len(words)-1] {
		case "id", "ids", "uid", "uuid", "pid", "key", "ref", "path", "file", "filepath", "filename", "sha", "branch", "slug", "handle", "channel", "sheet", "table", "collection", "database", "repo", "project", "number", "url", "uri", "index", "node":
			return true
		}
	}
	return !strings.Contains(val, " ") && strings.ContainsAny(val, "0123456789/_.#:")
}

// signedDenial: one line of a command that begins with a word of the command line, and
// denies something: "merge: nosuch - not something we can merge".
func (v *view) signedDenial(t *text, l *line) (finding, bool) {
	low := l.low()
	who, what, signed := strings.Cut(low, ": ")
	met := phrases.StartsAny(low, lookups) && strings.ContainsAny(low, "'\"`") && v.namesWord(low) ||
		signed && !strings.Contains(who, " ") && phrases.HasWord(strings.ToLower(v.ask.command), who) && v.clauseOf(what)&(denies|obliges) != 0 && !phrases.ContainsAny(what, harmless)
	if !met && t.total == 1 {
		met = phrases.StartsAny(low, summons) || signed && !strings.ContainsAny(who, " /.") && strings.HasPrefix(what, "no ") && strings.HasSuffix(what, " found") ||
			!v.ask.reads && v.deniesCommand(l, what)
	}
	if !met {
		return finding{}, false
	}
	return fails("unmet-condition", l.s, "it says what of the command did not fit").unsure(), true
}

// deniesCommand reports whether a line that is all that a command printed, of which what stands
// behind a colon, says that something of the command line was not there, not so or not possible.
func (v *view) deniesCommand(l *line, what string) bool {
	low, first := l.low(), firstWord(l.s)
	switch {
	case phrases.StartsAny(low, []string{"cannot ", "can't ", "could not ", "couldn't ", "unable to "}):
		return true
	case strings.HasPrefix(low, "no "):
		return !l.has(hasGoodAbsence) && phrases.ContainsAny(strings.TrimRight(low, ".!")+"|", givenAtEnd)
	case errortext.ProgramNoun(firstWord(low)), strings.ContainsAny(first, "./") && slices.Contains(strings.Fields(v.ask.command), first):
		return v.clauseOf(low)&denies != 0
	}
	return what != "" && v.clauseOf(what)&obliges != 0 && aboutPrograms(what)
}

// namesWord reports whether a line in lower case holds, in quotation marks, a word of the
// command line.
func (v *view) namesWord(low string) bool {
	for w := range strings.FieldsSeq(strings.ToLower(v.ask.command)) {
		if w = strings.Trim(w, "'\"`"); len(w) > 3 && w[0] != '-' {
			if i := strings.Index(low, w); i > 0 && strings.LastIndexAny(low[:i], "'\"`") >= 0 {
				return true
			}
		}
	}
	return false
}
