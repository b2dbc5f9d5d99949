package preflight

import (
	"unicode"
	"unicode/utf8"
)

// appendWords cuts a text in lower case into runs of letters and underscores with
// the hyphens before them, runs of digits, and runs of anything else but blanks.
func appendWords(words []string, s string) []string {
	start, last := 0, blank
	for i, r := range s {
		k := class(r)
		if k == last || last == hyphen && k == letter {
			last = k
			continue
		}
		if k == hyphen && last == other {
			k = other
		}
		if k != last {
			if last != blank && i > start {
				words = append(words, s[start:i])
			}
			start = i
		}
		last = k
	}
	if last != blank && len(s) > start {
		words = append(words, s[start:])
	}
	return words
}

type charClass uint8

const (
	blank charClass = iota
	letter
	digit
	hyphen
	other
)

func class(r rune) charClass {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r >= utf8.RuneSelf && unicode.IsLetter(r):
		return letter
	case r >= '0' && r <= '9':
		return digit
	case r == '-':
		return hyphen
	case unicode.IsSpace(r):
		return blank
	}
	return other
}

// appendSkeleton appends the form of a text: "a" for a run of letters, "0" for a
// run of digits, one blank for white space, and everything else as it stands.
func appendSkeleton(b []byte, s string) []byte {
	last := other
	for _, r := range s {
		k := class(r)
		switch {
		case k == letter && last != letter:
			b = append(b, 'a')
		case k == digit && last != digit:
			b = append(b, '0')
		case k == blank && last != blank:
			b = append(b, ' ')
		case k == hyphen, k == other:
			b = utf8.AppendRune(b, r)
		}
		last = k
	}
	return b
}

// appendCasedSkeleton appends the skeleton of a text with "A" for a run of letters
// that starts with a capital.
func appendCasedSkeleton(b []byte, s string) []byte {
	from := len(b)
	b = appendSkeleton(b, s)
	form := b[from:]
	at, last := 0, other
	for _, r := range s {
		k := class(r)
		if k == letter && last != letter {
			for at < len(form) && form[at] != 'a' {
				at++
			}
			if at < len(form) && unicode.IsUpper(r) {
				form[at] = 'A'
			}
			at++
		}
		last = k
	}
	return b
}
