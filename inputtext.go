package memoryd

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// InputText is the form of a call's input that call_hash is computed from. A string is used
// as it is. An object is JSON with keys sorted at every level by code point, the separators
// ", " and ": ", everything outside printable ASCII as lower-case \uXXXX, integers as they
// are and other numbers in the shortest form that keeps a ".0": what Python's
// json.dumps(value, sort_keys=True) writes, which existing clients use.
//
// Input that is not valid JSON is used as it is.
func InputText(input json.RawMessage) []byte { return appendInputText(nil, input) }

func appendInputText(b []byte, input json.RawMessage) []byte {
	if len(bytes.TrimSpace(input)) == 0 {
		return b
	}
	dec := BorrowDecoder(input)
	defer ReturnDecoder(dec)
	if dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return append(b, input...)
		}
		return append(b, tok.String()...)
	}
	out, err := appendCanonical(slices.Grow(b, len(input)+len(input)/4), dec)
	if err != nil {
		return append(b, input...)
	}
	return out
}

// BorrowDecoder returns a decoder from a pool. It accepts invalid UTF-8 and duplicate names. Give
// it back with ReturnDecoder.
func BorrowDecoder(text []byte) *jsontext.Decoder {
	dec := decoders.Get().(*jsontext.Decoder) //nolint:forcetypeassert // the pool holds nothing else
	dec.Reset(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	return dec
}

// ReturnDecoder puts a borrowed decoder back into the pool.
func ReturnDecoder(dec *jsontext.Decoder) { decoders.Put(dec) }

var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// appendCanonical appends the next value of dec in canonical form.
func appendCanonical(b []byte, dec *jsontext.Decoder) ([]byte, error) {
	switch dec.PeekKind() {
	case '{':
		return appendObject(b, dec)
	case '[':
		return appendArray(b, dec)
	case '"':
		v, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if plain(v[1 : len(v)-1]) {
			return append(b, v...), nil
		}
		s, _ := jsontext.AppendUnquote(nil, v) // with replacements where it is not valid
		return appendString(b, string(s)), nil
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if tok.Kind() == '0' {
		return appendNumber(b, tok.String()), nil
	}
	return append(b, tok.String()...), nil // null, true, false
}

func appendArray(b []byte, dec *jsontext.Decoder) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	b = append(b, '[')
	for first := true; dec.PeekKind() != ']'; first = false {
		if !first {
			b = append(b, ", "...)
		}
		var err error
		if b, err = appendCanonical(b, dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return append(b, ']'), err
}

// member is one key of an object; its name and value in canonical form stand from
// begin to end.
type member struct {
	name       string
	begin, end int
}

func appendObject(b []byte, dec *jsontext.Decoder) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	b = append(b, '{')
	start := len(b)
	var few [8]member
	members, sorted := few[:0], true
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if len(members) > 0 {
			b = append(b, ", "...)
		}
		m := member{name: name.String(), begin: len(b)}
		sorted = sorted && (len(members) == 0 || members[len(members)-1].name <= m.name)
		b = append(appendString(b, m.name), ": "...)
		if b, err = appendCanonical(b, dec); err != nil {
			return nil, err
		}
		m.end = len(b)
		members = append(members, m)
	}
	if !sorted {
		// UTF-8 sorts by bytes as by code points.
		slices.SortStableFunc(members, func(x, y member) int { return strings.Compare(x.name, y.name) })
		asWritten := bytes.Clone(b[start:])
		b = b[:start]
		for i, m := range members {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(b, asWritten[m.begin-start:m.end-start]...)
		}
	}
	_, err := dec.ReadToken()
	return append(b, '}'), err
}

const hexDigits = "0123456789abcdef"

// shortEscapes are the control characters with an escape of their own.
var shortEscapes = [...]struct{ char, letter byte }{
	{'"', '"'}, {'\\', '\\'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}, {'\b', 'b'}, {'\f', 'f'},
}

// plain reports whether a text stands for itself in canonical form.
func plain(s []byte) bool {
	return !slices.ContainsFunc(s, func(c byte) bool { return c < ' ' || c > '~' || c == '\\' || c == '"' })
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~' && r != '"' && r != '\\':
			b = append(b, byte(r))
		case r > 0xFFFF:
			r -= 0x10000
			b = appendUnicode(b, 0xD800+(r>>10))
			b = appendUnicode(b, 0xDC00+(r&0x3FF))
		default:
			b = appendEscape(b, r)
		}
	}
	return append(b, '"')
}

func appendEscape(b []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		for _, e := range shortEscapes {
			if rune(e.char) == r {
				return append(b, '\\', e.letter)
			}
		}
	}
	return appendUnicode(b, r)
}

func appendUnicode(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// appendNumber writes an integer as it stands and any other number as Python's
// repr of the nearest double does: fixed notation for exponents from -4 to 15,
// scientific outside.
func appendNumber(b []byte, lit string) []byte {
	if !strings.ContainsAny(lit, ".eE") {
		if lit == "-0" {
			lit = "0"
		}
		return append(b, lit...)
	}
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil && !math.IsInf(f, 0) {
		return append(b, lit...)
	}
	if math.IsInf(f, 0) {
		return append(b, strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+")+"inity"...)
	}
	sci := strconv.FormatFloat(f, 'e', -1, 64)
	exp, _ := strconv.Atoi(sci[strings.IndexByte(sci, 'e')+1:])
	if f != 0 && (exp < -4 || exp >= 16) {
		return append(b, sci...)
	}
	fixed := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(fixed, ".") {
		fixed += ".0"
	}
	return append(b, fixed...)
}
