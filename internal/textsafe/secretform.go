package textsafe

import (
	"encoding/base64"
	"strings"
)

// form is how an issuer writes its keys: a prefix and at least so many
// characters of a set.
type form struct {
	prefix string
	tail   func(c byte) bool
	least  int
	mixed  bool // the tail must hold a digit or two capitals: the prefix is also a word
}

// forms are grouped by the first byte of their prefix. Sources: the issuers'
// documentation and the public lists of secret scanners.
var forms = groupForms([]form{
	// Clouds and hosting.
	{"AKIA", inCapitals, 12, false},
	{"ASIA", inCapitals, 12, false},
	{"AROA", inCapitals, 16, true},
	{"ABIA", inCapitals, 16, true},
	{"AIza", inWord, 24, false},
	{"ya29.", inDotted, 8, false},
	{"GOCSPX-", inWord, 16, false},
	{"dop_v1_", isAlnum, 8, false},
	{"doo_v1_", isAlnum, 8, false},
	{"dor_v1_", isAlnum, 8, false},
	{"dapi", inHex, 32, true},
	{"tskey-", inWord, 16, true},
	{"nvapi-", inWord, 20, true},
	{"hvs.", inWord, 16, true},
	{"hvb.", inWord, 16, true},
	{"pscale_tkn_", inDotted, 16, false},
	{"pscale_pw_", inDotted, 16, false},
	{"dp.pt.", isAlnum, 16, false},
	{"dp.st.", inDotted, 16, false},
	{"LTAI", isAlnum, 16, true},
	{"AKID", isAlnum, 24, true},
	{"nfp_", inWord, 24, true},
	{"sbp_", inHex, 32, true},
	{"fm2_", inBase64, 24, true},
	{"HRKU-", inWord, 24, true},
	// Code and packages.
	{"ghp_", isAlnum, 8, false},
	{"gho_", isAlnum, 8, false},
	{"ghu_", isAlnum, 8, false},
	{"ghs_", isAlnum, 8, false},
	{"ghr_", isAlnum, 8, false},
	{"github_pat_", inWord, 8, false},
	{"glpat-", inWord, 8, false},
	{"gldt-", inWord, 16, true},
	{"glrt-", inWord, 16, true},
	{"glptt-", inWord, 16, true},
	{"glcbt-", inWord, 16, true},
	{"glsa_", inWord, 16, true},
	{"ATATT3", inBase64, 16, false},
	{"ATBB", isAlnum, 20, true},
	{"npm_", isAlnum, 16, false},
	{"pypi-", inWord, 16, true},
	{"rubygems_", inHex, 16, true},
	{"dckr_pat_", inWord, 8, false},
	{"sntrys_", inBase64, 16, true},
	{"sntryu_", inHex, 16, true},
	{"NRAK-", isAlnum, 16, true},
	{"PMAK-", inWord, 20, true},
	// Models and searches.
	{"sk-", inWord, 16, true},
	{"rk-", inWord, 16, true},
	{"sk-ant-", inWord, 8, false},
	{"sk-proj-", inWord, 8, false},
	{"sk-or-", inWord, 16, false},
	{"hf_", isAlnum, 12, true},
	{"gsk_", isAlnum, 16, true},
	{"xai-", isAlnum, 20, true},
	{"r8_", isAlnum, 20, true},
	{"pplx-", isAlnum, 20, true},
	{"tvly-", inWord, 16, true},
	{"fc-", inHex, 32, true},
	{"lsv2_", inWord, 20, true},
	{"e2b_", inHex, 20, true},
	{"jina_", isAlnum, 20, true},
	// Money, messages, others.
	{"sk_", inWord, 16, true},
	{"rk_", inWord, 16, true},
	{"sk_live_", isAlnum, 8, false},
	{"sk_test_", isAlnum, 8, false},
	{"rk_live_", isAlnum, 8, false},
	{"rk_test_", isAlnum, 8, false},
	{"pk_live_", isAlnum, 8, false},
	{"whsec_", inBase64, 16, true},
	{"sq0atp-", inWord, 16, false},
	{"sq0csp-", inWord, 16, false},
	{"EAAC", isAlnum, 40, true},
	{"shpat_", inHex, 16, false},
	{"shpca_", inHex, 16, false},
	{"shppa_", inHex, 16, false},
	{"shpss_", inHex, 16, false},
	{"xoxa-", inWord, 8, true},
	{"xoxb-", inWord, 8, true},
	{"xoxc-", inWord, 8, true},
	{"xoxd-", inBase64, 8, true},
	{"xoxe-", inWord, 8, true},
	{"xoxo-", inWord, 8, true},
	{"xoxp-", inWord, 8, true},
	{"xoxr-", inWord, 8, true},
	{"xoxs-", inWord, 8, true},
	{"xapp-", inWord, 8, true},
	{"hooks.slack.com/services/", inBase64, 16, false},
	{"discord.com/api/webhooks/", inBase64, 20, true},
	{"SG.", inDotted, 16, true},
	{"SK", inHex, 32, true},
	{"key-", inHex, 32, true},
	{"figd_", inWord, 16, true},
	{"lin_api_", isAlnum, 16, false},
	{"ntn_", isAlnum, 20, true},
	{"secret_", isAlnum, 32, true},
	{"phx_", isAlnum, 20, true},
	{"AGE-SECRET-KEY-1", isAlnum, 16, false},
	{"eyJhbGciOi", inDotted, 8, false},
	{"eyJ0eXAiOi", inDotted, 8, false},
	{"ops_eyJ", inWord, 20, false},
	{"mrd_", inWord, 20, true},
	{"APA91b", inWord, 100, true},
	// Hashes of passwords (crypt), which can be tried out.
	{"$2a$", inCrypt, 50, false},
	{"$2b$", inCrypt, 50, false},
	{"$2y$", inCrypt, 50, false},
	{"$1$", inCrypt, 22, false},
	{"$5$", inCrypt, 40, false},
	{"$6$", inCrypt, 60, false},
	{"$y$", inCrypt, 40, false},
	{"$apr1$", inCrypt, 22, false},
	{"$argon2", inCrypt, 40, false},
})

