package rules

import (
	"strings"

	"memoryd/internal/phrases"
)

// networkPhrases are how network stacks, browsers and HTTP clients report that
// there was no answer.
var networkPhrases = []string{
	"net::err_", "ns_error_", "econnrefused", "enotfound", "etimedout", "econnreset", "eai_again", "ehostunreach",
	"max retries exceeded", "connection refused", "connection reset by peer", "name or service not known",
	"temporary failure in name resolution", "no route to host", "network is unreachable", "certificate verify failed",
	"read timed out", "connect timeout", "connection timed out", "timeout exceeded", "deadline exceeded", "ms exceeded",
	"getaddrinfo", "socket hang up", "remote end closed connection", "name resolution", "timeout of ",
	"timed out after", "timed out waiting", "execution timed out", "could not connect to server", "too many redirects",
}

// networkError: such a phrase in one of the first two lines of a message.
func networkError(v *view, t *text) (finding, bool) {
	if v.quotes(t) || !t.short(16, 2500) {
		return finding{}, false
	}
	within := 2
	if v.ask.reads && v.ask.command != "" {
		within = 1
	}
	for i := range t.lines[:min(len(t.lines), within)] {
		l := &t.lines[i]
		if p, ok := l.find(hasNetwork, networkPhrases); ok && !v.echoes(l.s) && !embedded(l.low(), p) && (p != "timeout of " || strings.Contains(l.low(), "exceeded")) {
			return fails("network-error", l.s, "the other side was not reached, or not in time").unsure(), true
		}
	}
	return finding{}, false
}

// embedded reports whether a phrase begins within a word: FileNotFoundError is no
// ENOTFOUND.
func embedded(low, p string) bool {
	i := strings.Index(low, p)
	return i > 0 && phrases.IsAlpha(low[i-1]) && phrases.IsAlpha(p[0])
}
