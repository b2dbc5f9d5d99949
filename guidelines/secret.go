package guidelines

import (
	"regexp"
	"strings"
	"unicode"
)

// secretForms are keys and tokens that can be told by their shape.
var secretForms = regexp.MustCompile(strings.Join([]string{
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`,
	`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,
	`\bgh[pousr]_[A-Za-z0-9]{16,}`,
	`\bgithub_pat_[A-Za-z0-9_]{16,}`,
	`\bglpat-[A-Za-z0-9_-]{16,}`,
	`\b[sr]k[-_][A-Za-z0-9_-]{16,}`,
	`\bxox[abprs]-[A-Za-z0-9-]{10,}`,
	`\bAIza[0-9A-Za-z_-]{30,}`,
	`\bhf_[A-Za-z0-9]{20,}`,
	`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`,
	`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}`,
}, "|"))

// assignedSecret is a secret that its name gives away.
var assignedSecret = regexp.MustCompile(
	`(?i)((?:pass(?:word|wd|phrase)?|secret|api[_-]?key|access[_-]?key|auth(?:orization)?|token|credential|cookie|session)["']?\s*[:=]\s*["']?)[^\s"',;&]{4,}`)

var longRun = regexp.MustCompile(`[A-Za-z0-9+/_=-]{28,}`)

// sensitiveName is a parameter whose values are never shown.
var sensitiveName = regexp.MustCompile(`(?i)pass(?:word|wd|phrase)?|secret|api[_-]?key|access[_-]?key|authori[sz]ation|token|credential|cookie|private|ssn|pin$`)

const redacted = "[secret]"

// maskSecrets replaces what looks like a key, a token or a password.
func maskSecrets(s string) string {
	s = secretForms.ReplaceAllString(s, redacted)
	s = assignedSecret.ReplaceAllString(s, "${1}"+redacted)
	return longRun.ReplaceAllStringFunc(s, func(run string) string {
		if random(run) {
			return redacted
		}
		return run
	})
}

// hasSecret reports whether maskSecrets would change s.
func hasSecret(s string) bool { return maskSecrets(s) != s }

// random reports whether a long run mixes lower case, upper case and digits the
// way encoded random bytes do, or is long hexadecimal.
func random(run string) bool {
	lower, upper, digit, hex := 0, 0, 0, 0
	for _, r := range run {
		switch {
		case unicode.IsDigit(r):
			digit++
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			lower++
		}
		if strings.ContainsRune("0123456789abcdefABCDEF", r) {
			hex++
		}
	}
	return lower > 2 && upper > 2 && digit > 2 || hex == len(run) && digit > 4
}
