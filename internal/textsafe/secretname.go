package textsafe

import (
	"regexp"
	"strings"
	"unicode"
)

// nameKind says what a name tells about the value behind it.
type nameKind int

const (
	noName     nameKind = iota
	loudName            // password, secret, api_key: whatever stands behind it is secret
	softName            // token, auth: secret where it does not read like words or a count
	faintName           // key, session, signature: secret where it looks random
	numberName          // pin, cvv: secret where it is a number
	schemeName          // Bearer, Basic: credentials follow without a colon
	headerName          // Authorization, Cookie: the rest of the line
)

// kindNames are what placeholders call the value behind a name of each kind.
var kindNames = [...]string{
	noName: kindToken, loudName: kindPassword, numberName: kindPassword, softName: kindToken,
	faintName: kindToken, schemeName: "credentials", headerName: "credentials",
}

// telling are the parts of names that tell of a secret, alone or at the end of others as in
// PGPASSWORD; a key is a secret behind some words, a token is none of a page.
var (
	telling = map[string]nameKind{
		"password": loudName, "passwords": loudName, "passwd": loudName, "passphrase": loudName, "pwd": loudName,
		"secret": loudName, "secrets": loudName, "apikey": loudName,
		"accesskey": loudName, "privatekey": loudName, "secretkey": loudName, "credential": loudName, "credentials": loudName,
		"token": softName, "authtoken": softName, "accesstoken": softName, "jwt": softName, "auth": softName, "pass": softName,
		"key": faintName, "keys": faintName, "session": faintName, "sessionid": faintName, "signature": faintName, "sig": faintName,
		"pin": numberName, "cvv": numberName, "cvc": numberName, "otp": numberName, "ssn": numberName, "passcode": numberName,
		"passwort": loudName, "passe": loudName, "senha": loudName, "wachtwoord": loudName, "parola": loudName, "psk": loudName,
		"bearer": schemeName, "basic": schemeName, "authorization": headerName, "cookie": headerName, "cookies": headerName,
	}
	louder   = regexp.MustCompile(`(?:password|passwd|apikey|secret)\d*$|\b(?:api|access|private|secret|signing|encryption|auth|account|shared|master|service|subscription) keys?$`)
	pageName = regexp.MustCompile(`\b(?:page|next|continuation|sync) token$`)
)

// parts writes a name in lower case, with a blank between its parts: "dbPassword", "X-Api-Key".
func parts(name string) string {
	b := make([]byte, 0, len(name)+8)
	for i, r := range name {
		switch {
		case r > unicode.MaxASCII || !alnum[byte(r)]:
			b = append(b, ' ')
			continue
		case upper[byte(r)] && i > 0 && lower[name[i-1]]:
			b = append(b, ' ')
		}
		b = append(b, byte(unicode.ToLower(r)))
	}
	return string(b)
}

// SecretName reports whether a parameter of that name holds a secret or private value that
// must not be shown: passwords, keys, tokens, credentials, cookies, PINs and the like.
func SecretName(name string) bool {
	k := kindOf(name)
	return k.ofNumbers() || k == softName || k == headerName || strings.EqualFold(name, "private")
}

// kindOf reads a name by its last part. What follows a telling part makes a name of
// something about the secret, such as its length: there the value is one only where it
// looks random.
func kindOf(name string) nameKind {
	if len(name) > 80 || !hasStem(name) {
		return noName
	}
	p := parts(name)
	last := telling[p[strings.LastIndexByte(p, ' ')+1:]]
	switch {
	case last == softName && pageName.MatchString(p):
		return noName
	case (last == noName || last == faintName) && louder.MatchString(p):
		return loudName
	case last != noName:
		return last
	}
	rest := noName
	for part := range strings.FieldsSeq(p) {
		if k := telling[part]; k == numberName {
			return k
		} else if k != noName && k < schemeName {
			rest = faintName
		}
	}
	return rest
}

// ofNumbers reports whether a number behind such a name is a secret.
func (k nameKind) ofNumbers() bool { return k == loudName || k == numberName }

// What may stand between a name and its value beside a sign.
var (
	linked = regexp.MustCompile(`^[ \t]+(?i:is|was|to|equals|are|ist|est|es|è|é)[ \t]+`)
	scheme = regexp.MustCompile(`^(?i:bearer|basic|token)[ \t]+`)
	// noValue begins what is said of a secret instead of one, and what stands for one.
	noValue = regexp.MustCompile(`^(?:(?i:required|invalid|incorrect|wrong|missing|empty|expired|none|null|nil|undefined|true|false|string)\b|` +
		`\[secret|\$\{|\{\{|<|%\(|%s|\*\*\*|\.\.\.|…|(?:self|this|os|process|config|settings|args|env)\.|\$[A-Z_]+$)`)
)

