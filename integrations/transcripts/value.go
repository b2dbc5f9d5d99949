package transcripts

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// secondsOf is the first of some numbers of a unit that is a duration.
func secondsOf(o loosejson.Members, unit float64, names ...string) (d time.Duration) {
	for _, name := range names {
		if n, _ := loosejson.NumberOf(o.At(name)); d == 0 {
			d = loosejson.Seconds(n * unit)
		}
	}
	return d
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
		return json.RawMessage(loosejson.Quote(string(v)))
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
	return json.RawMessage(loosejson.Quote(string(v)))
}

// objectOf is an object of names and values: a jsontext.Value as it stands, a string
// as a text.
func objectOf(pairs ...any) jsontext.Value {
	b := jsontext.Value{'{'}
	for i, p := range pairs {
		switch v := p.(type) {
		case string:
			b = append(b, loosejson.Quote(v)...)
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
