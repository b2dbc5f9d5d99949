package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// addressed are beginnings that speak to the caller about the request.
var addressed = []string{
	"your ", "the requested ", "the provided ", "the given ", "the specified ", "the submitted ", "the supplied ",
	"the input ", "the request ", "the command ", "the query ", "the edit ", "this request ", "this command ",
	"this tool ", "this action ", "this operation ",
}

// rejections say in such a sentence that nothing came of it.
var rejections = []string{
	"error", "invalid", "not valid", "failed", "rejected", "denied", "not allowed", "not permitted", "not supported",
	"could not be", "cannot be", "can't be", "couldn't be", "was not ", "were not ", "does not exist", "doesn't exist",
	"not found", "timed out", "blocked", "malformed", "not recognized", "is missing", "exceeds", "is too ", "forbidden",
	"not available", "unsuccessful", "refused",
}

// rejectedRequest: "Your proposed edit has introduced a syntax error", "The
// requested page could not be loaded". What follows may be long: the text that
// was rejected.
func rejectedRequest(v *view, t *text) (finding, bool) {
	first := t.first()
	if !first.has(hasRejection) {
		return finding{}, false
	}
	low := errortext.Strip(first.low())
	sentence := low[:min(len(low), 240)]
	if end := strings.Index(sentence, ". "); end > 0 {
		sentence = sentence[:end]
	}
	_, toCaller := phrases.HasPrefixAny(sentence, addressed)
	if !toCaller || !phrases.ContainsAny(sentence, rejections) || phrases.ContainsAny(sentence, relief) || phrases.ContainsAny(sentence, hedges) || v.echoes(first.s) {
		return finding{}, false
	}
	if v.ask.reads && !t.short(12, 1500) || !strings.HasPrefix(sentence, "your ") && !t.short(6, 800) {
		return finding{}, false
	}
	f := fails("rejected-request", first.s, "the tool tells the caller that it rejected the request")
	f.sure = t.short(6, 800) && strings.HasPrefix(sentence, "your ")
	return f, true
}

// walls are what sites show to programs that they do not want.
var walls = []string{
	"verify you are human", "verify that you are human", "enable javascript and cookies to continue",
	"checking your browser before", "you have been blocked", "complete the captcha", "are you a robot",
	"unusual traffic from your", "access to this page has been denied", "please enable cookies",
	"disallowed by robots.txt", "blocked by robots.txt",
}

// accessBlocked: a short page that is such a wall, or a reader that obeys a
// site's robots.txt (RFC 9309).
func accessBlocked(v *view, t *text) (finding, bool) {
	short := t.short(40, 3000)
	for i := range t.lines[:min(len(t.lines), 6)] {
		l := &t.lines[i]
		if i > 0 && !short {
			break
		}
		robots := l.has(hasRobots) && phrases.ContainsAny(l.low(), []string{"not allowed", "disallow", "forbid", "denied", "blocked"})
		if (robots || l.has(hasWall)) && !v.echoes(l.s) {
			f := fails("access-blocked", l.s, "the site does not let automatic readers in")
			f.cause = causePermission
			f.sure = robots
			return f, true
		}
	}
	return finding{}, false
}
