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

// separates reports whether a character parts words: none of letters, digits, underscores, hyphens.
func separates(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
}

// appendSkeleton appends the form of a text: "a" for a run of letters, "A" for one of capitals, "0"
// for one of digits, and everything else as it stands.
func appendSkeleton(b []byte, s string) []byte {
	last := ' '
	for _, r := range s {
		mark := r
		switch {
		case unicode.IsUpper(r):
			mark = 'A'
		case unicode.IsLetter(r), r == '_':
			mark = 'a'
		case unicode.IsDigit(r):
			mark = '0'
		}
		if separates(r) || r == '-' || mark != last {
			b = utf8.AppendRune(b, mark)
		}
		last = mark
	}
	return b
}
