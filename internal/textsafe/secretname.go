package textsafe

import "strings"

// nameKind says what a name tells about the value behind it.
type nameKind int

const (
	noName     nameKind = iota
	loudName            // password, secret, api_key: whatever stands behind it is secret
	softName            // token, auth: secret where it does not read like words or a count
	faintName           // key, session, signature: secret where it looks random
	schemeName          // Bearer, Basic: credentials follow without a colon
	headerName          // Authorization, Cookie: the rest of the line
)

// kind is what a placeholder calls the value behind such a name.
func (k nameKind) kind() string {
	switch k {
	case loudName:
		return kindPassword
	case headerName, schemeName:
		return kindCredentials
	default:
		return kindToken
	}
}

// SecretName reports whether a parameter of that name holds a secret or private value that
// must not be shown: passwords, keys, tokens, credentials, cookies, PINs and the like.
func SecretName(name string) bool {
	if k := kindOf(name); k == loudName || k == softName || k == headerName {
		return true
	}
	return privateName(name)
}

// privateName reports names of short values that are as good as a password.
func privateName(name string) bool {
	private := false
	components(name, func(c string) bool {
		switch c {
		case "private", "ssn", "pin", "cvv", "cvc", "otp", "passcode":
			private = true
		}
		return true
	})
	return private
}

// kindOf reads a name by its components: "dbPassword", "X-Api-Key",
// "AWS_SECRET_ACCESS_KEY".
func kindOf(name string) nameKind {
	kind, before := noName, ""
	components(name, func(c string) bool {
		k := componentKind(c, before)
		switch {
		case k != noName && (kind == noName || k <= kind):
			kind = k
		case k == noName && kind != noName && describing(c):
			kind = noName // password_length, token_count
			before = ""
			return true
		}
		before = c
		return true
	})
	return kind
}

func componentKind(c, before string) nameKind {
	switch c {
	case "password", "passwords", "passwd", "passphrase", "pwd", "secret", "secrets", "apikey", "accesskey", "privatekey", "secretkey",
		"credential", "credentials":
		return loudName
	case "key", "keys":
		switch before {
		case "api", "access", "private", "secret", "signing", "encryption", "auth", "account", "shared", "master", "service", "subscription":
			return loudName
		}
		return faintName
	case "token", "authtoken", "accesstoken", "jwt":
		switch before {
		case "page", "next", "continuation", "sync", "unexpected", "invalid", "illegal":
			return noName
		}
		return softName
	case "auth", "pass":
		return softName
	case "session", "sessionid", "signature", "sig":
		return faintName
	case "bearer", "basic":
		return schemeName
	case "authorization", "cookie", "cookies":
		return headerName
	}
	for _, end := range []string{"password", "passwd", "apikey", "secret"} {
		if strings.HasSuffix(c, end) {
			return loudName
		}
	}
	return noName
}

// describing reports components that turn the name of a secret into a name of
// something about it.
func describing(c string) bool {
	switch c {
	case "length", "len", "policy", "required", "count", "counts", "cost", "costs", "limit", "name", "names", "type", "types", "size", "usage",
		"strength", "expires", "expiry", "expired", "expiration", "ttl", "at", "url", "uri", "path", "file", "field", "fields", "reset", "error",
		"errors", "valid", "invalid", "manager", "ring", "board", "word", "words", "arn", "vault", "budget":
		return true
	}
	return false
}

// components calls each with the parts of a name in lower case, until it returns
// false: what stands between "_", "-" and ".", and before a capital.
func components(name string, each func(c string) bool) {
	var buf [24]byte
	n, long := 0, false
	flush := func() bool {
		ok := n == 0 || long || each(string(buf[:n]))
		n, long = 0, false
		return ok
	}
	for i := range len(name) {
		c := name[i]
		if !isAlnum(c) || isUpper(c) && i > 0 && isLower(name[i-1]) {
			if !flush() {
				return
			}
		}
		switch {
		case !isAlnum(c):
		case n == len(buf):
			long = true
		case isUpper(c):
			buf[n] = c + 'a' - 'A'
			n++
		default:
			buf[n] = c
			n++
		}
	}
	flush()
}

