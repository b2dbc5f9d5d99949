package store

import (
	"strings"
	"unicode"
)

// Words gives the words of a text as SearchTools understands them: runs of
// letters and digits, in lower case.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
