package compact

import (
	"strings"
)

// hidden stands where a secret was.
const hidden = "[secret]"

// secretPrefixes begin keys that providers hand out.
//
//nolint:gochecknoglobals // a constant table
var secretPrefixes = []string{
	"sk-", "rk_live_", "sk_live_", "pk_live_", "AKIA", "ASIA", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-",
	"AIza", "ya29.", "eyJhbGciOi", "hf_", "npm_", "pypi-", "SG.", "dop_v1_", "-----BEGIN",
}

// secretNames are parts of names whose values are secret.
//
//nolint:gochecknoglobals // a constant table
var secretNames = []string{"password", "passwd", "secret", "api_key", "apikey", "api-key", "access_key", "private_key", "authorization", "auth_token", "access_token", "bearer", "credential"}

// isSecret reports whether a value is a key by its form or by the name it stands
// behind.
func isSecret(label, value string) bool {
	for _, p := range secretPrefixes {
		if strings.HasPrefix(value, p) && len(value) >= len(p)+8 {
			return true
		}
	}
	return secretName(label)
}

func secretName(label string) bool {
	l := strings.ToLower(label)
	for _, n := range secretNames {
		if strings.Contains(l, n) {
			return true
		}
	}
	return false
}

// redactText replaces secrets in a text. A value is what follows a secret name
// and : or =, or anything with the prefix of a known kind of key.
func redactText(s string) string {
	var b strings.Builder
	last, pendingValue := 0, false
	for i := 0; i < len(s); {
		if !wordByte(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && wordByte(s[j]) {
			j++
		}
		w := s[i:j]
		between := strings.Trim(s[last:i], " \t\"'\\")
		switch {
		case isSecret("", w) || pendingValue && !linking(w) && !strings.EqualFold(w, "bearer") && !strings.EqualFold(w, "basic") && (between == ":" || between == "=" || between == ""):
			b.WriteString(s[last:i])
			b.WriteString(hidden)
			pendingValue = false
		case pendingValue && linking(w):
			b.WriteString(s[last:j])
		default:
			pendingValue = secretName(w) || pendingValue && (strings.EqualFold(w, "bearer") || strings.EqualFold(w, "basic"))
			b.WriteString(s[last:j])
		}
		last, i = j, j
	}
	b.WriteString(s[last:])
	return b.String()
}

// linking reports words that stand between a name and its value in prose.
func linking(w string) bool {
	switch strings.ToLower(w) {
	case "is", "was", "to", "equals", "are":
		return true
	}
	return false
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.' || c == '/' || c == '+' || c >= 0x80
}
