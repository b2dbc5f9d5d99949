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
	tail   *Bytes
	least  int
	mixed  bool // the tail must hold a digit or two capitals: the prefix is also a word
}

//go:embed forms.txt
var formsText string

// forms are the lines of forms.txt, grouped by threeOf their prefix.
var forms = func() map[uint][]form {
	by := map[uint][]form{}
	tails := map[string]*Bytes{
		"alnum": alnum, "word": word, "base64": base64ed, "capitals": capitals, "hex": hexed, "dotted": dotted, "crypt": crypted,
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

// partedAt is the length of such a token whose first part is s[i:end]. The expression takes
// as long as the rest of s is, and times of day begin as numbers do: few first parts are
// worth it.
func partedAt(s string, i, end int) int {
	if end-i < 8 || end == len(s) || !parting[s[end]] || !partedBy[s[i]] {
		return 0
	}
	first := s[i:end]
	if number := strings.TrimPrefix(first, "bot"); digit.all(number) {
		if len(number) > 10 {
			return 0
		}
	} else if !strings.HasPrefix(first, "eyJ") && len(first) <= 22 {
		return 0
	}
	return len(parted.FindString(s[i:]))
}

// formAt is the length of the key that s begins with, 0 where it begins with
// none.
func formAt(s string) int {
	if len(s) < 4 || !looks.has(threeOf(s)) {
		return 0
	}
	for _, f := range forms[threeOf(s)] {
		if !strings.HasPrefix(s, f.prefix) {
			continue
		}
		tail := s[len(f.prefix):]
		tail = strings.TrimRight(tail[:f.tail.Span(tail)], ".-_") // the end of a sentence
		if len(tail) >= f.least && (!f.mixed || mixed(tail)) {
			return len(f.prefix) + len(tail)
		}
	}
	return 0
}

// looks holds the low bits of the first three bytes of all forms and of nameStems: a quick look that
// spares nearly all words the reading of these tables.
var looks = func() (t threes) {
	for at := range forms {
		t.add(at)
	}
	for at := range stems {
		t.add(at)
	}
	return t
}()

// threes is a set of the low bits of three bytes. Those of bytes before them do not matter.
type threes [ofThree / 64]uint64

// ofThree is how many low bits of three bytes there are.
const ofThree = 1 << 15

func (t *threes) add(n uint)      { t[n%ofThree/64] |= 1 << (n % 64) }
func (t *threes) has(n uint) bool { return t[n/64%(ofThree/64)]&(1<<(n%64)) != 0 }

func threeOf(s string) uint { return uint(s[0]&31)<<10 | uint(s[1]&31)<<5 | uint(s[2]&31) }

// mixed reports whether s holds a digit or two capital letters.
func mixed(s string) bool { return digit.count(s) > 0 || upper.count(s) > 1 }

// The run of an access key without a mark, with what follows it; no such key holds the run of
// small letters. What is encoded decodes to printable bytes.
var (
	bare      = regexp.MustCompile(`^([A-Za-z0-9+/]{40})(?:[^\w+/%=.-]|\.(?:[^A-Za-z0-9]|$)|$)`)
	oneWord   = regexp.MustCompile(`[a-z]{7}`)
	printable = regexp.MustCompile(`^[ -~\n\r\t]*$`)
)

const bareLong = 40

// bareKey is the length of the access key without a mark that begins at i, in a word that
// reaches to end: 40 characters of base64, as AWS and others write it, drawn at random. It
// is 0 for paths, for encoded text, and where the run is longer or shorter.
func bareKey(s string, i, end int) int {
	if end-i > bareLong || end-i < bareLong && (end == len(s) || !goesOn[s[end]]) || i > 0 && before[s[i-1]] {
		return 0
	}
	m := bare.FindStringSubmatch(s[i:min(len(s), i+bareLong+2)])
	if m == nil || lower.count(m[1]) < 6 || upper.count(m[1]) < 6 || digit.count(m[1]) < 2 || oneWord.MatchString(m[1]) {
		return 0
	}
	if text, err := base64.StdEncoding.DecodeString(m[1]); err == nil && printable.Match(text) {
		return 0
	}
	return bareLong
}
