package api

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/loosejson"
	"memoryd/ops"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// invalid is a body that does not fit the endpoint: HTTP 422.
func invalid(code, msg string, input jsontext.Value, loc ...any) *memoryd.Fault {
	return memoryd.NewFault(code, msg, input, append([]any{"body"}, loc...)...)
}

// missingField is the code of a fault that is about a field that is not there.
const missingField = "missing"

func missing(name string) *memoryd.Fault { return invalid(missingField, "Field required", nil, name) }

func tooMany(most int, what string) *memoryd.Fault {
	return memoryd.NewFault("too_long", fmt.Sprintf("at most %d %s per request", most, what), nil)
}

// reading is how requests are read into the structs of package wire: null and
// members that are given twice are faults, lists have bounds, and names repeated
// inside the values of members are left to those who read the values, so that a
// fault inside one item does not refuse the others.
func reading(maxItems int) jsonv2.Options {
	return jsonv2.JoinOptions(
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true),
		jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(
			jsonv2.UnmarshalFromFunc(once[string]), jsonv2.UnmarshalFromFunc(once[bool]),
			jsonv2.UnmarshalFromFunc(once[int64]), jsonv2.UnmarshalFromFunc(once[float64]),
			jsonv2.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *jsontext.Value) error {
				given := *into != nil
				return orTwice(given, memoryd.ReadJSON(dec, into))
			}),
			jsonv2.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *[]string) error {
				return readList(dec, into, maxItems)
			}),
			jsonv2.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *[]int64) error {
				return readList(dec, into, maxPins)
			}),
			jsonv2.UnmarshalFromFunc(readMessages),
			jsonv2.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *items) error {
				return into.read(dec, maxItems)
			}),
		)))
}

// maxPins bounds the messages that a request for a compaction pins.
const maxPins = 1 << 20

// readMessages reads the messages of a conversation, which are objects.
func readMessages(dec *jsontext.Decoder, into *[]jsontext.Value) error {
	given := *into != nil
	*into = []jsontext.Value{}
	err := eachOf(dec, func() error {
		v, err := dec.ReadValue()
		if err == nil && v.Kind() != '{' {
			err = memoryd.NewFault("dict_type", "Input should be a valid object", v, len(*into))
		}
		*into = append(*into, v.Clone())
		return err
	})
	return orTwice(given, err)
}

// once reads a member that may be given once.
func once[T any](dec *jsontext.Decoder, into **T) error {
	given := *into != nil
	*into = new(T)
	return orTwice(given, memoryd.ReadJSON(dec, *into))
}

func orTwice(given bool, err error) error {
	if given && err == nil {
		return memoryd.NewFault("duplicate_key", "Field given twice", nil)
	}
	return err
}

// readList reads an array of up to so many values.
func readList[T any](dec *jsontext.Decoder, into *[]T, most int) error {
	given := *into != nil
	*into = []T{}
	err := eachOf(dec, func() error {
		if len(*into) == most {
			return tooMany(most, "items")
		}
		at := len(*into)
		*into = append(*into, *new(T))
		err := memoryd.ReadJSON(dec, &(*into)[at])
		if fault, ok := err.(*memoryd.Fault); ok { //nolint:errorlint // a fault of our own making
			fault.Loc = append([]any{at}, fault.Loc...) // the place in the array
		}
		return err
	})
	return orTwice(given, err)
}

// eachOf calls element, which reads one value, for each element of the next value.
func eachOf(dec *jsontext.Decoder, element func() error) error {
	if dec.PeekKind() != '[' {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		return memoryd.NewFault("list_type", "Input should be a valid list", v)
	}
	return loosejson.Walk(dec, func(string) error { return element() })
}

// decode reads a whole request body, which must be an object. Its text has to be
// valid UTF-8; an escaped lone surrogate, which some clients send for bytes that
// they could not decode, becomes U+FFFD.
func (s *server) decode(body []byte, into any) error {
	if at := invalidUTF8(body); at >= 0 {
		return invalid("json_invalid", fmt.Sprintf("the body is not valid UTF-8 at byte %d", at), nil)
	}
	err := s.decodeObject(body, into)
	if err == nil {
		return required(reflect.ValueOf(into).Elem())
	}
	fault := memoryd.FaultOf(err, 0)
	fault.Loc = append([]any{"body"}, fault.Loc...)
	return fault
}

// required refuses a body without a member whose tag does not let it be left out.
func required(body reflect.Value) error {
	for i := range body.NumField() {
		if name, left, _ := strings.Cut(body.Type().Field(i).Tag.Get("json"), ","); left == "" && body.Field(i).IsZero() {
			return missing(name)
		}
	}
	return nil
}

func (s *server) decodeObject(body []byte, into any) error {
	if isBlank(body) {
		return memoryd.NewFault(missingField, "Field required", nil)
	}
	if v := jsontext.Value(body); v.Kind() != '{' && v.IsValid() {
		return memoryd.NewFault("model_attributes_type", "Input should be a valid dictionary or object to extract fields from",
			bytes.TrimSpace(v))
	}
	return jsonv2.Unmarshal(body, into, s.reading)
}

