package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// pageTitles are what the titles and headings of error pages start with, beside
// a status code.
var pageTitles = []string{
	"error", "access denied", "forbidden", "page not found", "not found", "internal server error", "bad request",
	"bad gateway", "service unavailable", "gateway time", "too many requests", "unauthorized", "just a moment",
	"attention required", "site not found", "problem loading", "server error", "request rejected", "this site can",
	"are you a robot", "security check", "temporarily unavailable", "server not found",
}

// markupError: the title or first heading of a page is that of an error page, or
// the document element is a fault.
func markupError(v *view, t *text) (finding, bool) {
	if !strings.HasPrefix(t.full, "<") {
		return finding{}, false
	}
	head := strings.ToLower(t.full[:min(len(t.full), 4096)])
	page := strings.Contains(head, "<html") || strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<h1") || strings.HasPrefix(head, "<title")
	for _, tag := range []string{"<title>", "<h1>"} {
		if !page {
			break
		}
		title := between(head, tag, "</")
		if title == "" {
			continue
		}
		head, known := phrases.HasPrefixAny(title, pageTitles)
		known = known && (len(title) == len(head) || !phrases.IsWord(title[len(head)])) && strings.Count(title[len(head):], " ") < 4
		if code := statusCode(title); known && len(title) < 60 || code >= "400" && len(title) < 60 {
			return fails("markup-error", title, "the page is an error page").unsure(), true
		}
	}
	if i := strings.Index(head, ">error</"); page && i >= 0 {
		if _, said, ok := strings.Cut(head[i+1:], ">"); ok && strings.HasPrefix(said, ": ") {
			return fails("markup-error", firstText(">"+said), "a paragraph of the page is an error message").unsure(), true
		}
	}
	if f, ok := faultDocument(head, v.ask.reads); ok {
		return f, true
	}
	return finding{}, false
}

// faultDocument recognises XML whose outer elements report an error: SOAP
// faults, S3-like <Error><Code>, <error>…</error>, <status>error</status>.
func faultDocument(head string, reads bool) (finding, bool) {
	body := head
	for strings.HasPrefix(body, "<?") || strings.HasPrefix(body, "<!") {
		_, rest, ok := strings.Cut(body, ">")
		if !ok {
			return finding{}, false
		}
		body = strings.TrimSpace(rest)
	}
	if root := elementName(body); faultRoots[root] {
		return fails("markup-error", firstText(body), "the document element is an error"), true
	}
	rest, stated := afterOutcome(body[:min(len(body), 1024)])
	if end, ok := faultElement(body[:min(len(body), 600)]); ok && !reads {
		if !stated && strings.Contains(body[:end], "></") && !strings.Contains(body[:end], "header>") {
			return half("markup-error", firstText(body[end:]), "an element is an error, beside others"), true
		}
		return fails("markup-error", firstText(body[end:]), "an element is an error").unsure(), true
	}
	if stated && !reads {
		return fails("markup-error", firstText(rest), "an element states a failed status").unsure(), true
	}
	for _, inner := range []string{
		"<soap:fault", "<soap-env:fault", "<soapenv:fault", "<faultstring", "<status>error", "<status>fail",
		"<success>false", "<iserror>true",
	} {
		if i := strings.Index(body, inner); i >= 0 && i < 1024 {
			return fails("markup-error", firstText(body[i:]), "the document reports a fault"), true
		}
	}
	return finding{}, false
}

// faultRoots are document elements, without their namespaces, that are errors.
var faultRoots = phrases.Words(
	"error", "errors", "fault", "exception", "tool_error", "tool_use_error", "failure", "exceptionreport", "serviceexceptionreport", "errorresponse",
	"errordocument", "failureresponse",
)

// elementName is the name of the element that s begins with, without its namespace.
func elementName(s string) string {
	if s == "" || s[0] != '<' {
		return ""
	}
	end := strings.IndexAny(s, " >/\n\t\r")
	if end < 0 {
		return ""
	}
	name := s[1:end]
	if name != "" && name[0] == '/' {
		return ""
	}
	return name[strings.IndexByte(name, ':')+1:]
}

// faultElement finds the end of the first tag of an error that holds something:
// <rpc-error>, <Errors>, <iq type="error">.
func faultElement(body string) (end int, found bool) {
	for at := 0; ; {
		open := strings.IndexByte(body[at:], '<')
		if open < 0 {
			return 0, false
		}
		at += open
		tag := strings.IndexByte(body[at:], '>')
		if tag < 0 {
			return 0, false
		}
		name, inside := elementName(body[at:]), body[at:at+tag]
		named := faultRoots[name] || faultRoots[name[strings.LastIndexByte(name, '-')+1:]]
		kind := named && !strings.Contains(inside, ` id="`) || strings.Contains(inside, ` type="error"`)
		at += tag
		if kind && body[at-1] != '/' && !strings.HasPrefix(body[at:], "></") {
			return at, true
		}
	}
}

// afterOutcome finds the end of an element of a status whose text is a word for
// failure: <GrpSts>RJCT</GrpSts>.
func afterOutcome(body string) (rest string, found bool) {
	for _, end := range []string{"status", "sts", "statuscode", "resultcode", "outcome", "ack"} {
		for s := body; ; {
			i := strings.Index(s, end+">")
			if i < 0 {
				break
			}
			s = s[i+len(end)+1:]
			text, after, ok := strings.Cut(s, "<")
			if text = strings.TrimSpace(text); ok && text != "" && errortext.IsBadStatus(text) {
				return after, true
			}
		}
	}
	return "", false
}

func between(s, from, to string) string {
	_, rest, ok := strings.Cut(s, from)
	if !ok {
		return ""
	}
	in, _, ok := strings.Cut(rest, to)
	if !ok {
		return ""
	}
	return strings.TrimSpace(in)
}

// firstText is the first piece of character data in s.
func firstText(s string) string {
	for {
		_, rest, ok := strings.Cut(s, ">")
		if !ok {
			return strings.TrimSpace(s)
		}
		in, _, _ := strings.Cut(rest, "<")
		if in = strings.TrimSpace(in); in != "" {
			return in
		}
		s = rest
	}
}

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
	if !toCaller || !phrases.ContainsAny(sentence, rejections) || phrases.ContainsAny(sentence, relief) || v.echoes(first.s) {
		return finding{}, false
	}
	if v.ask.reads && !t.short(12, 1500) || !strings.HasPrefix(sentence, "your ") && !t.short(6, 800) {
		return finding{}, false
	}
	f := fails("rejected-request", first.s, "the tool tells the caller that it rejected the request")
	f.sure = t.short(6, 800) && strings.HasPrefix(sentence, "your ")
	return f, true
}
