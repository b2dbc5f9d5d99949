package preflight

import (
	"slices"
	"strings"
	"unicode"

	tested "memoryd/guidelines/rules"
)

// valueHash is the same for a value of a parameter, or a kind of values.
func valueHash(path, value string) uint64 { return uint64(seed.add(path).add(value)) }

// take notes the identifiers of a call that did not fail, and their kinds.
func (m *Model) take(leaves []leaf) {
	for i := range leaves {
		v := &leaves[i]
		m.paths[v.Path] = true
		if isID(v) {
			m.worked[valueHash(v.Path, v.Text)] = true
			if kind := kindOf(v.Text); kind != "" {
				m.worked[valueHash(v.Path, kind)] = true
			}
		}
	}
}

// isID reports whether a value looks like an identifier.
func isID(l *leaf) bool {
	return l.Kind == tested.Text && len(l.Text) <= maxValue && tested.IdentifierLike(l.Text)
}

// kindOf is the words that an identifier begins with, before its number:
// "credit card" of "credit_card_9074831"; "" when there are none.
func kindOf(value string) string {
	return strings.TrimSpace(strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(tested.Head(value))))
}

// sharesWord reports whether two names have a word of three letters or more in common.
func sharesWord(a, b string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	other := words(b)
	for _, w := range words(a) {
		if len(w) > 2 && slices.ContainsFunc(other, func(o string) bool { return o == w || o+"s" == w || w+"s" == o }) {
			return true
		}
	}
	return false
}
