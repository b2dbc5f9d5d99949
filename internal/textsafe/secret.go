package textsafe

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Masked stands where a secret was.
const Masked = "[secret]"

// Mask replaces what looks like a secret: keys and tokens by the forms that
// their issuers give them, private keys, the passwords of URLs, credentials of
// an Authorization header, and values that stand behind a tell-tale name. A text
// that was masked before is left as it is.
func Mask(s string) string {
	return replace(s, scan, func(string, string) string { return Masked })
}

// MaskStrict is Mask for texts that are published: it also replaces long runs
// that look random, whatever stands before them. Digests and encoded data fall
// to it as well.
func MaskStrict(s string) string {
	return replace(Mask(s), scanRandom, func(string, string) string { return Masked })
}

// HasSecret reports whether Mask would change s.
func HasSecret(s string) bool { return Mask(s) != s }

// replace puts what mark gives in the place of each secret of s.
func replace(s string, scan func(string, func(from, to int, kind string)), mark func(kind, secret string) string) string {
	var b []byte
	last := 0
	scan(s, func(from, to int, kind string) {
		b = append(append(b, s[last:from]...), mark(kind, s[from:to])...)
		last = to
	})
	if last == 0 {
		return s
	}
	return string(append(b, s[last:]...))
}

// minRandom is the least length of a run that is taken for random.
const minRandom = 24

// scanRandom is scan for long runs that look random.
func scanRandom(s string, found func(from, to int, kind string)) {
	for i := 0; i < len(s); {
		n := base64ed.Span(s[i:])
		if n >= minRandom && random(s[i:i+n]) {
			found(i, i+n, kindKey)
		}
		i += max(n, 1)
	}
}

// random reports whether a run mixes lower case, upper case and digits the way
// encoded random bytes do, is long hexadecimal, or has letters between digits as no name does.
func random(run string) bool {
	digits, turns := digit.count(run), 0
	for i := 1; i < len(run); i++ {
		if alnum[run[i-1]] && alnum[run[i]] && digit[run[i-1]] != digit[run[i]] {
			turns++
		}
	}
	return lower.count(run) > 2 && upper.count(run) > 2 && digits > 2 || digits > 4 && hexed.all(run) ||
		5*turns >= len(run)
}

// The kinds of secrets, as placeholders name them.
const (
	kindKey      = "key"      // by the form that an issuer gives it
	kindPassword = "password" // of a URL, or behind such a name
	kindToken    = "token"    // behind such a name
)

// scan calls found with the bounds and the kind of each secret of s, in order.
func scan(s string, found func(from, to int, kind string)) {
	for i := glance(s, 0); i < len(s); {
		read := signAt
		if classes[s[i]] == part {
			read = wordAt
		}
		from, to, next, kind := read(s, i)
		if to > 0 {
			found(from, to, kind)
		}
		i = glance(s, next)
	}
}

// What a byte is: a part of a word, what a part of a name may follow, what signAt reads, or
// what may follow a word that is the first part of a key; 0 is none of these.
const (
	part = 1 << iota
	joint
	sign
	within
)

var classes = func() (t [256]uint8) {
	for c := range t {
		if alnum[byte(c)] {
			t[c] = part
		}
	}
	for _, c := range []byte("-:=[\\$\xef") {
		t[c] = sign
	}
	for _, c := range []byte("/+.:") {
		t[c] |= within
	}
	t['_'] |= joint
	t['-'] |= joint
	return t
}()

// The forms of what is told by the signs around it. Armour whose end is missing reaches as
// far as its text does.
var (
	armour       = regexp.MustCompile(`(?s)^-----BEGIN [^\n]{0,60}PRIVATE KEY(?:.*?-----END .{0,60}?-----|[\w+/= \r\n\t\\:,-]*)`)
	urlPassword  = regexp.MustCompile(`^[^\s/?#"'<>\\:@]*:([^\s/?#"'<>\\@]+)@`)
	userPassword = regexp.MustCompile("^(?:u |user[ =])[ \"']*[\\w.@\\\\-]+:([^\\s\"'`,;&<>()\\]}|\\\\]{4,})")
)

// signAt is wordAt for what begins with a sign: armour, the authority of a URL, a
// placeholder, an escaped line break.
func signAt(s string, i int) (from, to, next int, kind string) {
	switch c := s[i]; {
	case c == '-' && strings.HasPrefix(s[i:], "-----BEGIN "):
		if n := len(armour.FindString(s[i:])); n > 0 {
			return i, i + n, i + n, "private_key"
		}
		return 0, 0, i + len("-----BEGIN "), ""
	case (c == ':' || c == '=' || strings.HasPrefix(s[i:], "：")) && foreignLabel(s[max(0, i-32):i]):
		if from, to := valueAfter(s, i, i, loudName); to > 0 {
			return from, to, to, kindPassword
		}
	case c == ':' && strings.HasPrefix(s[i:], "://"):
		if from, to := captured(urlPassword, s, i+3); to > 0 {
			return from, to, to, kindPassword
		}
		return 0, 0, i + 3, ""
	case c == '$':
		if n := formAt(s[i:]); n > 0 {
			return i, i + n, i + n, kindPassword
		}
	case c == '[' && strings.HasPrefix(s[i:], "[secret:"):
		return 0, 0, i + max(len(placeholders.FindString(s[i:])), 1), ""
	case c == '\\' && i+1 < len(s) && strings.IndexByte("nrt", s[i+1]) >= 0:
		return 0, 0, i + 2, "" // a line break as JSON writes it begins no word
	}
	return 0, 0, i + 1, ""
}

