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

// table holds the charges of one encoding, in thousandths of a token.
type table struct {
	freeLetters      milli // letters of a word that cost nothing beyond the first token
	letter           milli // each further letter
	capital          milli // each letter of a word in capitals
	lettersInKey     milli // each letter after the second of a word behind a digit
	spaceBeforeDigit milli
	newline, indent  milli
	mark, moreMarks  milli // the first and each further character of mixed punctuation
	markBeforeWord   milli // a single mark right before a letter
	scripts          []script
	accent, emoji    milli
	unknown          milli // per character of any other script
}

type script struct {
	is   *unicode.RangeTable
	cost milli // per character
}

//nolint:gochecknoglobals // a constant table
var o200k = table{
	freeLetters: 7, letter: 110, capital: 330, lettersInKey: 520, spaceBeforeDigit: 1000,
	newline: 900, indent: 500, mark: 950, moreMarks: 280, markBeforeWord: 800,
	accent: 450, emoji: 1500, unknown: 900,
	scripts: []script{
		{unicode.Han, 780},
		{unicode.Hiragana, 700},
		{unicode.Katakana, 700},
		{unicode.Hangul, 680},
		{unicode.Cyrillic, 270},
		{unicode.Greek, 380},
		{unicode.Arabic, 320},
		{unicode.Hebrew, 330},
		{unicode.Devanagari, 300},
		{unicode.Thai, 380},
	},
}

//nolint:gochecknoglobals // a constant table
var cl100k = table{
	freeLetters: 7, letter: 110, capital: 330, lettersInKey: 520, spaceBeforeDigit: 1000,
	newline: 900, indent: 500, mark: 950, moreMarks: 280, markBeforeWord: 800,
	accent: 2300, emoji: 2500, unknown: 1500,
	scripts: []script{
		{unicode.Han, 1200},
		{unicode.Hiragana, 1000},
		{unicode.Katakana, 1000},
		{unicode.Hangul, 1150},
		{unicode.Cyrillic, 500},
		{unicode.Greek, 1050},
		{unicode.Arabic, 850},
		{unicode.Hebrew, 950},
		{unicode.Devanagari, 1100},
		{unicode.Thai, 950},
	},
}

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
		return t.scripts[0].cost
	case r >= 0xC0 && r <= 0x24F:
		return t.accent
	case r >= 0x2000 && r <= 0x206F, r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFF20, r >= 0x2500 && r <= 0x257F:
		return 900 // general and full-width punctuation, box drawing
	case r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2600 && r <= 0x27BF:
		return t.emoji
	}
	for _, s := range t.scripts {
		if unicode.Is(s.is, r) {
			return s.cost
		}
	}
	return t.unknown
}
