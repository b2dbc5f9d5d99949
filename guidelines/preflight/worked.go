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
	at := strings.IndexAny(value, "0123456789")
	if at < 5 {
		return ""
	}
	kind := strings.TrimRight(value[:at], "_-#/:.")
	if len(kind) < 4 || strings.ContainsAny(kind, "/.:#") {
		return ""
	}
	return strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(kind))
}

// commonNames are words of parameter names that tell nothing of what they name.
var commonNames = []string{"id", "ids", "name", "names", "number", "key", "code", "new", "item", "value", "type"}

// sharesWord reports whether two names have a telling word in common.
func sharesWord(a, b string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	other := words(b)
	for _, w := range words(a) {
		if slices.Contains(commonNames, w) || len(w) < 3 {
			continue
		}
		if slices.ContainsFunc(other, func(o string) bool { return o == w || o+"s" == w || w+"s" == o }) {
			return true
		}
	}
	return false
}
