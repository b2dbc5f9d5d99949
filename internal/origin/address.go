package origin

import (
	"regexp"
	"slices"
	"strings"
)

// address is a form, and what is written for it.
type address struct {
	form *regexp.Regexp
	as   string
}

// addresses are what leads anywhere outside, with what stands for it.
var addresses = []address{
	{regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]{1,15}://[^\s"'<>)\]]*|\bwww\.[^\s"'<>)\]]+|\bdata:[a-z]+/[^\s"']+|\bjavascript:\S*`), "URL"},
	{regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`), "EMAIL"},
	{regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d+)?\b`), "HOST"},
	// Bare host names under common endings.
	{regexp.MustCompile(`(?i)\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|xyz|biz|ru|cn|gg|site|online|tk)\b(?:/[^\s"'<>)\]]*)?`), "HOST"},
}

// hasAddress reports whether s leads anywhere outside: a URL, a host name, an
// e-mail address or an IPv4 address.
func hasAddress(s string) bool {
	return strings.ContainsAny(s, ".:") && slices.ContainsFunc(addresses, func(a address) bool { return a.form.MatchString(s) })
}

// maskAddresses puts URL, EMAIL or HOST where hasAddress finds something.
func maskAddresses(s string) string {
	if !strings.ContainsAny(s, ".:") { // each form has one of them
		return s
	}
	for i := range addresses {
		s = addresses[i].form.ReplaceAllString(s, addresses[i].as)
	}
	return s
}
