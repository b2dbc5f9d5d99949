package textsafe

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Redactor removes secrets from what will be stored. It replaces each by
// "[secret:TYPE:HASH]". HASH is keyed: without the key nobody can tell what was there, but
// equal secrets have equal placeholders, so repeated and copied values remain recognisable.
// With Personal, e-mail addresses, telephone numbers and card numbers become "[email:HASH]",
// "[phone:HASH]" and "[card:HASH]". Redacting twice changes nothing.
type Redactor struct {
	// Key is the key of the hashes; without one, placeholders have no hash.
	Key []byte
	// Personal also removes personal data.
	Personal bool
}

// Text redacts a text. If it is JSON, it is also redacted as JSON where that finds more.
func (r *Redactor) Text(s string) string {
	if len(s) > 1 && (s[0] == '{' || s[0] == '[') && veiled(s) && json.Valid([]byte(s)) {
		return string(r.members([]byte(s)))
	}
	return r.plain(s)
}

func (r *Redactor) plain(s string) string {
	s = replace(s, r.secret)
	if r.Personal {
		s = r.personal(s)
	}
	return s
}

// JSON redacts valid JSON: its texts, the values of members with a telling name, and names.
// Everything else keeps its bytes.
func (r *Redactor) JSON(v []byte) []byte {
	s := string(v)
	if !r.Personal && !veiled(s) && !HasSecret(s) && !hasTellTale(s) {
		return v
	}
	return r.members(v)
}

