package rules

import (
	"strings"

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
	if f, ok := faultDocument(head); ok {
		return f, true
	}
	return finding{}, false
}

// faultDocument recognises XML whose outer elements report an error: SOAP
// faults, S3-like <Error><Code>, <error>…</error>, <status>error</status>.
func faultDocument(head string) (finding, bool) {
	body := head
	for strings.HasPrefix(body, "<?") || strings.HasPrefix(body, "<!") {
		_, rest, ok := strings.Cut(body, ">")
		if !ok {
			return finding{}, false
		}
		body = strings.TrimSpace(rest)
	}
	for _, root := range []string{"<error", "<errors", "<fault", "<exception", "<tool_error", "<tool_use_error", "<failure"} {
		if rest, ok := strings.CutPrefix(body, root); ok && rest != "" && !phrases.IsWord(rest[0]) {
			return fails("markup-error", firstText(rest), "the document element is an error"), true
		}
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
