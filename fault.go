package memoryd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Fault describes what is wrong with a JSON text and where. Its codes are those of pydantic, which
// clients of the original server know.
type Fault struct {
	Code string // such as "string_type" or "missing"
	Loc  []any  // the path: member names and array indexes
	Msg  string
	// Input repeats the wrong value if it is short.
	Input jsontext.Value
	// Broken reports that the text is not valid JSON and cannot be read beyond Offset.
	Broken bool
	Offset int64 // in bytes
}

// Error returns the path and the message.
func (f *Fault) Error() string {
	var b strings.Builder
	for _, part := range f.Loc {
		fmt.Fprintf(&b, "%v: ", part)
	}
	return b.String() + f.Msg
}

// maxEcho bounds the value that a fault repeats: an echo helps only while it is
// short.
const maxEcho = 1024

// NewFault returns a fault for a value, which may be nil.
func NewFault(code, msg string, input jsontext.Value, loc ...any) *Fault {
	switch {
	case input == nil:
		input = jsontext.Value("null")
	case len(input) > maxEcho || !input.IsValid():
		input = jsontext.Value(`"…"`)
	}
	return &Fault{Code: code, Loc: loc, Msg: msg, Input: input.Clone()}
}

// FaultOf converts an error of the JSON packages to a fault. It drops the first skip elements of
// the path.
func FaultOf(err error, skip int) *Fault {
	f, ours := errors.AsType[*Fault](err)
	semantic, _ := errors.AsType[*jsonv2.SemanticError](err)
	syntactic, _ := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case ours && (f.Broken || semantic == nil):
		return f
	case ours:
		own := f.Loc
		f = &Fault{Code: f.Code, Msg: f.Msg, Input: f.Input, Loc: append(pathOf(semantic.JSONPointer, skip), own...)}
		return f
	case syntactic != nil && errors.Is(err, jsontext.ErrDuplicateName):
		path := pathOf(syntactic.JSONPointer, skip)
		if len(path) == 1 {
			return NewFault("duplicate_key", "Field given twice", nil, path...)
		}
		return NewFault("duplicate_key", fmt.Sprintf("the name at %q occurs twice", syntactic.JSONPointer), nil, path...)
	case syntactic != nil:
		f = NewFault("json_invalid", fmt.Sprintf("JSON decode error at byte %d (in %q): %v",
			syntactic.ByteOffset, syntactic.JSONPointer, syntactic.Err), nil)
		f.Offset = syntactic.ByteOffset
	case semantic != nil:
		return NewFault("type_error", fmt.Sprintf("a %s is not expected here", semantic.JSONKind), semantic.JSONValue,
			pathOf(semantic.JSONPointer, skip)...)
	default:
		f = NewFault("json_invalid", "JSON decode error: "+err.Error(), nil)
	}
	f.Broken = true
	return f
}

func pathOf(p jsontext.Pointer, skip int) (path []any) {
	for part := range p.Tokens() {
		if skip--; skip >= 0 {
			continue
		}
		if n, err := strconv.Atoi(part); err == nil {
			path = append(path, n)
		} else {
			path = append(path, part)
		}
	}
	return path
}
