package textsafe

import "regexp"

var (
	address = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]{1,15}://[^\s"'<>)\]]*|\bwww\.[^\s"'<>)\]]+|\bdata:[a-z]+/[^\s"']+|\bjavascript:\S*`)
	// hostName finds bare host names under common endings.
	hostName = regexp.MustCompile(`(?i)\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|xyz|biz|ru|cn|gg|site|online|tk)\b(?:/[^\s"'<>)\]]*)?`)
	email    = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`)
	ipv4     = regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d+)?\b`)
)

// HasAddress reports whether s leads anywhere outside: a URL, a host name, an
// e-mail address or an IPv4 address.
func HasAddress(s string) bool {
	return address.MatchString(s) || hostName.MatchString(s) || email.MatchString(s) || ipv4.MatchString(s)
}

// MaskAddresses puts URL, EMAIL or HOST where HasAddress finds something.
func MaskAddresses(s string) string {
	s = address.ReplaceAllString(s, "URL")
	s = email.ReplaceAllString(s, "EMAIL")
	s = ipv4.ReplaceAllString(s, "HOST")
	return hostName.ReplaceAllString(s, "HOST")
}