// valueAfter finds the value of the name s[start:end]; to is 0 where there is
// none or where it is no secret.
func valueAfter(s string, start, end int, kind nameKind) (from, to int) {
	i, sep := separator(s, start, end)
	if kind == schemeName {
		if n := span(s[i:], inBearer); sep == blankBetween && n >= 12 && !plain(s[i:i+n]) {
			return i, i + n
		}
		return 0, 0
	}
	if sep == nothingBetween {
		return 0, 0
	}
	quote := ""
	switch {
	case strings.HasPrefix(s[i:], `\"`), strings.HasPrefix(s[i:], `\'`):
		quote = s[i : i+2]
	case i < len(s) && (s[i] == '"' || s[i] == '\'' || s[i] == '`'):
		quote = s[i : i+1]
	}
	i += len(quote)
	scheme := false // "Authorization: Bearer x", with or without a quote before it
	for _, word := range []string{"bearer ", "basic ", "token "} {
		if len(s)-i > len(word) && strings.EqualFold(s[i:i+len(word)], word) {
			i, scheme = skipBlanks(s, i+len(word)), true
			break
		}
	}
	n := valueLength(s[i:], quote, kind == headerName && quote == "" && !scheme)
	if v := s[i : i+n]; secretValue(v, kind, sep, quote != "", s[i+n:]) {
		return i, i + n
	}
	return 0, 0
}

// between is what stands between a name and its value.
type between int

const (
	nothingBetween between = iota
	signBetween            // a colon, an equals sign, an arrow, a tag's bracket
	linkBetween            // is, was, to
	blankBetween           // a blank only
	flagBetween            // a blank after an option: --password x
)

// separator finds where the value behind a name begins.
func separator(s string, start, end int) (i int, sep between) {
	i = end
	for i < len(s) && i < end+4 && strings.IndexByte("\"'`\\]", s[i]) >= 0 {
		i++
	}
	blanks := skipBlanks(s, i)
	switch {
	case blanks >= len(s):
		return blanks, nothingBetween
	case s[blanks] == ',' && i > end:
		if value := valueMember(s, blanks+1); value > 0 { // {"name": "DB_PASSWORD", "value": ...}
			return value, signBetween
		}
		return blanks, nothingBetween
	case s[blanks] == ':' || s[blanks] == '=':
		i = blanks + 1
		for i < len(s) && (s[i] == '=' || s[i] == '>') {
			i++
		}
		return skipBlanks(s, i), signBetween
	case s[blanks] == '>' && start > 0 && s[start-1] == '<':
		return blanks + 1, signBetween
	case blanks == end:
		return blanks, nothingBetween
	case start > 1 && s[start-1] == '-':
		return blanks, flagBetween
	}
	for _, link := range []string{"is ", "was ", "to ", "equals ", "are "} {
		if len(s)-blanks > len(link) && strings.EqualFold(s[blanks:blanks+len(link)], link) {
			return skipBlanks(s, blanks+len(link)), linkBetween
		}
	}
	return blanks, blankBetween
}

