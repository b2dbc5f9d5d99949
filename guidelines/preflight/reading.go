package preflight

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tested "memoryd/guidelines/rules"
)

type leaf = tested.Leaf

// Limits on what is compared of one input.
const (
	maxTextBytes = 1500 // of one text
	maxBytes     = 4000 // of all texts together
)

// leavesOf reads an input, with texts cut to what is compared.
func leavesOf(input []byte) []leaf {
	leaves, room := tested.LeavesOf(input), maxBytes
	for i := range leaves {
		if l := &leaves[i]; l.Kind == tested.Text {
			l.Text = l.Text[:min(len(l.Text), maxTextBytes, room)]
			room -= len(l.Text)
		}
	}
	return leaves
}

// identityOf stands for an input as far as it is read, whatever the order of the
// members of its objects.
func identityOf(leaves []leaf) uint64 {
	var sum hash
	nth := map[string]int{} // the order of a list's elements counts
	for i := range leaves {
		l := &leaves[i]
		h := seed.add(l.Path).int(int(l.Kind)).add(l.Text).int(int(l.Number)).int(l.Length)
		if strings.Contains(l.Path, "[]") {
			h = h.int(nth[l.Path])
			nth[l.Path]++
		}
		sum += h.mixed() // sums of FNV hashes are equal where numbers change places
	}
	return uint64(sum)
}

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

// appendSkeleton appends the form of a text: "a" for a run of letters, "A" for one that
// starts with a capital, "0" for a run of digits, one blank for white space, and everything
// else as it stands.
func appendSkeleton(b []byte, s string) []byte {
	last := other
	for _, r := range s {
		k := class(r)
		switch {
		case k == letter && last != letter && unicode.IsUpper(r):
			b = append(b, 'A')
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
