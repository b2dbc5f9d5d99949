package textsafe

import "strings"

// Masked replaces a secret.
const Masked = "[secret]"

// Mask replaces what looks like a secret: keys and tokens in the forms of their issuers,
// private keys, passwords in URLs, credentials of an Authorization header, and values after a
// telling name. Masking twice changes nothing.
func Mask(s string) string {
	return replace(s, func(string, string) string { return Masked })
}

// HasSecret reports whether Mask would change s.
func HasSecret(s string) bool {
	found := false
	scan(s, func(int, int, string) bool { found = true; return false })
	return found
}

// replace puts what mark gives in the place of each secret of s.
func replace(s string, mark func(kind, secret string) string) string {
	var b strings.Builder
	last := 0
	scan(s, func(from, to int, kind string) bool {
		b.WriteString(s[last:from])
		b.WriteString(mark(kind, s[from:to]))
		last = to
		return true
	})
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// MaskStrict is Mask for texts that are published. It also replaces long random-looking
// sequences, whatever precedes them, including digests and encoded data.
func MaskStrict(s string) string {
	s = Mask(s)
	var b strings.Builder
	last := 0
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && inBase64(s[j]) {
			j++
		}
		if j-i >= minRandom && random(s[i:j]) {
			b.WriteString(s[last:i])
			b.WriteString(Masked)
			last = j
		}
		i = max(j, i+1)
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// minRandom is the least length of a run that is taken for random.
const minRandom = 28

// random reports whether a run mixes lower case, upper case and digits the way
// encoded random bytes do, or is long hexadecimal.
func random(run string) bool {
	var lower, upper, digit, hex int
	for i := range len(run) {
		c := run[i]
		switch {
		case isDigit(c):
			digit++
		case isUpper(c):
			upper++
		case isLower(c):
			lower++
		}
		if inHex(c) {
			hex++
		}
	}
	return lower > 2 && upper > 2 && digit > 2 || hex == len(run) && digit > 4
}

// The kinds of secrets, as placeholders name them.
const (
	kindKey         = "key"         // by the form that an issuer gives it
	kindPrivateKey  = "private_key" // armoured
	kindPassword    = "password"    // of a URL, or behind such a name
	kindToken       = "token"       // behind such a name
	kindCredentials = "credentials" // of a header
)

// scan calls found with the bounds and the kind of each secret of s, in order,
// until it returns false.
func scan(s string, found func(from, to int, kind string) bool) {
	for i := 0; i < len(s); {
		switch c := s[i]; starts[c] {
		case nothing:
			i++
		case word:
			from, to, next, kind := wordAt(s, i)
			if to > 0 && !found(from, to, kind) {
				return
			}
			i = next
		default:
			from, to, next, kind := signAt(s, i)
			if to > 0 && !found(from, to, kind) {
				return
			}
			i = next
		}
	}
}

// What a byte starts, where no word is under way.
const (
	nothing = iota
	word
	sign // see signAt
)

var starts = func() (t [256]uint8) {
	for c := range t {
		if isAlnum(byte(c)) {
			t[c] = word
		}
	}
	for _, c := range []byte(`-:[\$`) {
		t[c] = sign
	}
	return t
}()

// signAt is wordAt for what begins with a sign: armour, the authority of a URL, a
// placeholder, an escaped line break.
func signAt(s string, i int) (from, to, next int, kind string) {
	switch c := s[i]; {
	case c == '-' && strings.HasPrefix(s[i:], pemBegin):
		if end := privateKey(s[i:]); end > 0 {
			return i, i + end, i + end, kindPrivateKey
		}
		return 0, 0, i + len(pemBegin), ""
	case c == ':' && strings.HasPrefix(s[i:], "://"):
		if from, to := urlPassword(s, i+3); to > 0 {
			return from, to, to, kindPassword
		}
		return 0, 0, i + 3, ""
	case c == '$' && i+3 < len(s):
		if n := formAt(s[i:]); n > 0 {
			return i, i + n, i + n, kindPassword
		}
	case c == '[':
		return 0, 0, i + max(placeholderAt(s[i:]), 1), ""
	case c == '\\' && i+1 < len(s) && strings.IndexByte("nrt", s[i+1]) >= 0:
		return 0, 0, i + 2, "" // a line break as JSON writes it begins no word
	}
	return 0, 0, i + 1, ""
}

// wordAt reads the word that begins at i. It returns the bounds and the kind of
// the secret that the word is or announces (to is 0 where it does neither) and
// where to go on.
func wordAt(s string, i int) (from, to, next int, kind string) {
	end, tells := i, false
	if i > 0 && s[i-1] == '-' {
		if from, to := userPassword(s, i); to > 0 {
			return from, to, to, kindPassword
		}
	}
	if n := formAt(s[i:]); n > 0 {
		return i, i + n, i + n, kindKey
	}
	if at := i + len("bot"); at < len(s) && s[i:at] == "bot" && inside[s[at]] != ends {
		if n := formAt(s[at:]); n > 0 {
			return at, at + n, at + n, kindKey
		}
	}
	last := uint16(0) // the low bits of the last three bytes
	for apart := false; end < len(s); end++ {
		c := s[end]
		kind := inside[c]
		if kind == ends {
			break
		}
		if apart {
			if n := formAt(s[end:]); n > 0 {
				return end, end + n, end + n, kindKey
			}
		}
		apart = kind == joint
		last = (last<<5 | uint16(c&31)) & (1<<15 - 1)
		if nameBits[last>>5]>>(last&31)&1 != 0 {
			tells = tells || nameBegins(s[end-2:])
		}
	}
	if end-i == 40 || end-i < 40 && end < len(s) && (s[end] == '/' || s[end] == '+') {
		if n := bareKey(s, i); n > 0 {
			return i, i + n, i + n, kindKey
		}
	}
	if !tells {
		return 0, 0, end, ""
	}
	if name := kindOf(s[i:end]); name != noName {
		if from, to := valueAfter(s, i, end, name); to > 0 {
			return from, to, to, name.kind()
		}
	}
	return 0, 0, end, ""
}

// What a byte is to a word that is under way.
const (
	ends  = iota // none of it
	part         // a letter or a digit
	joint        // what a part of a name may follow
)

var inside = func() (t [256]uint8) {
	for c := range t {
		if isAlnum(byte(c)) {
			t[c] = part
		}
	}
	t['-'], t['_'] = joint, joint
	return t
}()

// nameStems stand, in any case, in all components of names that tell of a secret: see
// componentKind.
var nameStems = []string{
	"pass", "pwd", "secret", "session", "sig", "key", "token", "auth", "credential", "cookie", "jwt", "bearer", "basic",
}

// nameBits hold them by the low bits of their first letters: a quick look that spares
// most words the reading of their parts.
var nameBits = func() (t [1 << 10]uint32) {
	for _, n := range nameStems {
		t[threeOf(n)>>5] |= 1 << (n[2] & 31)
	}
	return t
}()

// nameBegins reports whether s begins with such a stem.
func nameBegins(s string) bool {
	for _, n := range nameStems {
		if s[0]|0x20 == n[0] && len(s) >= len(n) && strings.EqualFold(s[:len(n)], n) {
			return true
		}
	}
	return false
}

// userPassword finds the password in "-u name:password" and "--user name:password";
// the option's name begins at i.
func userPassword(s string, i int) (from, to int) {
	rest := s[i:]
	switch {
	case strings.HasPrefix(rest, "u "):
		i += len("u ")
	case strings.HasPrefix(rest, "user "), strings.HasPrefix(rest, "user="):
		i += len("user ")
	default:
		return 0, 0
	}
	i += span(s[i:], func(c byte) bool { return c == ' ' || c == '"' || c == '\'' })
	colon := i + span(s[i:], func(c byte) bool { return inDotted(c) || c == '@' || c == '\\' })
	if colon == i || colon >= len(s) || s[colon] != ':' {
		return 0, 0
	}
	n := valueLength(s[colon+1:], "", false)
	if n < 4 || span(s[colon+1:colon+1+n], isDigit) == n || placeholder(s[colon+1:]) || strings.HasPrefix(s[colon+1:], "[secret") {
		return 0, 0 // 1000:1000 are users
	}
	return colon + 1, colon + 1 + n
}

const pemBegin = "-----BEGIN "

// privateKey is the length of the armoured private key that s begins with, 0 for
// other armour. A key whose end is missing reaches as far as its text does.
func privateKey(s string) int {
	line, _, _ := strings.Cut(s[:min(len(s), 80)], "\n")
	head := strings.Index(line, "PRIVATE KEY")
	if head < 0 {
		return 0
	}
	if end := strings.Index(s, "-----END "); end > 0 {
		if close := strings.Index(s[end+9:], "-----"); close >= 0 && close < 60 {
			return end + 9 + close + 5
		}
	}
	n := head + len("PRIVATE KEY")
	for n < len(s) && (inBase64(s[n]) || strings.IndexByte(" \r\n\t\\:,", s[n]) >= 0) {
		n++
	}
	return n
}

// urlPassword finds the password in the authority of a URL, which begins at i.
func urlPassword(s string, i int) (from, to int) {
	colon := -1
	for k := i; k < len(s) && k < i+512; k++ {
		switch c := s[k]; {
		case c == '@':
			if colon < 0 || k == colon+1 || strings.HasPrefix(s[colon+1:], "[secret") {
				return 0, 0
			}
			return colon + 1, k
		case c == ':' && colon < 0:
			colon = k
		case c <= ' ' || strings.IndexByte(`/?#"'<>\`, c) >= 0:
			return 0, 0
		}
	}
	return 0, 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isAlnum(c byte) bool { return isDigit(c) || isLower(c) || isUpper(c) }
func inWord(c byte) bool  { return isAlnum(c) || c == '_' || c == '-' }
func inHex(c byte) bool   { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func inCapitals(c byte) bool { return isDigit(c) || isUpper(c) }
func inDotted(c byte) bool   { return inWord(c) || c == '.' }
func inCrypt(c byte) bool    { return inBase64(c) || c == '.' || c == '$' || c == ',' }
func inBase64(c byte) bool   { return inWord(c) || c == '+' || c == '/' || c == '=' }
func inBearer(c byte) bool   { return inBase64(c) || c == '.' || c == '~' }
