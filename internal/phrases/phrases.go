// Package phrases searches text for lists of words and phrases: by prefix, as whole words, or
// for all lists in one pass.
package phrases

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Set is a set of lower-case words.
type Set map[string]bool

// Words returns a set of its arguments.
func Words(list ...string) Set {
	set := make(Set, len(list))
	for _, w := range list {
		set[w] = true
	}
	return set
}

// FoldedIn reports whether s in lower case is one of the words.
func FoldedIn(s string, set Set) bool {
	const longest = 24 * utf8.UTFMax // no word is longer, also before it was made lower case
	return len(s) <= longest && set[strings.ToLower(s)]
}

// HasAny reports whether the set has one of the words.
func HasAny(list []string, set Set) bool {
	return slices.ContainsFunc(list, func(w string) bool { return set[w] })
}

// ContainsAny reports whether s contains one of the phrases.
func ContainsAny(s string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(s, p) })
}

// HasPrefixAny returns the first of the phrases that s starts with.
func HasPrefixAny(s string, phrases []string) (string, bool) {
	if s == "" {
		return "", false
	}
	first := s[0]
	for _, p := range phrases {
		if p[0] == first && strings.HasPrefix(s, p) {
			return p, true
		}
	}
	return "", false
}

// StartsWith reports whether s starts with a phrase, which is in lower case, in any case.
func StartsWith(s, phrase string) bool {
	return len(s) >= len(phrase) && s[0]|0x20 == phrase[0]|0x20 && strings.EqualFold(s[:len(phrase)], phrase)
}

// IsAlpha reports whether c is an ASCII letter.
func IsAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsWord reports whether c is an ASCII letter, a digit or an underscore.
func IsWord(c byte) bool { return IsAlpha(c) || IsDigit(c) || c == '_' }

// HasWord reports whether s contains w without a letter or digit beside it; no text contains
// "".
func HasWord(s, w string) bool {
	for off := 0; w != ""; {
		i := strings.Index(s[off:], w)
		if i < 0 {
			return false
		}
		i += off
		end := i + len(w)
		if (i == 0 || !IsWord(s[i-1])) && (end == len(s) || !IsWord(s[end])) {
			return true
		}
		off = i + 1
	}
	return false
}

// NameLen returns the length of the dotted name at the beginning of s.
func NameLen(s string) int {
	i := 0
	for i < len(s) && (IsWord(s[i]) || s[i] == '.') {
		i++
	}
	return i
}
