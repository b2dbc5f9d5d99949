package loosejson

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var laxly = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Members are those of a foreign JSON object. Paths find them: names with dots, alternatives with
// bars; * is the only member of an object, and # its name.
type Members map[string]jsontext.Value

// ParseMembers reads a document.
func ParseMembers(doc []byte) (o Members, err error) {
	err = Decode(doc, &o)
	return o, err
}

// MembersOf are those of an object; anything else has no members.
func MembersOf(v jsontext.Value) Members {
	if v.Kind() != '{' {
		return nil
	}
	o, err := ParseMembers(v)
	if err != nil {
		return nil
	}
	return o
}

// At is what a path leads to; nothing where it leads nowhere, or to null.
func (o Members) At(path string) jsontext.Value {
	for way := range strings.SplitSeq(path, "|") {
		name, rest, deeper := strings.Cut(way, ".")
		v := o.member(name)
		if deeper {
			v = MembersOf(v).At(rest)
		}
		if There(v) {
			return v
		}
	}
	return nil
}

func (o Members) member(name string) jsontext.Value {
	if name != "*" && name != "#" {
		return o[name]
	}
	if len(o) == 1 {
		for key, m := range o {
			if name == "*" {
				return m
			}
			return Quote(key)
		}
	}
	return nil
}

// Text is the first text or number that is not empty.
func (o Members) Text(path string) string {
	for way := range strings.SplitSeq(path, "|") {
		if s := TextOf(o.At(way)); s != "" {
			return s
		}
	}
	return ""
}

// Is reports whether a member is true.
func (o Members) Is(path string) bool {
	yes, _ := Truth(o.At(path))
	return yes
}

// Elements is the elements of an array; anything else has none.
func Elements(v jsontext.Value) (elements []jsontext.Value) {
	if v.Kind() != '[' || json.Unmarshal(v, &elements, laxly) != nil {
		return nil
	}
	return elements
}

// Objects is the elements of an array as objects.
func Objects(v jsontext.Value) (all []Members) {
	for _, e := range Elements(v) {
		all = append(all, MembersOf(e))
	}
	return all
}

// TextOf is a text, or a number as one.
func TextOf(v jsontext.Value) string {
	if v.Kind() == '0' {
		return string(v)
	}
	return Text(v)
}

// Text is the text of a JSON string; "" of anything else.
func Text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	if v = bytes.TrimSpace(v); bytes.IndexByte(v, '\\') < 0 && utf8.Valid(v) {
		return string(v[1 : len(v)-1]) // it stands there as it is
	}
	b, _ := jsontext.AppendUnquote(make([]byte, 0, len(v)), v) // with replacements where it is not valid
	return string(b)
}

// Truth is what a boolean says, also as text; ok is false for all else.
func Truth(v jsontext.Value) (is, ok bool) {
	switch strings.ToLower(strings.Trim(string(v), `"`)) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// There reports whether a member is given and not null.
func There(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

// Place is where the value of an object's member stands. Of several members of that name it
// takes the last, as JSON readers do. ok is false where there is none.
func Place(object []byte, name string) (from, to int, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(object), laxly)
	_ = Walk(dec, func(key string) error { // what stands before a mistake counts
		v, err := dec.ReadValue()
		if err == nil && key == name {
			to, ok = int(dec.InputOffset()), true
			from = to - len(v)
		}
		return err
	})
	return from, to, ok
}

// Walk goes through the object or the array that dec is before. It calls read before each value,
// which read takes from dec; in an array there are no names.
func Walk(dec *jsontext.Decoder, read func(name string) error) error {
	open, err := dec.ReadToken()
	if err != nil {
		return err
	}
	object := open.Kind() == '{'
	for kind := dec.PeekKind(); kind != '}' && kind != ']'; kind = dec.PeekKind() {
		name := ""
		if object {
			key, err := dec.ReadToken()
			if err != nil {
				return err
			}
			name = key.String()
		}
		if err := read(name); err != nil {
			return err
		}
	}
	_, err = dec.ReadToken()
	return err
}
