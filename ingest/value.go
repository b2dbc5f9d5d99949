package ingest

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// laxly decodes foreign JSON into the few members that a reader knows.
var laxly = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

func decode(doc []byte, into any) error { return jsonv2.Unmarshal(doc, into, laxly) }

// str is a text, or a number as text; anything else is "".
type str string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *str) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if k := v.Kind(); err == nil && k == '0' {
		*s = str(v)
	} else if err == nil {
		*s = str(text(v))
	}
	return err
}

// listOf is an array; anything else is empty, and so is an element of another shape.
type listOf[T any] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *listOf[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		var one T
		_ = decode(v, &one) // what does not fit is left out, not the rest with it
		*l = append(*l, one)
	}
	_, err := dec.ReadToken()
	return err
}

// object is a member that holds a T; anything else leaves it empty.
type object[T any] struct {
	is    T
	given bool
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *object[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err == nil && v.Kind() == '{' {
		o.given = decode(v, &o.is) == nil
	}
	return err
}

// text is the text of a JSON string; "" of anything else.
func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	b, _ := jsontext.AppendUnquote(nil, v) // with replacements where it is not valid
	return string(b)
}

// number is the number that a value is, also as text.
func number(v jsontext.Value) (float64, bool) {
	s := string(v)
	if v.Kind() == '"' {
		s = text(v)
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// truth is what a boolean says, also as text; ok is false for all else.
func truth(v jsontext.Value) (is, ok bool) {
	switch s := string(v); {
	case s == "true" || strings.EqualFold(text(v), "true"):
		return true, true
	case s == "false" || strings.EqualFold(text(v), "false"):
		return false, true
	}
	return false, false
}

// there reports whether a member is given and not null.
func there(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

// timeLayouts are the forms of times beside epochs; those without a zone are UTC.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"}

// when reads a time in any of the forms that transcripts have: RFC 3339, ISO 8601
// without a zone, and seconds, milliseconds, microseconds or nanoseconds since 1970.
func when(v jsontext.Value) time.Time {
	if v.Kind() == '"' {
		s := text(v)
		for _, layout := range timeLayouts {
			if t, err := time.Parse(layout, s); err == nil {
				return t
			}
		}
	}
	digits := strings.Trim(string(v), `"`)
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && len(digits) == 19 {
		return time.Unix(0, n).UTC() // exactly, as a float could not
	}
	f, ok := number(v)
	for ; ok && f >= 1e11; f /= 1e3 {
		if f > 1e20 {
			return time.Time{}
		}
	}
	if !ok || f < 1e8 {
		return time.Time{}
	}
	whole, part := math.Modf(f)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}

// seconds is a number of seconds as a duration; out of all bounds it is 0.
func seconds(f float64) time.Duration {
	if !(f > 0 && f < 1e7) {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

// input is a call's input as it is recorded: the object, an object that a text
// holds, or the text itself.
func input(v jsontext.Value) json.RawMessage {
	switch v.Kind() {
	case '{':
		return sound(v)
	case '"':
		if inner := jsontext.Value(strings.TrimSpace(text(v))); inner.Kind() == '{' && inner.IsValid(lax...) {
			return sound(inner)
		}
		return sound(v)
	case '[', '0', 't', 'f':
		return quote(string(v))
	}
	return nil
}

// sound keeps a value as it was written where that is valid by itself.
func sound(v jsontext.Value) json.RawMessage {
	if v.IsValid() {
		v = bytes.Clone(v)
		if bytes.IndexByte(v, '\n') >= 0 { // of a file that was laid out for people
			_ = v.Compact() // it is valid
		}
		return json.RawMessage(v)
	}
	return quote(strings.ToValidUTF8(string(v), "\uFFFD"))
}

func quote(s string) json.RawMessage {
	b, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}

// join is an array of values.
func join(values []jsontext.Value) jsontext.Value {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}

// objectOf is an object of names and values: a jsontext.Value as it stands, a string
// as a text.
func objectOf(pairs ...any) jsontext.Value {
	b := jsontext.Value{'{'}
	for i, p := range pairs {
		switch v := p.(type) {
		case string:
			b = append(b, quote(v)...)
		case str:
			b = append(b, quote(string(v))...)
		case jsontext.Value:
			b = append(b, v...)
		}
		if i%2 == 0 {
			b = append(b, ':')
		} else if i+1 < len(pairs) {
			b = append(b, ',')
		}
	}
	return append(b, '}')
}

// contentText is the text of what a tool returned, in the shapes of the protocols: a
// text, a list of blocks with texts, an object as it stands.
func contentText(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return text(v)
	case '[':
		var blocks listOf[jsontext.Value]
		if decode(v, &blocks) != nil {
			return string(v)
		}
		var parts []string
		for _, b := range blocks {
			if t, ok := blockText(b); ok {
				parts = append(parts, t)
				continue
			}
			return string(v) // a list of something else is the tool's own data
		}
		return strings.Join(parts, "\n")
	case 'n', 0:
		return ""
	}
	return string(v)
}

// blockText is the text of one block of content.
func blockText(v jsontext.Value) (string, bool) {
	if v.Kind() == '"' {
		return text(v), true
	}
	var b struct {
		Type str            `json:"type"`
		Text jsontext.Value `json:"text"`
	}
	if v.Kind() != '{' || decode(v, &b) != nil {
		return "", false
	}
	switch {
	case b.Text.Kind() == '"':
		return text(b.Text), true
	case strings.Contains(string(b.Type), "image"), b.Type == "audio", b.Type == "document":
		return "[" + string(b.Type) + "]", true
	}
	return "", false
}