// addRequest is the body of an add.
type addRequest = wire.AddRequest[items]

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for at, r := range string(b) {
		if _, n := utf8.DecodeRune(b[at:]); r == utf8.RuneError && n == 1 {
			return at
		}
	}
	return -1
}

// items are the calls of a request. What is wrong with one becomes its reason, so
// that the others go on.
type items struct {
	list    []ops.Item
	ignored map[string]int // members of unknown names, and how many items have them
}

// readers of calls are used again and again.
var readers = sync.Pool{New: func() any { return new(memoryd.CallReader) }}

// leastItem is how many bytes an item is taken for at least where room for the others is made.
const leastItem = 64

func (i *items) read(dec *jsontext.Decoder, most int) error {
	reader := readers.Get().(*memoryd.CallReader) //nolint:forcetypeassert // the pool holds nothing else
	defer func() {
		reader.Reset()
		readers.Put(reader)
	}()
	given := i.list != nil
	i.list = make([]ops.Item, 0, 1)
	begin := dec.InputOffset()
	err := eachOf(dec, func() error {
		switch len(i.list) {
		case most:
			return tooMany(most, "items")
		case 1: // the others are about as long
			first := max(leastItem, int(dec.InputOffset()-begin))
			i.list = slices.Grow(i.list, min(most, 1+len(dec.UnreadBuffer())/first))
		}
		l, err := reader.Read(dec)
		fault, _ := err.(*memoryd.Fault) //nolint:errorlint // as its documentation says
		if fault != nil && fault.Broken {
			return fault
		}
		item := ops.Item{Call: l.Call()}
		if fault != nil {
			item.Reason = fault.Error()
		}
		i.list = append(i.list, item)
		i.ignore(l.Ignored)
		return nil
	})
	return orTwice(given, err)
}

// maxIgnored bounds the unknown names that an answer lists.
const maxIgnored = 64

func (i *items) ignore(names []string) {
	for _, name := range names {
		if i.ignored == nil {
			i.ignored = map[string]int{}
		}
		if _, known := i.ignored[name]; known || len(i.ignored) < maxIgnored && len(name) <= memoryd.MaxNameBytes {
			i.ignored[name]++
		}
	}
}

// checkName refuses a name that is too long to be one.
func checkName(name *string, loc string) error {
	if name != nil && len(*name) > memoryd.MaxNameBytes {
		return invalid("string_too_long", fmt.Sprintf("at most %d bytes", memoryd.MaxNameBytes), nil, loc)
	}
	return nil
}

// checkNewName also refuses what nothing new may be called.
func checkNewName(name *string, loc string) error {
	if fault := memoryd.NameFault(or(name, "")); fault != "" && len(*name) <= memoryd.MaxNameBytes {
		return invalid("value_error", "the name "+fault, nil, loc)
	}
	return checkName(name, loc)
}

// or is what a member holds, or what stands for it where it was left out.
func or[T any](member *T, otherwise T) T {
	if member == nil {
		return otherwise
	}
	return *member
}

// count reads a number of things.
func count(n *int64, name string) (int, error) {
	given := or(n, 0)
	if given < 0 || given > 1<<31-1 {
		return 0, invalid("int_type", "Input should be a valid integer of 0 or more", fmt.Append(nil, given), name)
	}
	return int(given), nil
}

// toolNames takes a comma-separated string, or an array whose elements are names
// as they stand, commas and outer spaces included.
func (s *server) toolNames(v jsontext.Value) (names []string, err error) {
	switch v.Kind() {
	case '"':
		for name := range strings.SplitSeq(memoryd.Unquote(v), ",") {
			names = append(names, strings.TrimSpace(name))
		}
	case '[':
		if err := jsonv2.Unmarshal(v, &names, s.reading); err != nil {
			fault := memoryd.FaultOf(err, 0)
			fault.Loc = slices.Concat([]any{"body", "tool_names"}, fault.Loc)
			return nil, fault
		}
	default:
		return nil, invalid("string_type", "Input should be a valid string or list of strings", v, "tool_names")
	}
	if len(names) > s.cfg.MaxItems {
		return nil, invalid("too_long", tooMany(s.cfg.MaxItems, "names").Msg, nil, "tool_names")
	}
	return names, nil
}

// peekWorkspace finds the member workspace_id of the object that a body is: it is for
// deciding whose turn it is, before the body is decoded. What is not JSON, or names no
// workspace, gives "".
func peekWorkspace(body []byte) (workspace string) {
	dec := memoryd.BorrowDecoder(body)
	defer memoryd.ReturnDecoder(dec)
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return ""
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return ""
		}
		if string(name) == `"workspace_id"` || bytes.IndexByte(name, '\\') >= 0 && memoryd.Unquote(name) == "workspace_id" {
			_ = memoryd.ReadJSON(dec, &workspace) // another type is refused when the body is decoded
			return workspace
		}
		if dec.SkipValue() != nil {
			return ""
		}
	}
	return ""
}