// veiled reports whether JSON may hold secrets that only its reading shows:
// escaped characters, or a name and its value in two members.
func veiled(s string) bool {
	return strings.Contains(s, `\u00`) || strings.Contains(s, `\/`) || strings.Contains(s, `value"`) || strings.Contains(s, `Value"`) || strings.Contains(s, `value\`) || strings.Contains(s, `" :`)
}

// members is JSON, always read.
func (r *Redactor) members(v []byte) []byte {
	w := jsonWalk{r: r, in: v}
	w.run()
	if w.out == nil {
		return v
	}
	return append(w.out, v[w.done:]...)
}

// jsonWalk goes over the tokens of valid JSON.
type jsonWalk struct {
	r    *Redactor
	in   []byte
	out  []byte // nil while nothing changed
	done int    // how much of in is in out

	name  string // of the member whose value is read
	label string // the last value of a member "name" or the like
}

func (w *jsonWalk) run() {
	for i := 0; i < len(w.in); {
		switch c := w.in[i]; {
		case c == '"':
			i = w.text(i)
		case c == '-' || isDigit(c):
			n := span(string(w.in[i:min(i+40, len(w.in))]), func(c byte) bool { return isDigit(c) || strings.IndexByte("+-.eE", c) >= 0 })
			if number := string(w.in[i : i+n]); n >= 3 && n < 40 && secretNumber(w.name) {
				w.put(i, i+n, w.r.secret(kindPassword, number))
			}
			i += max(n, 1)
		case c == '{' || c == '}':
			w.name = ""
			if c == '}' {
				w.label = ""
			}
			i++
		default:
			i++
		}
	}
}

// text reads the string that begins at i and says where it ends.
func (w *jsonWalk) text(i int) int {
	end := i + 1
	for end < len(w.in) && w.in[end] != '"' {
		if w.in[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end+1, len(w.in))
	var s string
	if raw := w.in[i:end]; bytes.IndexByte(raw, '\\') < 0 && len(raw) > 1 {
		s = string(raw[1 : len(raw)-1])
	} else if json.Unmarshal(raw, &s) != nil {
		return end
	}
	next := end
	for next < len(w.in) && w.in[next] <= ' ' {
		next++
	}
	masked := ""
	if next < len(w.in) && w.in[next] == ':' {
		w.name = s
		masked = w.r.plain(s)
	} else {
		masked = w.r.value(w.named(), s)
		switch strings.ToLower(w.name) {
		case "name", "key", "header", "variable", "env", "field":
			w.label = s
		}
	}
	if masked != s {
		w.put(i, end, masked)
	}
	return end
}

// named is the name that the value which is read has: of its member, or, for the
// member "value", of the member before that tells it.
func (w *jsonWalk) named() string {
	if w.label != "" && strings.EqualFold(w.name, "value") {
		return w.label
	}
	return w.name
}

func (w *jsonWalk) put(from, to int, text string) {
	w.out = append(w.out, w.in[w.done:from]...)
	quoted, err := jsontext.AppendQuote(w.out, text)
	if err != nil { // it is not UTF-8
		quoted, _ = jsontext.AppendQuote(w.out, strings.ToValidUTF8(text, "\uFFFD")) // it is now
	}
	w.out, w.done = quoted, to
}

// value redacts the value of a member.
func (r *Redactor) value(name, v string) string {
	if identifies(name) || v == "" {
		return r.plain(v)
	}
	kind := kindOf(name)
	if kind == schemeName {
		kind = softName
	}
	switch {
	case kind != noName && !strings.Contains(v, "[secret") && secretValue(v, kind, signBetween, true, ""):
		return r.secret(kind.kind(), v)
	case secretNumber(name) && span(v, isDigit) == len(v) && len(v) > 2:
		return r.secret(kindPassword, v)
	}
	return r.Text(v)
}

// identifies reports names of what tells runs and calls apart: such a value looks
// random and is none.
func identifies(name string) bool {
	switch name {
	case "tool_call_id", "trajectory_id", "session_id", "agent_id", "call_id", "run_id", "trace_id", "conversation_id":
		return true
	}
	return false
}

// secretNumber reports whether a number behind that name is a secret.
func secretNumber(name string) bool {
	if name == "" || kindOf(name) == loudName {
		return name != ""
	}
	secret := false
	components(name, func(c string) bool {
		switch c {
		case "pin", "cvv", "cvc", "otp", "ssn", "passcode":
			secret = true
		}
		return !secret
	})
	return secret
}

// hasTellTale reports whether a member of the JSON has a name whose value is
// secret whatever it looks like.
func hasTellTale(s string) bool {
	for i := 0; i < len(s); i++ {
		colon := strings.Index(s[i:], `":`)
		if colon < 0 {
			return false
		}
		i += colon
		name := s[strings.LastIndexByte(s[:i], '"')+1 : i]
		if len(name) <= 64 && secretNumber(name) {
			return true
		}
	}
	return false
}

func (r *Redactor) secret(kind, secret string) string { return r.mark("secret:"+kind, secret) }

// placeholderAt is the length of the placeholder of a secret that s begins with, 0
// where it begins with none.
func placeholderAt(s string) int {
	const head = "[secret:"
	if !strings.HasPrefix(s, head) {
		return 0
	}
	n := len(head) + span(s[len(head):], func(c byte) bool { return isLower(c) || c == '_' })
	if n < len(s) && s[n] == ':' {
		digits := span(s[n+1:], inHex)
		if digits != 2*hashBytes {
			return 0
		}
		n += 1 + digits
	}
	if n < len(s) && s[n] == ']' && n < len(head)+32 {
		return n + 1
	}
	return 0
}

// hashBytes is how much of a hash a placeholder shows: two different secrets of
// one installation hardly ever share it.
const hashBytes = 5

func (r *Redactor) mark(kind, value string) string {
	if len(r.Key) == 0 {
		return "[" + kind + "]"
	}
	h := hmac.New(sha256.New, r.Key)
	h.Write([]byte(value))
	return "[" + kind + ":" + hex.EncodeToString(h.Sum(nil)[:hashBytes]) + "]"
}

// Forms of personal data.
var (
	emailForm = regexp.MustCompile(`[A-Za-z0-9._%+\-]{1,64}@(?:[A-Za-z0-9\-]{1,63}\.)+[A-Za-z]{2,24}`)
	cardForm  = regexp.MustCompile(`\b[2-6]\d{3}(?:[ \-]?\d){9,15}\b`)
	phoneForm = regexp.MustCompile(`\+\d{1,3}[ .\-]?(?:\(\d{1,4}\)[ .\-]?)?\d(?:[ .\-]?\d){6,12}\b|\(\d{3}\) ?\d{3}[ .\-]\d{4}\b|\b\d{3}[.\-]\d{3}[.\-]\d{4}\b`)
)

func (r *Redactor) personal(s string) string {
	if strings.IndexByte(s, '@') >= 0 {
		s = emailForm.ReplaceAllStringFunc(s, func(m string) string { return r.mark("email", strings.ToLower(m)) })
	}
	s = cardForm.ReplaceAllStringFunc(s, func(m string) string {
		if digits := onlyDigits(m); luhn(digits) {
			return r.mark("card", digits)
		}
		return m
	})
	return phoneForm.ReplaceAllStringFunc(s, func(m string) string { return r.mark("phone", onlyDigits(m)) })
}

func onlyDigits(s string) string {
	return strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, s)
}

// luhn checks the last digit of a card's number.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return len(digits) >= 13 && len(digits) <= 19 && sum%10 == 0
}
