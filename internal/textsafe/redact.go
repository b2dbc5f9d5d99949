package textsafe

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
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

// Strict redacts a text that is sent away: it also replaces long runs that look random.
func (r *Redactor) Strict(s string) string { return replace(r.plain(s), scanRandom, r.secret) }

func (r *Redactor) plain(s string) string {
	s = replace(s, scan, r.secret)
	if r.Personal {
		return r.personal(s)
	}
	return s
}

// JSON redacts valid JSON: its texts, the values of members with a telling name, and names.
// Everything else keeps its bytes.
func (r *Redactor) JSON(v []byte) []byte {
	if s := string(v); r.Personal || veiled(s) || HasSecret(s) {
		return r.members(v)
	}
	return v
}

// veils are signs that JSON may hold secrets that only its reading shows: escaped characters,
// or a name and its value in two members.
var veils = []string{`\u00`, `\/`, `value"`, `Value"`, `value\`, `" :`}

func veiled(s string) bool {
	return slices.ContainsFunc(veils, func(sign string) bool { return strings.Contains(s, sign) })
}

// members is JSON, always read.
func (r *Redactor) members(v []byte) []byte {
	var out []byte // nil while nothing changed
	done := 0      // how much of v is in out
	name, label := "", ""
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for kind := dec.PeekKind(); kind != 0; kind = dec.PeekKind() {
		if kind != '"' && kind != '0' {
			if _, err := dec.ReadToken(); err != nil {
				break
			}
			switch kind {
			case '{':
				name = ""
			case '}':
				name, label = "", ""
			}
			continue
		}
		raw, err := dec.ReadValue()
		if err != nil && len(raw) == 0 {
			break
		}
		text, to := string(raw), int(dec.InputOffset())
		if kind == '"' {
			unquoted, _ := jsontext.AppendUnquote(nil, raw) // what is no UTF-8 stands as it is read
			text = string(unquoted)
		}
		of, n := dec.StackIndex(dec.StackDepth())
		masked := text
		switch {
		case of == '{' && n%2 == 1:
			name, masked = text, r.plain(text)
		case kind == '0':
			if k := kindOf(name); k.ofNumbers() && k.holds(text, aSign) {
				masked = r.secret(kindNames[k], text)
			}
		case label != "" && strings.EqualFold(name, "value"):
			masked = r.value(label, text)
		default:
			masked = r.value(name, text)
			if labels.MatchString(name) {
				label = text
			}
		}
		if masked != text {
			out = append(out, v[done:to-len(raw)]...)
			out, _ = jsontext.AppendQuote(out, strings.ToValidUTF8(masked, "\uFFFD"))
			done = to
		}
	}
	if out == nil {
		return v
	}
	return append(out, v[done:]...)
}

// labels are members that name what the member "value" beside them holds.
var labels = regexp.MustCompile(`^(?i:name|key|header|variable|env|field)$`)

// identifying members tell runs and calls apart: such a value looks random and is none.
var identifying = regexp.MustCompile(`^(?:tool_call|trajectory|session|agent|call|run|trace|conversation)_id$`)

// value redacts the value of a member.
func (r *Redactor) value(name, v string) string {
	if v == "" || identifying.MatchString(name) {
		return r.plain(v)
	}
	if kind := kindOf(name); kind != noName && !strings.Contains(v, "[secret") && kind.holds(v, aSign) {
		return r.secret(kindNames[kind], v)
	}
	return r.Text(v)
}

func (r *Redactor) secret(kind, secret string) string { return r.mark("secret:"+kind, secret) }

// placeholders are those of secrets.
var placeholders = regexp.MustCompile(`^\[secret:[a-z_]{1,20}(?::[0-9a-f]{10})?\]`)

func (r *Redactor) mark(kind, value string) string {
	if len(r.Key) == 0 {
		return "[" + kind + "]"
	}
	h := hmac.New(sha256.New, r.Key)
	h.Write([]byte(value))
	return "[" + kind + ":" + hex.EncodeToString(h.Sum(nil)[:5]) + "]"
}

// Forms of personal data.
var (
	notDigits = regexp.MustCompile(`\D+`)
	emailForm = regexp.MustCompile(`[A-Za-z0-9._%+\-]{1,64}@(?:[A-Za-z0-9\-]{1,63}\.)+[A-Za-z]{2,24}`)
	cardForm  = regexp.MustCompile(`\b[2-6]\d{3}(?:[ \-]?\d){9,15}\b`)
	phoneForm = regexp.MustCompile(`\+\d{1,3}[ .\-]?(?:\(\d{1,4}\)[ .\-]?)?\d(?:[ .\-]?\d){6,12}\b|\(\d{3}\) ?\d{3}[ .\-]\d{4}\b|\b\d{3}[.\-]\d{3}[.\-]\d{4}\b`)
)

func (r *Redactor) personal(s string) string {
	if strings.IndexByte(s, '@') >= 0 {
		s = emailForm.ReplaceAllStringFunc(s, func(m string) string { return r.mark("email", strings.ToLower(m)) })
	}
	s = cardForm.ReplaceAllStringFunc(s, func(m string) string {
		if digits := notDigits.ReplaceAllString(m, ""); luhn(digits) {
			return r.mark("card", digits)
		}
		return m
	})
	return phoneForm.ReplaceAllStringFunc(s, func(m string) string { return r.mark("phone", notDigits.ReplaceAllString(m, "")) })
}

// luhn checks the last digit of a card's number.
func luhn(digits string) bool {
	const doubled = "0246813579"
	sum := 0
	for i := range len(digits) {
		d := digits[len(digits)-1-i]
		if i%2 == 1 {
			d = doubled[d-'0']
		}
		sum += int(d - '0')
	}
	return len(digits) >= 13 && len(digits) <= 19 && sum%10 == 0
}
