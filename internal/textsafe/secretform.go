package textsafe

import (
	_ "embed"
	"encoding/base64"
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

// forms are the lines of forms.txt, grouped by the first byte of their prefix.
var forms = func() (by [256][]form) {
	tails := map[string]func(byte) bool{
		"alnum": isAlnum, "capitals": inCapitals, "hex": inHex, "word": inWord, "dotted": inDotted, "base64": inBase64, "crypt": inCrypt,
	}
	for line := range strings.Lines(formsText) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] == "#" {
			continue
		}
		least, _ := strconv.Atoi(f[2]) // a test reads each line
		by[f[0][0]] = append(by[f[0][0]], form{prefix: f[0], tail: tails[f[1]], least: least, mixed: len(f) > 3})
	}
	return by
}()

// formAt is the length of the key that s begins with, 0 where it begins with
// none.
func formAt(s string) int {
	if len(s) < 4 || formBits[threeOf(s)>>5]>>(s[2]&31)&1 == 0 {
		return 0
	}
	for i := range forms[s[0]] {
		f := &forms[s[0]][i]
		if s[1] != f.prefix[1] || !strings.HasPrefix(s, f.prefix) {
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

// threeOf joins the low bits of the first three bytes of s.
func threeOf(s string) uint16 { return uint16(s[0]&31)<<10 | uint16(s[1]&31)<<5 | uint16(s[2]&31) }

// formBits hold the beginnings of all forms, by threeOf: a quick look that spares
// nearly all words the reading of the table.
var formBits = func() (t [1 << 10]uint32) {
	set := func(s string) { t[threeOf(s)>>5] |= 1 << (s[2] & 31) }
	setAll := func(two string) {
		for third := range byte(1 << 5) {
			set(two + string([]byte{third}))
		}
	}
	for c := range forms {
		for _, f := range forms[c] {
			if len(f.prefix) == 2 {
				setAll(f.prefix)
			} else {
				set(f.prefix)
			}
		}
	}
	set("eyJ") // these are dottedForm's
	for n := range 1000 {
		set(strconv.Itoa(1000 + n)[1:])
	}
	for _, first := range "MNO" {
		for second := range byte(1 << 5) {
			setAll(string([]byte{byte(first), second}))
		}
	}
	return t
}()

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