func groupForms(all []form) (by [256][]form) {
	for _, f := range all {
		by[f.prefix[0]] = append(by[f.prefix[0]], f)
	}
	return by
}

// formAt is the length of the key that s begins with, 0 where it begins with
// none.
func formAt(s string) int {
	for i := range forms[s[0]] {
		f := &forms[s[0]][i]
		if len(s) < 4 || s[1] != f.prefix[1] || !strings.HasPrefix(s, f.prefix) {
			continue
		}
		n := len(f.prefix)
		for n < len(s) && f.tail(s[n]) {
			n++
		}
		for n > len(f.prefix) && (s[n-1] == '.' || s[n-1] == '-' || s[n-1] == '_') {
			n-- // the end of a sentence
		}
		if tail := s[len(f.prefix):n]; len(tail) >= f.least && (!f.mixed || mixed(tail)) {
			return n
		}
	}
	return dottedForm(s)
}

// mixed reports whether s holds a digit or two capital letters.
func mixed(s string) bool {
	capitals := 0
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
		if isUpper(s[i]) {
			capitals++
		}
	}
	return capitals > 1
}

// dottedForm is formAt for tokens that are told by their parts: JSON web tokens,
// and the bot tokens of Discord (three parts) and Telegram (a number, a colon
// and 35 characters).
func dottedForm(s string) int {
	switch c := s[0]; {
	case c == 'e' && strings.HasPrefix(s, "eyJ"):
		head := span(s, inWord)
		if head < 11 || head >= len(s) || s[head] != '.' {
			return 0
		}
		body := span(s[head+1:], inWord)
		if body < 8 {
			return 0
		}
		n := head + 1 + body
		if n < len(s) && s[n] == '.' {
			n += 1 + span(s[n+1:], inWord)
		}
		return n
	case c == 'M' || c == 'N' || c == 'O':
		id := span(s, isAlnum)
		if id < 23 || id > 28 || id >= len(s) || s[id] != '.' {
			return 0
		}
		stamp := span(s[id+1:], inWord)
		n := id + 1 + stamp
		if stamp < 6 || stamp > 7 || n >= len(s) || s[n] != '.' {
			return 0
		}
		if mac := span(s[n+1:], inWord); mac >= 27 {
			return n + 1 + mac
		}
	case isDigit(c):
		id := span(s, isDigit)
		if id < 8 || id > 10 || id >= len(s) || s[id] != ':' {
			return 0
		}
		if n := span(s[id+1:], inWord); n >= 33 && n <= 37 && mixed(s[id+1:id+1+n]) {
			return id + 1 + n
		}
	}
	return 0
}

// bareKey is the length of the access key without a mark that begins at i: 40 characters of
// base64, as AWS and others write it, drawn at random. It is 0 for paths, for encoded text,
// and where the run is longer or shorter.
func bareKey(s string, i int) int {
	const long = 40
	if i+long > len(s) || i > 0 && goesOn(s[i-1:]) {
		return 0
	}
	var lower, upper, digit, inRow int
	var seen [256]bool
	different := 0
	for k := i; k < i+long; k++ {
		c := s[k]
		if !inAccessKey(c) {
			return 0
		}
		if !seen[c] {
			seen[c] = true
			different++
		}
		switch {
		case isLower(c):
			lower++
			if inRow++; inRow > 6 {
				return 0
			}
			continue
		case isUpper(c):
			upper++
		case isDigit(c):
			digit++
		}
		inRow = 0
	}
	if rest := s[i+long:]; goesOn(rest) || strings.HasPrefix(rest, "=") || lower < 6 || upper < 6 || digit < 2 || different < 20 {
		return 0
	}
	if text, err := base64.StdEncoding.DecodeString(s[i : i+long]); err == nil && span(string(text), isPrintable) == len(text) {
		return 0 // encoded, not drawn
	}
	return long
}

func isPrintable(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t' }

// goesOn reports whether s begins with what belongs to a longer run, such as a path.
func goesOn(s string) bool {
	return len(s) > 0 && (inWord(s[0]) || s[0] == '+' || s[0] == '/' || s[0] == '%' || s[0] == '.' && len(s) > 1 && isAlnum(s[1]))
}

func inAccessKey(c byte) bool { return isAlnum(c) || c == '+' || c == '/' }

// span is the length of the beginning of s that consists of such bytes.
func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}
