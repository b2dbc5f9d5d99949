package memoryd

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

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
