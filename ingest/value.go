package ingest

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"memoryd/internal/loosejson"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// laxly decodes foreign JSON into the few members that a reader knows.
var laxly = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

func decode(doc []byte, into any) error { return jsonv2.Unmarshal(doc, into, laxly) }

// secondsOf is the first of some numbers of a unit that is a duration.
func secondsOf(o loosejson.Members, unit float64, names ...string) (d time.Duration) {
	for _, name := range names {
		if n, _ := number(o.At(name)); d == 0 {
			d = seconds(n * unit)
		}
	}
	return d
}

// number is the number that a value is, also as text.
func number(v jsontext.Value) (float64, bool) {
	s := string(v)
	if v.Kind() == '"' {
		s = loosejson.Text(v)
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// timeLayouts are the forms of times beside epochs; those without a zone are UTC.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04:05.999999999Z07:00",
}

// when reads a time in any of the forms that transcripts have: RFC 3339, ISO 8601
// without a zone, and seconds, milliseconds, microseconds or nanoseconds since 1970.
func when(v jsontext.Value) time.Time {
	if v.Kind() == '"' {
		s := loosejson.Text(v)
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
		if inner := jsontext.Value(strings.TrimSpace(loosejson.Text(v))); inner.Kind() == '{' && inner.IsValid(lax...) {
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
		return loosejson.Text(v)
	case '[':
		var parts []string
		for _, b := range loosejson.Elements(v) {
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
		return loosejson.Text(v), true
	}
	b := loosejson.MembersOf(v)
	switch kind := b.Text("type"); {
	case b["text"].Kind() == '"':
		return loosejson.Text(b["text"]), true
	case strings.Contains(kind, "image"), kind == "audio", kind == "document":
		return "[" + kind + "]", true
	}
	return "", false
}