// valueMember is where the value of the member "value" begins which s holds at i, 0
// where it holds none.
func valueMember(s string, i int) int {
	quote := func(c byte) bool { return c == '"' || c == '\'' || c == '\\' }
	i += span(s[i:], func(c byte) bool { return c <= ' ' || quote(c) || c == 'n' })
	if len(s)-i < len("value") || !strings.EqualFold(s[i:i+len("value")], "value") {
		return 0
	}
	i += len("value")
	if n := span(s[i:], quote); n > 0 && i+n < len(s) && s[i+n] == ':' {
		return skipBlanks(s, i+n+1)
	}
	return 0
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// valueLength is the length of the value that s begins with: up to its closing
// quote, the end of the line for a header, or the next blank or bracket.
func valueLength(s, quote string, line bool) int {
	for i := range len(s) {
		c := s[i]
		switch {
		case quote != "":
			if strings.HasPrefix(s[i:], quote) && (len(quote) == 2 || i == 0 || s[i-1] != '\\') {
				return i
			}
		case line:
			if c == '\n' || c == '\r' || c == '"' || c == '\'' || c == '\\' {
				return i
			}
		case c <= ' ' || strings.IndexByte("\"'`,;&<>()]}|\\", c) >= 0:
			return i
		}
	}
	return len(s)
}

// secretValue decides on a value behind a name of a kind; rest is what follows.
func secretValue(v string, kind nameKind, sep between, quoted bool, rest string) bool {
	if len(v) < 4 || strings.HasPrefix(v, "[secret") || placeholder(v) || strings.HasPrefix(rest, "(") && !quoted {
		return false
	}
	first := v
	if i := strings.IndexByte(v, ' '); i > 0 {
		first = v[:i]
	}
	switch kind {
	case headerName:
		return len(v) >= 8 && mixed(v) && !stopWord(first)
	case softName:
		return len(v) >= 8 && !plain(v) && holds(v, isDigit) && holds(v, isLetter) && sep != linkBetween && sep != blankBetween
	case faintName:
		return len(v) >= 20 && !strings.Contains(v, " ") && random(v) && sep == signBetween
	default:
	}
	switch sep {
	case blankBetween:
		return len(v) >= 6 && !plain(v) && holds(v, isDigit) && holds(v, isLetter)
	case linkBetween:
		return !stopWord(strings.TrimRight(first, ".,!:")) && !strings.HasSuffix(first, "ed")
	default:
	}
	return !stopWord(strings.TrimRight(first, ".,!:"))
}

func isLetter(c byte) bool { return isUpper(c) || isLower(c) }

func holds(s string, in func(byte) bool) bool {
	for i := range len(s) {
		if in(s[i]) {
			return true
		}
	}
	return false
}

// plain reports whether v reads like words: letters, hyphens and the like,
// capitals only at the beginning of a word or everywhere.
func plain(v string) bool {
	capitals := 0
	for i := range len(v) {
		switch c := v[i]; {
		case isUpper(c) && i > 0 && isLower(v[i-1]):
			capitals++
		case isLetter(c), c == '-', c == '_', c == '.', c == ' ', c == '/':
		default:
			return false
		}
	}
	return capitals < 2
}

// placeholder reports values that stand for a secret: ${TOKEN}, <your key>, ***.
func placeholder(v string) bool {
	for _, p := range []string{"${", "{{", "<", "%(", "%s", "***", "...", "self.", "this.", "os.", "process.", "config.", "settings.", "args.", "env.", "…"} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return v[0] == '$' && span(v[1:], func(c byte) bool { return isUpper(c) || c == '_' }) == len(v)-1
}

// stopWord reports words that say something about a secret instead of being one.
func stopWord(w string) bool {
	switch strings.ToLower(w) {
	case "required", "invalid", "incorrect", "wrong", "missing", "empty", "expired", "none", "null", "undefined", "true", "false", "string",
		"text", "varchar", "boolean", "integer", "number", "field", "must", "should", "cannot", "can't", "could", "optional", "please", "reset",
		"change", "changed", "forgot", "unknown", "unset", "blank", "object", "array", "does", "doesn't", "unexpected", "malformed", "weak",
		"short", "long", "same", "different", "authentication", "authorization", "failed", "denied", "rejected", "mismatch", "expected",
		"contains", "needed", "mandatory", "only", "also", "either", "being", "this", "that", "your", "with", "from", "secret", "password", "redacted",
		"permission", "error", "valid", "available", "found", "like", "very", "already", "used", "stored", "char":
		return true
	}
	return false
}