// foreignLabels are names of a password that have letters other than the ASCII ones.
var foreignLabels = strings.Split("пароль,пароля,паролі,密码,密碼,口令,パスワード,비밀번호,암호,hasło,şifre,parolă,lösenord,contraseña,κωδικός,"+
	"סיסמה,كلمة المرور", ",")

func foreignLabel(before string) bool {
	if !slices.ContainsFunc([]byte(before), func(c byte) bool { return c >= utf8.RuneSelf }) {
		return false
	}
	before = strings.TrimRight(before, "'”\" \t")
	return slices.ContainsFunc(foreignLabels, func(label string) bool {
		at := len(before) - len(label)
		return at >= 0 && strings.EqualFold(before[at:], label)
	})
}

// captured is where the password stands of which a form tells at i; to is 0 where it tells
// none.
func captured(form *regexp.Regexp, s string, i int) (from, to int) {
	m := form.FindStringSubmatchIndex(s[i:min(len(s), i+512)])
	if m == nil || noValue.MatchString(s[i+m[2]:i+m[3]]) {
		return 0, 0
	}
	return i + m[2], i + m[3]
}

// glance gives the beginning of the next word at or behind i that wordAt may find something in, or
// the next sign; else the end. Most words are neither as long as a key, nor part of a longer name, nor
// hold what the names of secrets or the forms of keys begin with.
func glance(s string, i int) int {
	if i > 0 && i < len(s) && s[i-1] == '-' && classes[s[i]] == part {
		return i
	}
	word, three := i, uint(0) // word is where the newest one begins
	for at := i; at < len(s); at++ {
		c := s[at]
		three = three<<5 | uint(c&31)
		class := classes[c]
		if looks.has(three) && at > i+1 {
			if at-2 >= word && nameBegins(s[at-2:], three) || at-2 == word && formAt(s[word:]) > 0 {
				return word
			}
		}
		if class == part {
			continue
		}
		if at-word == bareLong || class&(joint|within) != 0 && at > word {
			return word
		}
		if class&sign != 0 {
			return at
		}
		word = at + 1
	}
	if len(s)-word == bareLong {
		return word
	}
	return len(s)
}

// wordAt reads the word that begins at i. It returns the bounds and the kind of
// the secret that the word is or announces (to is 0 where it does neither) and
// where to go on.
func wordAt(s string, i int) (from, to, next int, kind string) {
	if i > 0 && s[i-1] == '-' && s[i] == 'u' {
		if from, to := captured(userPassword, s, i); to > 0 && !digit.all(s[from:to]) { // 1000:1000 are users
			return from, to, to, kindPassword
		}
	}
	end, apart := i, true
	for ; end < len(s) && classes[s[end]]&(part|joint) != 0; end++ {
		if apart {
			if n := formAt(s[end:]); n > 0 {
				return end, end + n, end + n, kindKey
			}
		}
		apart = classes[s[end]] == joint
	}
	if n := max(bareKey(s, i, end), partedAt(s, i, end)); n > 0 {
		return i, i + n, i + n, kindKey
	}
	if name := kindOf(s[i:end]); name != noName {
		before := 4 * strings.Count(strings.ToLower(s[max(0, i-4):i]), "api ") // "API key", in two words
		if from, to := valueAfter(s, i, end, kindOf(s[i-before:end])); to > 0 {
			return from, to, to, kindNames[name]
		}
	}
	return 0, 0, end, ""
}

// nameStems stand, in any case, in all names that tell of a secret: see nameForms.
var nameStems = []string{
	"pass", "pwd", "secret", "session", "sig", "key", "token", "auth", "credential", "cookie", "jwt", "bearer", "basic", "pin",
	"cvv", "cvc", "otp", "ssn", "senha", "wachtwoord", "parola", "psk",
}

// stems are nameStems by the low bits of their first letters.
var stems = func() map[uint][]string {
	by := map[uint][]string{}
	for _, n := range nameStems {
		by[threeOf(n)] = append(by[threeOf(n)], n)
	}
	return by
}()

// hasStem reports whether such a stem stands in a name.
func hasStem(name string) bool {
	three := uint(0)
	for i := range len(name) {
		if three = three<<5 | uint(name[i]&31); i > 1 && looks.has(three) && nameBegins(name[i-2:], three) {
			return true
		}
	}
	return false
}

// nameBegins reports whether s, whose first letters have these low bits, begins with such a stem.
func nameBegins(s string, three uint) bool {
	return slices.ContainsFunc(stems[three%ofThree], func(n string) bool {
		return s[0]|0x20 == n[0] && len(s) >= len(n) && strings.EqualFold(s[:len(n)], n)
	})
}
