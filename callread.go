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

// named gives the member of a name; nil where there is none. It is a switch, because a
// call is read for each add: looking members up by reflection took half of the reading.
func (m *members) named(name []byte) jsonv2.UnmarshalerFrom {
	switch string(name) {
	case "workspace_id":
		return &m.Workspace
	case "tool_name":
		return &m.ToolName
	case "input":
		return &m.Input
	case "output":
		return &m.Output
	case "success":
		return &m.Success
	case "time_cost":
		return &m.TimeCost
	case "token_cost":
		return &m.TokenCost
	case "create_time":
		return &m.CreateTime
	case "metadata":
		return &m.Metadata
	case "call_hash":
		return &m.CallHash
	case "summary":
		return &m.Summary
	case "evaluation":
		return &m.Evaluation
	case "score":
		return &m.Score
	case "is_summarized":
		return &m.IsSummarized
	}
	return m.foreign(name)
}

// foreign is named for the names that other protocols have.
func (m *members) foreign(name []byte) jsonv2.UnmarshalerFrom {
	switch string(name) {
	case "arguments":
		return &m.Arguments
	case "tool_input":
		return &m.ToolInput
	case "args":
		return &m.Args
	case "result":
		return &m.Result
	case "tool_output":
		return &m.ToolOutput
	case "is_error":
		return &m.IsError
	case "error":
		return &m.Error
	}
	return nil
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
		member := m.named(name)
		if member == nil {
			if m.Unknown == nil {
				m.Unknown = map[string]bool{}
			}
			m.Unknown[string(name)] = true
			err = dec.SkipValue()
		} else {
			err = member.UnmarshalJSONFrom(dec)
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
