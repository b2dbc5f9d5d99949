package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The placeholders of a template.
const (
	maskNumber = "N"
	maskID     = "ID"
	maskPath   = "PATH"
	maskURL    = "URL"
	maskQuoted = "'…'"
	maskAny    = "…"
)

// maxTokens bounds the tokens of a template.
const maxTokens = 40

// piece is one token of a message: as it stands and with its variable part
// masked.
type piece struct{ raw, mask string }

// pieces cuts a message at white space, keeping a short quoted text in one
// piece, and masks numbers, identifiers, paths, addresses and quoted texts. That
// is the preprocessing of Drain (He, Zhu, Zheng and Lyu, "Drain: an online log
// parsing approach with fixed depth tree", ICWS 2017).
func pieces(message string) []piece {
	var ps []piece
	for rest := strings.TrimSpace(message); rest != "" && len(ps) < maxTokens; rest = strings.TrimSpace(rest) {
		n := quotedEnd(rest)
		if n == 0 {
			n = strings.IndexFunc(rest, unicode.IsSpace)
		}
		if n <= 0 {
			n = len(rest)
		}
		ps = append(ps, piece{rest[:n], mask(rest[:n])})
		rest = rest[n:]
	}
	return ps
}

// quotedEnd is where a token that starts with a quoted text ends, 0 when s does
// not start with one.
func quotedEnd(s string) int {
	open, size := utf8.DecodeRuneInString(s)
	var closing string
	switch open {
	case '\'', '"':
		closing = s[:1]
	case '`':
		closing = "`'"
	case '‘':
		closing = "’"
	case '“':
		closing = "”"
	default:
		return 0
	}
	end := strings.IndexAny(s[size:min(len(s), 120)], closing)
	if end < 0 {
		return 0
	}
	end += size
	_, size = utf8.DecodeRuneInString(s[end:])
	end += size
	if space := strings.IndexFunc(s[end:], unicode.IsSpace); space >= 0 {
		return end + space
	}
	return len(s)
}

// mask replaces the variable part of a token, keeping the punctuation around it.
func mask(token string) string {
	const open, closing = `([{<="'` + "`", `)]}>"'` + "`.,;:!?"
	core := strings.TrimLeft(token, open)
	before := token[:len(token)-len(core)]
	core = strings.TrimRight(core, closing)
	after := token[len(before)+len(core):]
	if strings.ContainsAny(before, "\"'`") && strings.ContainsAny(after, "\"'`") {
		return strings.TrimRight(before, "\"'`") + maskQuoted + strings.TrimLeft(after, "\"'`")
	}
	if name, value, ok := strings.Cut(core, "="); ok && name != "" && value != "" {
		return before + name + "=" + maskCore(value) + after
	}
	return before + maskCore(core) + after
}

func maskCore(core string) string {
	if core == "" {
		return ""
	}
	letters, digits, hex := 0, 0, true
	for _, r := range core {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			hex = hex && strings.ContainsRune("abcdefABCDEF", r)
		}
	}
	switch {
	case strings.Contains(core, "://"):
		return maskURL
	case strings.ContainsRune("/~", rune(core[0])) && len(core) > 1 || strings.Count(core, "/") > 1 ||
		strings.HasPrefix(core, "./") || len(core) > 2 && core[1:3] == `:\`:
		return maskPath
	case strings.Contains(core, "@"):
		return maskID
	case digits > 0 && letters <= 3 && strings.IndexFunc(core, unicode.IsDigit) <= strings.IndexFunc(core+"a", unicode.IsLetter):
		return maskNumber
	case digits > 0, letters >= 8 && hex:
		return maskID
	}
	return core
}
