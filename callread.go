package memoryd

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// members is what is read of a call. The exact names win over the other ones, and
// among those the first.
type members struct {
	Workspace, ToolName, CreateTime, CallHash field[string]
	Summary, Evaluation                       field[string]
	Input, Metadata                           field[raw]
	Output                                    longText
	Success, IsSummarized                     field[bool]
	TimeCost, Score                           field[float64]
	TokenCost                                 field[int64]

	Arguments, ToolInput, Args, Result, ToolOutput, Error field[raw]
	IsError                                               field[bool]

	Unknown map[string]bool
}

// membersByName finds the member of a name. It is a table, because a call is read for each
// add: looking members up by reflection took half of the reading.
var membersByName = map[string]func(*members) jsonv2.UnmarshalerFrom{
	"workspace_id":  func(m *members) jsonv2.UnmarshalerFrom { return &m.Workspace },
	"tool_name":     func(m *members) jsonv2.UnmarshalerFrom { return &m.ToolName },
	"input":         func(m *members) jsonv2.UnmarshalerFrom { return &m.Input },
	"output":        func(m *members) jsonv2.UnmarshalerFrom { return &m.Output },
	"success":       func(m *members) jsonv2.UnmarshalerFrom { return &m.Success },
	"time_cost":     func(m *members) jsonv2.UnmarshalerFrom { return &m.TimeCost },
	"token_cost":    func(m *members) jsonv2.UnmarshalerFrom { return &m.TokenCost },
	"create_time":   func(m *members) jsonv2.UnmarshalerFrom { return &m.CreateTime },
	"metadata":      func(m *members) jsonv2.UnmarshalerFrom { return &m.Metadata },
	"call_hash":     func(m *members) jsonv2.UnmarshalerFrom { return &m.CallHash },
	"summary":       func(m *members) jsonv2.UnmarshalerFrom { return &m.Summary },
	"evaluation":    func(m *members) jsonv2.UnmarshalerFrom { return &m.Evaluation },
	"score":         func(m *members) jsonv2.UnmarshalerFrom { return &m.Score },
	"is_summarized": func(m *members) jsonv2.UnmarshalerFrom { return &m.IsSummarized },

	// The names of other protocols.
	"arguments":   func(m *members) jsonv2.UnmarshalerFrom { return &m.Arguments },
	"tool_input":  func(m *members) jsonv2.UnmarshalerFrom { return &m.ToolInput },
	"args":        func(m *members) jsonv2.UnmarshalerFrom { return &m.Args },
	"result":      func(m *members) jsonv2.UnmarshalerFrom { return &m.Result },
	"tool_output": func(m *members) jsonv2.UnmarshalerFrom { return &m.ToolOutput },
	"is_error":    func(m *members) jsonv2.UnmarshalerFrom { return &m.IsError },
	"error":       func(m *members) jsonv2.UnmarshalerFrom { return &m.Error },
}

// read reads the object that dec is before.
func (m *members) read(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var buf [64]byte
	for dec.PeekKind() != '}' {
		quoted, err := dec.ReadValue()
		if err != nil {
			return err
		}
		name, _ := jsontext.AppendUnquote(buf[:0], quoted) // what is not valid is replaced
		member, known := membersByName[string(name)]
		if !known {
			if m.Unknown == nil {
				m.Unknown = map[string]bool{}
			}
			m.Unknown[string(name)] = true
			err = dec.SkipValue()
		} else {
			err = member(m).UnmarshalJSONFrom(dec)
		}
		if fault, ok := err.(*Fault); ok { //nolint:errorlint // a fault of our own making
			fault.Loc = append([]any{string(name)}, fault.Loc...)
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// CallReader parses calls one after another. The zero value is ready for use.
type CallReader struct {
	m      members
	buffer []byte
}

// maxBuffer bounds what a reader keeps.
const maxBuffer = 64 << 10

// Reset clears the reader for reuse.
func (r *CallReader) Reset() {
	r.m = members{}
	if cap(r.buffer) > maxBuffer {
		r.buffer = nil
	}
}

// Read parses the next value of dec as a call and fills in defaults. Its error is a *Fault. Unless
// the fault is Broken, the whole value was consumed. The decoder must allow duplicate names.
func (r *CallReader) Read(dec *jsontext.Decoder) (l CallLine, err error) {
	depth := dec.StackDepth()
	if dec.PeekKind() != '{' {
		v, err := dec.ReadValue()
		if err != nil {
			return l, FaultOf(err, depth)
		}
		return l, NewFault("model_attributes_type", "Input should be a valid dictionary or object to extract fields from", v)
	}
	r.m = members{Output: longText{buffer: &r.buffer}}
	if err := r.m.read(dec); err != nil {
		fault := FaultOf(err, depth)
		if fault.Broken {
			return l, fault
		}
		if err := leave(dec, depth); err != nil {
			return l, FaultOf(err, depth)
		}
		return l, fault
	}
	err = l.take(&r.m)
	return l, err
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
