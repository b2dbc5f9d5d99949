package textsafe

import (
	_ "embed"
	"encoding/base64"
	"regexp"
	"strconv"
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

//go:embed forms.txt
var formsText string

// forms are the lines of forms.txt, grouped by threeOf their prefix.
var forms = func() map[int][]form {
	by := map[int][]form{}
	tails := map[string]func(byte) bool{
		"alnum": isAlnum, "word": inWord, "base64": inBase64,
		"capitals": func(c byte) bool { return isDigit(c) || isUpper(c) },
		"hex":      inHex,
		"dotted":   func(c byte) bool { return inWord(c) || c == '.' },
		"crypt":    func(c byte) bool { return inBase64(c) || c == '.' || c == '$' || c == ',' },
	}
	for line := range strings.Lines(formsText) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] == "#" {
			continue
		}
		least, _ := strconv.Atoi(f[2]) // a test reads each line
		one := form{prefix: f[0], tail: tails[f[1]], least: least, mixed: len(f) > 3}
		for third := range byte(1 << 5) {
			if at := threeOf(string([]byte{f[0][0], f[0][1], third})); len(f[0]) == 2 || at == threeOf(f[0]) {
				by[at] = append(by[at], one)
			}
		}
	}
	return by
}()

// parted are the forms of tokens that are told by their parts: JSON web tokens, and the
// bot tokens of Discord and of Telegram.
var parted = regexp.MustCompile(`^(?:eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|[MNO][A-Za-z0-9]{22,27}\.[\w-]{6,7}\.[\w-]{27,}|(?:bot)?\d{8,10}:[\w-]{33,37})`)

// formAt is the length of the key that s begins with, 0 where it begins with
// none.
func formAt(s string) int {
	if len(s) < 4 || !begins.has(threeOf(s)) {
		return 0
	}
	for _, f := range forms[threeOf(s)] {
		if !strings.HasPrefix(s, f.prefix) {
			continue
		}
		tail := s[len(f.prefix):]
		tail = strings.TrimRight(tail[:span(tail, f.tail)], ".-_") // the end of a sentence
		if len(tail) >= f.least && (!f.mixed || mixed(tail)) {
			return len(f.prefix) + len(tail)
		}
	}
	if n := span(s, inWord); n >= 8 && n < len(s) && (s[n] == '.' || s[n] == ':') {
		return len(parted.FindString(s))
	}
	return 0
}

// begins holds the low bits of the first three bytes of all forms: a quick look that spares
// nearly all words the reading of the table. What is parted begins with "eyJ", a capital or
// digits.
var begins = func() (t threes) {
	for at := range forms {
		t.add(at)
	}
	for rest := range 1 << 10 {
		for _, first := range "MNO" {
			t.add(int(first&31)<<10 | rest)
		}
	}
	for n := range 1000 {
		t.add(threeOf(strconv.Itoa(1000 + n)[1:]))
	}
	t.add(threeOf("eyJ"))
	t.add(threeOf("bot"))
	return t
}()

// threes is a set of the low bits of three bytes.
type threes [1 << 15 / 64]uint64

func (t *threes) add(n int)      { t[n/64] |= 1 << (n % 64) }
func (t *threes) has(n int) bool { return t[n/64]>>(n%64)&1 != 0 }

func threeOf(s string) int { return int(s[0]&31)<<10 | int(s[1]&31)<<5 | int(s[2]&31) }

// mixed reports whether s holds a digit or two capital letters.
func mixed(s string) bool { return count(s, isDigit) > 0 || count(s, isUpper) > 1 }

// bareKey is the length of the access key without a mark that begins at i: 40 characters of
// base64, as AWS and others write it, drawn at random. It is 0 for paths, for encoded text,
// and where the run is longer or shorter.
func bareKey(s string, i int) int {
	const long = 40
	goesOn := func(s string) bool {
		return s != "" && (inWord(s[0]) || strings.IndexByte("+/%", s[0]) >= 0 || s[0] == '.' && len(s) > 1 && isAlnum(s[1]))
	}
	inKey := func(c byte) bool { return isAlnum(c) || c == '+' || c == '/' }
	if i > 0 && goesOn(s[i-1:]) || i+long > len(s) || span(s[i:i+long], inKey) < long || goesOn(s[i+long:]) || strings.HasPrefix(s[i+long:], "=") {
		return 0
	}
	key := s[i : i+long]
	if count(key, isLower) < 6 || count(key, isUpper) < 6 || count(key, isDigit) < 2 || oneWord.MatchString(key) {
		return 0
	}
	printable := func(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t' }
	if text, err := base64.StdEncoding.DecodeString(key); err == nil && span(string(text), printable) == len(text) {
		return 0 // encoded, not drawn
	}
	return long
}

// oneWord is a run of small letters longer than drawn keys have.
var oneWord = regexp.MustCompile(`[a-z]{7}`)

// span is the length of the beginning of s that consists of such bytes.
func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

// count is how many bytes of s are such.
func count(s string, in func(byte) bool) (n int) {
	for i := range len(s) {
		if in(s[i]) {
			n++
		}
	}
	return n
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
func isAlnum(c byte) bool  { return isDigit(c) || isLetter(c) }
func inWord(c byte) bool   { return isAlnum(c) || c == '_' || c == '-' }
func inHex(c byte) bool    { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
func inBase64(c byte) bool { return inWord(c) || c == '+' || c == '/' || c == '=' }