// signed is the sign behind a name, with the quotation marks and blanks around it: a colon, an
// equals sign, an arrow or the next member.
var signed = regexp.MustCompile("^(?:[\"'`\\\\\\]]{0,8}[ \\t]*(?:[:=][=>]*|：)[ \\t[]*|[\"'`\\\\\\]]{1,8}[ \\t]*,?[\\s\"'\\\\n]*(?i:value)[\"'\\\\]*[:=][ \\t]*)")

// opening is a quotation mark, also within JSON in JSON in JSON.
var opening = regexp.MustCompile("^\\\\{0,7}[\"'`]")

// valueAfter finds the value of the name s[start:end]; to is 0 where there is
// none or where it is no secret.
func valueAfter(s string, start, end int, kind nameKind) (from, to int) {
	gap, by := gapAfter(s, start, end)
	if gap == 0 {
		return 0, 0
	}
	i := end + gap
	if kind == schemeName {
		if n := bearer.Span(s[i:]); by == aBlank && n >= 12 && !plain(s[i:i+n]) {
			return i, i + n
		}
		return 0, 0
	}
	quote := opening.FindString(s[i:])
	i += len(quote)
	named := 0
	if kind == headerName { // "Authorization: Bearer x"
		named = len(scheme.FindString(s[i:min(len(s), i+16)]))
		i += named
	}
	n := valueLength(s[i:], quote, kind == headerName && quote == "" && named == 0)
	if quote == "" && (by == aSign && isProse(s, i, i+n) || strings.HasPrefix(s[i+n:], "(")) || !kind.holds(s[i:i+n], by) {
		return 0, 0
	}
	return i, i + n
}

// isProse reports whether s[from:to] is a word with others behind it: a sentence about the secret.
func isProse(s string, from, to int) bool {
	after := s[to:]
	return strings.IndexByte(" :", s[from-1]) >= 0 && letter.all(s[from:to]) && len(after) > 1 &&
		after[0] == ' ' && lower[after[1]]
}

// gapAfter is the length of what stands between the name s[start:end] and its value, and what it is.
func gapAfter(s string, start, end int) (int, between) {
	rest := s[end:]
	near := rest[:min(len(rest), 64)]
	sign, blanks := len(signed.FindString(near)), blank.Span(rest)
	switch {
	case sign > 0:
		return sign, aSign
	case start > 0 && s[start-1] == '<' && strings.HasPrefix(rest, ">"):
		return 1, aSign
	case blanks > 0 && start > 1 && s[start-1] == '-':
		return blanks, aSign
	}
	if n := len(linked.FindString(near)); n > 0 {
		return n, aWord
	}
	return blanks, aBlank
}

// between is what stands between a name and its value.
type between int

const (
	aBlank between = iota
	aWord          // is, was, to
	aSign          // a colon, an equals sign, an arrow, a tag's bracket; or the name is an option's
)

// holds reports whether a value behind a name of the kind is a secret.
func (k nameKind) holds(v string, by between) bool {
	if k == numberName {
		return by != aBlank && len(v) > 2 && len(v) < 40 && digit.count(v)+strings.Count(v, "-") == len(v)
	}
	is := false
	switch {
	case len(v) < 4:
	case k > loudName:
		is = by == aSign && len(v) >= 8 && k.looksSecret(v)
	case by == aWord:
		is = len(v) >= 6 && letter.Span(v) < len(strings.TrimRight(v, ".,!:"))
	default:
		is = by == aSign || len(v) >= 6 && tells(v)
	}
	return is && !noValue.MatchString(v)
}

// looksSecret reports whether a value behind a name that is not loud reads like a secret.
func (k nameKind) looksSecret(v string) bool {
	switch k {
	case headerName:
		return mixed(v)
	case faintName:
		return len(v) >= 20 && !strings.Contains(v, " ") && random(v)
	}
	return tells(v) || len(v) >= 20 && 4*min(upper.count(v), lower.count(v)) >= len(v) // mixed as in no name
}

// tells reports whether a value has letters and digits and does not read like words.
func tells(v string) bool { return digit.count(v) > 0 && letter.count(v) > 0 && !plain(v) }

// valueLength is the length of the value that s begins with, up to its closing quote where it has one.
func valueLength(s, quote string, line bool) int {
	switch {
	case line:
		return inLine.Span(s)
	case quote == "":
		return inValue.Span(s)
	}
	for i := range len(s) {
		if strings.HasPrefix(s[i:], quote) && (len(quote) > 1 || i == 0 || s[i-1] != '\\') {
			return i
		}
	}
	return len(s)
}

// Text that reads like words: letters, hyphens and the like, capitals only at the beginning of
// a word or everywhere.
var letters, twoHumps = regexp.MustCompile(`^[A-Za-z_. /-]*$`), regexp.MustCompile(`[a-z][A-Z].*[a-z][A-Z]`)

func plain(v string) bool { return letters.MatchString(v) && !twoHumps.MatchString(v) }
