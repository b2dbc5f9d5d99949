package rules

import "strings"

// wordSet is a set of lower-case words.
type wordSet map[string]bool

func words(list ...string) wordSet {
	set := make(wordSet, len(list))
	for _, w := range list {
		set[w] = true
	}
	return set
}

func hasAny(list []string, set wordSet) bool {
	for _, w := range list {
		if set[w] {
			return true
		}
	}
	return false
}

// containsAny reports whether s contains one of the phrases.
func containsAny(s string, phrases []string) bool {
	_, ok := findAny(s, phrases)
	return ok
}

// findAny gives the first of the phrases that s contains.
func findAny(s string, phrases []string) (string, bool) {
	for _, p := range phrases {
		if strings.Contains(s, p) {
			return p, true
		}
	}
	return "", false
}

// hasPrefixAny gives the first of the phrases that s starts with.
func hasPrefixAny(s string, phrases []string) (string, bool) {
	for _, p := range phrases {
		if strings.HasPrefix(s, p) {
			return p, true
		}
	}
	return "", false
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWord(c byte) bool  { return isAlpha(c) || isDigit(c) || c == '_' }

// hasWord reports whether s contains w with no letter or digit beside it.
func hasWord(s, w string) bool {
	for off := 0; ; {
		i := strings.Index(s[off:], w)
		if i < 0 {
			return false
		}
		i += off
		end := i + len(w)
		if (i == 0 || !isWord(s[i-1])) && (end == len(s) || !isWord(s[end])) {
			return true
		}
		off = i + 1
	}
}
