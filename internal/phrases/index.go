package phrases

import (
	"strings"
	"unicode/utf8"
)

// Marks is a set of phrase lists, with one bit for each.
type Marks uint64

// Index finds, in one pass and ignoring case, which of many phrase lists have a phrase in a
// text. A filter over the first four bytes of all phrases rejects nearly every position.
type Index struct {
	all     Marks // stop once all are found
	filter  [1 << (filterBits - 6)]uint64
	heads   [1 << headsBits]uint16 // by hash, 1 + the index of the first entry
	entries []phraseEntry
}

type phraseEntry struct {
	key  uint32 // the first four bytes, or any byte and all three of a short phrase
	tail string // what follows them
	in   Marks
	next uint16
}

const (
	filterBits = 14
	headsBits  = 11
	keyBytes   = 4
)

// NewIndex builds an index of lists of phrases: lower-case ASCII, at least three bytes.
func NewIndex(lists map[Marks][]string) *Index {
	ix := &Index{}
	byPhrase := map[string]Marks{}
	for m, list := range lists {
		ix.all |= m
		for _, p := range list {
			byPhrase[p] |= m
		}
	}
	for p, m := range byPhrase {
		if len(p) >= keyBytes {
			ix.add(keyOf(0, p[:keyBytes]), p[keyBytes:], m)
			continue
		}
		for before := range foldClasses {
			ix.add(keyOf(uint32(before), p), "", m)
		}
	}
	return ix
}

func keyOf(w uint32, s string) uint32 {
	for i := range len(s) {
		w = w<<8 | uint32(s[i])
	}
	return w
}

func (ix *Index) add(key uint32, tail string, m Marks) {
	h := phraseHash(key)
	ix.filter[h>>6] |= 1 << (h & 63)
	head := &ix.heads[h>>(filterBits-headsBits)]
	ix.entries = append(ix.entries, phraseEntry{key: key, tail: tail, in: m, next: *head})
	*head = uint16(len(ix.entries)) //nolint:gosec // a few thousand entries at most
}

func phraseHash(w uint32) uint32 { return w * 0x9E3779B1 >> (32 - filterBits) }

// Scan returns the lists that have a phrase in s.
func (ix *Index) Scan(s string) Marks {
	var found Marks
	var w uint32
	var bits byte
	for i := range len(s) {
		c := s[i]
		bits |= c
		w = w<<8 | uint32(foldTable[c])
		h := phraseHash(w)
		if ix.filter[h>>6&(1<<(filterBits-6)-1)]>>(h&63)&1 == 0 {
			continue
		}
		if found |= ix.at(w, h, s[i+1:]); found == ix.all {
			return found
		}
	}
	if bits >= utf8.RuneSelf && foldsToASCII(s) {
		return ix.Scan(strings.ToLower(s))
	}
	return found
}

// at gives the lists with a phrase that starts with the bytes of w and goes on
// with what follows.
func (ix *Index) at(w, h uint32, after string) Marks {
	var found Marks
	for k := ix.heads[h>>(filterBits-headsBits)]; k != 0; {
		e := &ix.entries[k-1]
		if e.key == w && foldedPrefix(after, e.tail) {
			found |= e.in
		}
		k = e.next
	}
	return found
}

// foldedPrefix reports whether s starts with lower, whatever the case of s.
func foldedPrefix(s, lower string) bool {
	if len(s) < len(lower) {
		return false
	}
	for i := range len(lower) {
		if foldTable[s[i]] != lower[i] {
			return false
		}
	}
	return true
}

// foldClasses bounds the values in foldTable.
const foldClasses = 0x7f

// foldTable gives ASCII letters in lower case; bytes that stand in no phrase are
// all one.
var foldTable = makeFoldTable()

func makeFoldTable() (table [256]byte) {
	for c := range table {
		switch {
		case c < ' ' || c >= foldClasses:
			table[c] = 1
		case c >= 'A' && c <= 'Z':
			table[c] = byte(c) | 0x20
		default:
			table[c] = byte(c)
		}
	}
	return table
}

// foldsToASCII reports whether s has one of the two characters beyond ASCII whose
// lower case is an ASCII letter: the kelvin sign and the dotted capital I.
func foldsToASCII(s string) bool {
	return strings.Contains(s, "\u212a") || strings.Contains(s, "\u0130")
}
