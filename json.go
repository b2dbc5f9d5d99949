package memoryd

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// callText is how the text of a call is read: texts of tools may hold anything.
// A repeated name is found where the members are read.
var callText = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// maxBuffer bounds a buffer that is kept to be used again.
const maxBuffer = 64 << 10

// raw is any JSON value as it was sent.
type raw jsontext.Value

// field is a member of an object that may be given once.
type field[T any] struct {
	value T
	given bool
}

func (m *field[T]) or(otherwise T) T {
	if m.given {
		return m.value
	}
	return otherwise
}

// there reports whether a member was given and is not null.
func (m *field[T]) there() bool {
	v, ok := any(&m.value).(*raw)
	return m.given && (!ok || jsontext.Value(*v).Kind() != 'n')
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *field[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	switch {
	case err != nil:
		return err
	case m.given:
		return NewFault("duplicate_key", "Field given twice", nil)
	}
	m.given = true
	return convert(v, &m.value, true)
}

// longText is a field of a text that may be long and is unescaped in a buffer.
type longText struct {
	field[string]
	buffer *[]byte
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *longText) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if m.given || dec.PeekKind() != '"' {
		return m.field.UnmarshalJSONFrom(dec)
	}
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	m.given = true
	if bytes.IndexByte(v, '\\') < 0 {
		m.value = string(v[1 : len(v)-1])
		return nil
	}
	*m.buffer, _ = jsontext.AppendUnquote((*m.buffer)[:0], v) // see Unquote
	m.value = string(*m.buffer)
	return nil
}

// ReadJSON reads the next value of dec, which must have the type of into: a string, bool,
// float64 or int64, or a jsontext.Value of any type. null never matches. The error is a
// *Fault, or the decoder's.
func ReadJSON(dec *jsontext.Decoder, into any) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	return convert(v, into, false)
}

// convert takes a value as the type of into. Where the reader is lenient, a string
// that stands for a number or a boolean is taken as such, as the documented clients'
// server does.
func convert(v jsontext.Value, into any, lenient bool) error {
	switch into := into.(type) {
	case *string:
		if v.Kind() != '"' {
			return NewFault("string_type", "Input should be a valid string", v)
		}
		*into = Unquote(v)
		return nil
	case *raw:
		*into = raw(v.Clone())
		return nil
	case *jsontext.Value:
		*into = v.Clone()
		return nil
	}
	bare, quoted := v, lenient && v.Kind() == '"'
	if quoted {
		bare = jsontext.Value(strings.TrimSpace(Unquote(v)))
		if bare.Kind() == '0' && !bare.IsValid() {
			bare = v // digits, but no number
		}
	}
	switch into := into.(type) {
	case *bool:
		given, ok := boolean(bare, quoted)
		if !ok {
			return NewFault("bool_type", "Input should be a valid boolean", v)
		}
		*into = given
	case *float64:
		f, err := strconv.ParseFloat(string(bare), 64)
		switch {
		case bare.Kind() != '0':
			return NewFault("float_type", "Input should be a valid number", v)
		case err != nil:
			return NewFault("float_type", "Input should be a finite number", v)
		}
		*into = f
	case *int64:
		n, ok := wholeNumber(bare)
		if !ok {
			return NewFault("int_type", "Input should be a valid integer", v)
		}
		*into = n
	}
	return nil
}

// Unquote returns the text of a JSON string.
func Unquote(v jsontext.Value) string {
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	s, _ := jsontext.AppendUnquote(make([]byte, 0, len(v)), v) // the decoder has checked its syntax; a lone surrogate becomes U+FFFD
	return string(s)
}

// boolean reads a boolean; what stood in quotes may also be another word that
// pydantic takes for one.
func boolean(v jsontext.Value, quoted bool) (value, ok bool) {
	word := string(v)
	if quoted {
		word = strings.ToLower(word)
	}
	switch word {
	case "true":
		return true, true
	case "false":
		return false, true
	case "1", "yes", "y", "on", "t":
		return true, quoted
	case "0", "no", "n", "off", "f":
		return false, quoted
	}
	return false, false
}

// wholeNumber reads a number without a fraction, also when it is written with a
// point, as JavaScript and Python do for values that were floats.
func wholeNumber(v jsontext.Value) (int64, bool) {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil && v.Kind() == '0' {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || v.Kind() != '0' || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// MaxJSONDepth limits the nesting of inputs and metadata. It is far beyond what real calls use, and
// low enough that other JSON parsers can read answers that contain them.
const MaxJSONDepth = 512

// sound keeps a value as it was sent. Only escaped lone surrogates change: no
// valid JSON text can carry them on.
func sound(v raw, name string) (jsontext.Value, error) {
	value := jsontext.Value(v)
	if JSONDepth(value) > MaxJSONDepth {
		return nil, NewFault("too_deep", fmt.Sprintf("nested deeper than %d levels", MaxJSONDepth), nil, name)
	}
	if value.IsValid() {
		return value, nil
	}
	if err := value.Format(jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(false)); err != nil {
		fault := FaultOf(err, 0)
		if se, ok := errors.AsType[*jsontext.SyntacticError](err); ok && fault.Code == "duplicate_key" {
			fault.Msg = fmt.Sprintf("the name at %q occurs twice", se.JSONPointer)
		}
		fault.Loc, fault.Broken = []any{name}, false
		return nil, fault
	}
	return jsontext.Value(bytes.ToValidUTF8(value, []byte(string(utf8.RuneError)))), nil
}

// JSONDepth returns the nesting depth of valid JSON.
func JSONDepth(v jsontext.Value) int {
	depth, deepest := 0, 0
	inText, escaped := false, false
	for _, c := range v {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped = c == '\\'
			inText = c != '"'
		case c == '"':
			inText = true
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
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
	keys, sorted := few[:0], true
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if len(keys) > 0 {
			b = append(b, ", "...)
		}
		m := member{name: name.String(), begin: len(b)}
		sorted = sorted && (len(keys) == 0 || keys[len(keys)-1].name <= m.name)
		b = append(appendString(b, m.name), ": "...)
		if b, err = appendCanonical(b, dec); err != nil {
			return nil, err
		}
		m.end = len(b)
		keys = append(keys, m)
	}
	if !sorted {
		// UTF-8 sorts by bytes as by code points.
		slices.SortStableFunc(keys, func(x, y member) int { return strings.Compare(x.name, y.name) })
		asWritten := bytes.Clone(b[start:])
		b = b[:start]
		for i, m := range keys {
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
