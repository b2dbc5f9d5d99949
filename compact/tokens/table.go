package tokens

import "unicode"

// Encoding is a family of tokenizers with similar costs.
type Encoding string

// The encodings with their own table. Any other value counts as O200k.
const (
	O200k  Encoding = "o200k"  // gpt-4o, gpt-4.1, gpt-5, o1 and later; similar to Llama 3, Qwen, DeepSeek
	CL100k Encoding = "cl100k" // gpt-4, gpt-3.5-turbo, text-embedding-3
)

// class sorts the bytes of a text. The letters come first.
type class uint8

const (
	lower class = iota
	upper
	digit
	space
	punct
	other // the first or a further byte of a character beyond ASCII
)

//nolint:gochecknoglobals // a constant table
var classOf = func() (t [256]class) {
	for b := range 256 {
		switch {
		case b >= 'a' && b <= 'z':
			t[b] = lower
		case b >= 'A' && b <= 'Z':
			t[b] = upper
		case b >= '0' && b <= '9':
			t[b] = digit
		case b == ' ' || b >= '\t' && b <= '\r':
			t[b] = space
		case b < 0x80:
			t[b] = punct
		default:
			t[b] = other
		}
	}
	return t
}()

// The charges of ASCII, in thousandths of a token; the encodings differ beyond it.
const (
	freeLetters      = 7   // letters of a word that cost nothing beyond the first token
	letter           = 110 // each further letter
	capital          = 330 // each letter of a word in capitals
	lettersInKey     = 520 // each letter after the second of a word behind a digit
	spaceBeforeDigit = 1000
	newline          = 900
	indent           = 500
	mark             = 950 // the first character of mixed punctuation
	moreMarks        = 280 // each further one
	markBeforeWord   = 800 // a single mark right before a letter
)

// table is an encoding, by the place of its charges below.
type table int

// The other charges, for each character, of o200k and of cl100k: of blocks of characters, and of
// scripts beyond them.
//
//nolint:gochecknoglobals // constant tables
var (
	han    = [2]milli{780, 1200}
	marks  = [2]milli{900, 900} // general and full-width punctuation, box drawing
	emoji  = [2]milli{1500, 2500}
	blocks = []struct {
		first, last rune
		cost        [2]milli
	}{
		{0x4E00, 0x9FFF, han},
		{0xC0, 0x24F, [2]milli{450, 2300}}, // letters with accents
		{0x2000, 0x206F, marks},
		{0x3000, 0x303F, marks},
		{0xFF00, 0xFF20, marks},
		{0x2500, 0x257F, marks},
		{0x1F000, 0x1FAFF, emoji},
		{0x2600, 0x27BF, emoji},
	}
	scripts = []struct {
		is   *unicode.RangeTable
		cost [2]milli
	}{
		{unicode.Han, han},
		{unicode.Hiragana, [2]milli{700, 1000}},
		{unicode.Katakana, [2]milli{700, 1000}},
		{unicode.Hangul, [2]milli{680, 1150}},
		{unicode.Cyrillic, [2]milli{270, 500}},
		{unicode.Greek, [2]milli{380, 1050}},
		{unicode.Arabic, [2]milli{320, 850}},
		{unicode.Hebrew, [2]milli{330, 950}},
		{unicode.Devanagari, [2]milli{300, 1100}},
		{unicode.Thai, [2]milli{380, 950}},
	}
	unknown = [2]milli{900, 1500} // any other script
)

func tableOf(e Encoding) table {
	if e == CL100k {
		return 1
	}
	return 0
}

// rune charges a character beyond ASCII.
func (t table) rune(r rune) milli {
	for i := range blocks {
		if b := &blocks[i]; b.first <= r && r <= b.last {
			return b.cost[t]
		}
	}
	for _, s := range scripts {
		if unicode.Is(s.is, r) {
			return s.cost[t]
		}
	}
	return unknown[t]
}
