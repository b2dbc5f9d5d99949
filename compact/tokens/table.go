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

// table holds the other charges of one encoding, for each character.
type table struct {
	accent, emoji milli
	unknown       milli // any script that has none of its own
	scripts       int   // which of the costs of a script
}

//nolint:gochecknoglobals // constant tables
var (
	o200k   = table{accent: 450, emoji: 1500, unknown: 900}
	cl100k  = table{accent: 2300, emoji: 2500, unknown: 1500, scripts: 1}
	scripts = []struct {
		is   *unicode.RangeTable
		cost [2]milli
	}{
		{unicode.Han, [2]milli{780, 1200}},
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
)

func tableOf(e Encoding) *table {
	if e == CL100k {
		return &cl100k
	}
	return &o200k
}

// rune charges a character beyond ASCII.
func (t *table) rune(r rune) milli {
	switch {
	case r >= 0x4E00 && r <= 0x9FFF:
		return scripts[0].cost[t.scripts]
	case r >= 0xC0 && r <= 0x24F:
		return t.accent
	case r >= 0x2000 && r <= 0x206F, r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFF20, r >= 0x2500 && r <= 0x257F:
		return 900 // general and full-width punctuation, box drawing
	case r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2600 && r <= 0x27BF:
		return t.emoji
	}
	for _, s := range scripts {
		if unicode.Is(s.is, r) {
			return s.cost[t.scripts]
		}
	}
	return t.unknown
}
