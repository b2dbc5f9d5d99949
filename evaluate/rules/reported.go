package rules

import (
	"regexp"
	"slices"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// usage: a text that says how a program is used is what was wanted if the call asked for that. From
// a command that was asked for something else, or a tool that hands out no texts, it means that its
// arguments were not understood.
func usage(v *view) finding {
	said := v.saysUsage()
	if said == "" {
		return finding{}
	}
	asked, name := strings.ToLower(v.ask.text), nameWords(v.call.Tool)
	if slices.ContainsFunc([]string{"help", "h", "usage", "version", "man"}, func(w string) bool {
		return phrases.HasWord(asked, w) || slices.Contains(name, w)
	}) {
		return works("usage", "it printed its usage, as asked")
	}
	return fails("usage", said, "it printed its usage although that was not asked for")
}

// saysUsage is the line that begins to say how a program is used: the first one of a command, else one of the first few
// that names what may be given.
func (v *view) saysUsage() string {
	most := 1
	if !v.ask.is(commanding) {
		if v.ask.is(content) {
			return ""
		}
		most = fewLines
	}
	for i := range min(most, len(v.out.lines)) {
		s := v.out.lines[i].s
		if phrases.StartsWith(errortext.Strip(s), "usage") && (v.ask.is(commanding) || synopsis.MatchString(s)) {
			return s
		}
	}
	return ""
}

// synopsis is a program and what may be given to it: usage: box [-d depth] FILE.
var synopsis = regexp.MustCompile(`(?i:usage): *(?:[^\s\d]\S* (?:.* )?(?:\[|<|-)|[a-z][\w./+-]* .*\b[A-Z][A-Z0-9_]+\b)`)

// protocolError: "Error calling tool x: ..." is no content, whatever the tool is for.
func protocolError(v *view) finding {
	if !errortext.IsWrapped(v.out.full) {
		return finding{}
	}
	return fails("protocol-error", v.out.first().s, "the tool protocol or framework reports that the call failed")
}

// httpStatus: the last status line of a header dump, since after redirects that one counts; or a last line
// with which a download says that it failed.
func httpStatus(v *view) (f finding) {
	for i := range v.out.lines {
		l := &v.out.lines[i]
		if !strings.HasPrefix(l.s, "HTTP/") {
			continue
		}
		if m := statusForm.FindStringSubmatch(l.s); m != nil && m[1] < "400" {
			f = finding{}
		} else if m != nil {
			f = fails("http-status", l.s, "the server answered with an error status")
			f.sure = i == 0 // no log of answers, but one
		}
	}
	if last := v.out.last().s; !f.found() && v.ask.is(commanding) && !v.ask.shell.onlyPrints() && errorForm.MatchString(last) {
		return fails("http-status", last, "the download ended with an error status").unsure()
	}
	return f
}

// errorForm is how a download ends that failed: ERROR 404: Not Found.
var errorForm = regexp.MustCompile(` ERROR [45]\d\d: `)

// statusForm is a status line: HTTP/1.1 404 Not Found, HTTP/2 200.
var statusForm = regexp.MustCompile(`^HTTP/\d(?:\.\d)? ([1-5]\d\d)\b`)
