package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"memoryd/api/wire"

	"github.com/go-json-experiment/json/jsontext"
)

// invalidRequest is a body that does not fit the endpoint: HTTP 422.
type invalidRequest struct {
	detail wire.Detail
	broken bool // the text is no JSON: nothing of it can be read from here on
}

// Error says where and what, as a rejected item shows it.
func (e *invalidRequest) Error() string {
	var b bytes.Buffer
	for _, part := range e.detail.Loc {
		fmt.Fprintf(&b, "%v: ", part)
	}
	return b.String() + e.detail.Msg
}

func invalid(code, msg string, input jsontext.Value, loc ...any) *invalidRequest {
	const most = 1024 // an echo of the input helps only while it is short
	switch {
	case input == nil:
		input = jsontext.Value("null")
	case len(input) > most || !input.IsValid():
		input = jsontext.Value(`"…"`)
	}
	return &invalidRequest{detail: wire.Detail{Type: code, Loc: loc, Msg: msg, Input: input.Clone()}}
}

// malformed reports text that is not JSON.
func malformed(err error) *invalidRequest {
	fault := unreadable(err)
	fault.broken = true
	return fault
}

// unreadable reports a value that is JSON at best in form.
func unreadable(err error) *invalidRequest {
	se, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return invalid("json_invalid", "JSON decode error: "+err.Error(), nil)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return invalid("duplicate_key", fmt.Sprintf("the name at %q is given twice", se.JSONPointer), nil)
	}
	return invalid("json_invalid", fmt.Sprintf("JSON decode error at byte %d (in %q): %v", se.ByteOffset, se.JSONPointer, se.Err), nil)
}

// kind is a type of JSON values as far as requests tell them apart.
type kind struct {
	first     string // the jsontext.Kinds it covers
	code, msg string // what is said of any other value
}

// The kinds of the fields of requests. null is none of them.
var (
	text    = kind{`"`, "string_type", "Input should be a valid string"}
	boolean = kind{`tf`, "bool_type", "Input should be a valid boolean"}
	number  = kind{`0`, "float_type", "Input should be a valid number"}
	integer = kind{`0`, "int_type", "Input should be a valid integer"}
	object  = kind{`{`, "dict_type", "Input should be a valid object"}
	array   = kind{`[`, "list_type", "Input should be a valid array"}

	textOrObject = kind{`"{`, "string_or_dict_type", "Input should be a valid object or string"}
	textOrArray  = kind{`"[`, "string_or_list_type", "Input should be a valid string or array of strings"}
)

// field is one member of an object that fills in a T.
type field[T any] struct {
	name     string
	required bool
	kind     kind
	// set takes the member's value, which has the field's kind. The value is
	// only valid during the call.
	set func(into *T, v jsontext.Value) *invalidRequest
	// each is for long arrays, instead of set: it reads the elements one after
	// another, so that the array is not read as a whole first. A fault of its own
	// leaves dec behind the element or inside it.
	each func(into *T, dec *jsontext.Decoder) *invalidRequest
}

// decodeObject reads the next value of dec, an object, handing each known
// member to its field. Unknown members are ignored, whatever they hold;
// repeated and missing ones are faults.
func decodeObject[T any](dec *jsontext.Decoder, fields []field[T], into *T) *invalidRequest {
	if dec.PeekKind() != '{' {
		v, err := dec.ReadValue()
		if err != nil {
			return malformed(err)
		}
		return invalid("model_attributes_type", "Input should be an object", v)
	}
	if _, err := dec.ReadToken(); err != nil {
		return malformed(err)
	}
	seen := make([]bool, len(fields))
	for dec.PeekKind() != '}' {
		if fault := decodeMember(dec, fields, seen, into); fault != nil {
			return fault
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return malformed(err)
	}
	for i, f := range fields {
		if f.required && !seen[i] {
			return invalid("missing", "Field required", nil, f.name)
		}
	}
	return nil
}

func decodeMember[T any](dec *jsontext.Decoder, fields []field[T], seen []bool, into *T) *invalidRequest {
	name, err := dec.ReadToken()
	if err != nil {
		return malformed(err)
	}
	key := name.String()
	i := slices.IndexFunc(fields, func(f field[T]) bool { return f.name == key })
	if i >= 0 && fields[i].each != nil && !seen[i] && dec.PeekKind() == '[' {
		seen[i] = true
		return fields[i].elements(dec, into)
	}
	v, err := dec.ReadValue()
	if err != nil {
		return malformed(err)
	}
	if i < 0 {
		return nil
	}
	f := fields[i]
	if seen[i] {
		return invalid("duplicate_key", "Field given twice", nil, f.name)
	}
	seen[i] = true
	if strings.IndexByte(f.kind.first, byte(v.Kind())) < 0 {
		return invalid(f.kind.code, f.kind.msg, v, f.name)
	}
	return f.named(f.set(into, v))
}

// named says which field a fault is in, unless it says so itself.
func (f *field[T]) named(fault *invalidRequest) *invalidRequest {
	if fault != nil && !fault.broken && len(fault.detail.Loc) == 0 {
		fault.detail.Loc = []any{f.name}
	}
	return fault
}

// elements hands the elements of the next value, an array, to the field.
func (f *field[T]) elements(dec *jsontext.Decoder, into *T) *invalidRequest {
	if _, err := dec.ReadToken(); err != nil {
		return malformed(err)
	}
	for dec.PeekKind() != ']' {
		if fault := f.each(into, dec); fault != nil {
			return f.named(fault)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return malformed(err)
	}
	return nil
}

// leave skips what is left of the values that dec is inside of, down to a depth.
func leave(dec *jsontext.Decoder, depth int) error {
	for dec.StackDepth() > depth {
		var err error
		switch dec.PeekKind() {
		case '}', ']':
			_, err = dec.ReadToken()
		default:
			err = dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeBody reads a whole request body. Its text has to be valid UTF-8; an
// escaped lone surrogate, which some clients send for bytes that they could
// not decode, becomes U+FFFD. Names repeated inside the values of members are
// left to those who read the values, so that a fault inside one item does not
// refuse the others.
func decodeBody[T any](body []byte, fields []field[T], into *T) *invalidRequest {
	if at := invalidUTF8(body); at >= 0 {
		return invalid("json_invalid", fmt.Sprintf("the body is not valid UTF-8 at byte %d", at), nil, "body")
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	fault := decodeObject(dec, fields, into)
	if fault == nil {
		fault = checkEnd(dec)
	}
	if fault != nil {
		fault.detail.Loc = append([]any{"body"}, fault.detail.Loc...)
	}
	return fault
}

// checkEnd finds anything that follows the value read.
func checkEnd(dec *jsontext.Decoder) *invalidRequest {
	switch _, err := dec.ReadToken(); {
	case err == io.EOF: //nolint:errorlint // as its documentation says
		return nil
	case err != nil:
		return malformed(err)
	}
	return invalid("json_invalid", "JSON decode error: there is more after the object", nil)
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for at := 0; at < len(b); {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

// unquote gives the text of a JSON string.
func unquote(v jsontext.Value) string {
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	s, _ := jsontext.AppendUnquote(make([]byte, 0, len(v)), v) // the decoder has checked its syntax; a lone surrogate becomes U+FFFD
	return string(s)
}

// wholeNumber reads a number without a fraction, also when it is written with
// a point, as JavaScript and Python do for values that were floats.
func wholeNumber(v jsontext.Value) (int64, bool) {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}
