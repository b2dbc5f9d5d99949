package memoryd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CallJSON is the JSON form of a call: an item of a request, an element of a history, or a line of
// an import file. It is the only list of the members, their defaults and their aliases. Stores and
// exports use other encodings, which keep every byte; answers use the types of package wire.
type CallJSON struct {
	ToolName     string         `json:"tool_name"`
	Input        jsontext.Value `json:"input"` // an object or a string
	Output       string         `json:"output"`
	Success      bool           `json:"success"`
	TimeCost     float64        `json:"time_cost"`  // seconds
	TokenCost    int64          `json:"token_cost"` // -1 means unknown
	CreateTime   string         `json:"create_time"`
	Metadata     jsontext.Value `json:"metadata"` // an object
	Summary      string         `json:"summary,omitzero"`
	Evaluation   string         `json:"evaluation,omitzero"`
	Score        float64        `json:"score,omitzero"`
	CallHash     string         `json:"call_hash,omitzero"`
	IsSummarized bool           `json:"is_summarized,omitzero"`
}

// CallLine is a parsed call, with everything else on its line.
type CallLine struct {
	CallJSON
	// Workspace is the workspace that the line names; "" if it names none.
	Workspace string
	// Ignored lists unknown members.
	Ignored []string
}

// Call returns the recorded call, without verdict, identity and time.
func (l *CallLine) Call() Call {
	return Call{
		ToolRef: ToolRef{l.Workspace, l.ToolName}, Input: json.RawMessage(l.Input), Output: l.Output, Success: l.Success,
		TimeCost: l.TimeCost, TokenCost: l.TokenCost, CreateTime: l.CreateTime, Metadata: json.RawMessage(l.Metadata),
		Hash: l.CallHash, Evaluation: PendingEvaluation(),
	}
}

// JSONOf returns the JSON form of a call. Calls with numbers up to summarisedThrough are marked as
// used by the current guideline.
func JSONOf(c *Call, summarisedThrough int64) CallJSON {
	e := &c.Evaluation
	j := CallJSON{
		ToolName: c.Tool, Input: jsontext.Value(c.Input), Output: c.Output, Success: c.Success,
		TimeCost: finite(c.TimeCost), TokenCost: c.TokenCost, CreateTime: c.CreateTime, Metadata: shownMetadata(c),
		Summary: e.Summary, Evaluation: e.Evaluation, Score: finite(e.Score), CallHash: c.Hash,
		IsSummarized: c.Seq > 0 && c.Seq <= summarisedThrough,
	}
	if len(j.Input) == 0 {
		j.Input = jsontext.Value(`""`)
	}
	return j
}

var judgementNames = []string{"evaluation_state", "judged_by", "judged_rule", "evaluation_error", "evaluation_untrusted", "call_id"}

// judgement is what the server adds to a call's own metadata: the names above. They win
// over the client's. Where the evaluation's texts may repeat words of the tool, it is
// untrusted.
func judgement(c *Call) jsontext.Value {
	e := &c.Evaluation
	b := make([]byte, 0, 160)
	add := func(name, value string) {
		b, _ = jsontext.AppendQuote(append(b, name...), value) // what is not valid is replaced
	}
	add(`{"call_id":`, c.Key.String())
	add(`,"evaluation_state":`, string(e.State))
	for _, m := range []struct{ name, value string }{
		{`,"judged_by":`, e.JudgedBy}, {`,"judged_rule":`, e.Rule}, {`,"evaluation_error":`, e.LastError},
	} {
		if m.value != "" {
			add(m.name, m.value)
		}
	}
	if (e.Evaluation != "" || e.Summary != "") && !strings.HasPrefix(e.JudgedBy, PersonPrefix) {
		b = append(b, `,"evaluation_untrusted":true`...)
	}
	return append(b, '}')
}

// shownMetadata joins the call's metadata, as it was sent, with the judgement.
func shownMetadata(c *Call) jsontext.Value {
	added := judgement(c)
	own := bytes.TrimSpace(without(c.Metadata, judgementNames...))
	if v := jsontext.Value(own); v.Kind() != '{' || !v.IsValid() || len(bytes.TrimSpace(own[1:len(own)-1])) == 0 {
		return added // there is none, or what a store was given is no object
	}
	joined := make([]byte, 0, len(own)+len(added)+1)
	joined = append(joined, own[:len(own)-1]...)
	joined = append(joined, ',', ' ')
	return append(joined, added[1:]...)
}

// finite gives 0, which means unknown, for what JSON cannot say.
func finite(f float64) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	return f
}

// MarshalCallLine encodes a recorded call as one line of an import file, without its verdict.
func MarshalCallLine(c *Call) ([]byte, error) {
	j := JSONOf(c, 0)
	j.Metadata, j.Summary, j.Evaluation, j.Score = jsontext.Value(c.Metadata), "", "", 0
	if len(c.Metadata) == 0 {
		j.Metadata = jsontext.Value(`{}`)
	}
	return jsonv2.Marshal(struct {
		Workspace string `json:"workspace_id"`
		CallJSON
	}{c.Workspace, j}, callText)
}

// ParseCall parses one line of an import file. Its error is a *Fault.
func ParseCall(line []byte) (CallLine, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(line), callText)
	l, err := new(CallReader).Read(dec)
	if err != nil {
		return l, err
	}
	if _, err := dec.ReadToken(); err == nil {
		return l, &Fault{Code: "json_invalid", Msg: "JSON decode error: there is text after the object", Broken: true}
	}
	return l, nil
}

// take fills the line from its members.
func (l *CallLine) take(m *members) error {
	*l = CallLine{
		Workspace: m.Workspace.value,
		CallJSON: CallJSON{
			ToolName: m.ToolName.value, Output: m.Output.value, Success: m.Success.or(true), TimeCost: m.TimeCost.value,
			TokenCost: m.TokenCost.or(-1), CreateTime: m.CreateTime.value, CallHash: m.CallHash.value,
			Summary: m.Summary.value, Evaluation: m.Evaluation.value, Score: m.Score.value, IsSummarized: m.IsSummarized.value,
		},
	}
	if len(l.CallHash) > MaxNameBytes {
		return NewFault("string_too_long", fmt.Sprintf("at most %d bytes", MaxNameBytes), nil, "call_hash")
	}
	if err := l.takeInput(m); err != nil {
		return err
	}
	l.takeOutcome(m)
	if m.Metadata.there() {
		if k := jsontext.Value(m.Metadata.value).Kind(); k != '{' {
			return NewFault("dict_type", "Input should be a valid object", jsontext.Value(m.Metadata.value), "metadata")
		}
		var err error
		if l.Metadata, err = sound(m.Metadata.value, "metadata"); err != nil {
			return err
		}
	}
	l.Ignored = slices.Sorted(maps.Keys(m.Unknown))
	return nil
}

// takeInput takes the input, or the arguments of a call as another protocol names
// them; a text of theirs that is a JSON object stands for the object.
func (l *CallLine) takeInput(m *members) (err error) {
	name, v := "input", jsontext.Value(m.Input.value)
	if !m.Input.given {
		switch {
		case m.Arguments.there():
			name, v = "arguments", jsontext.Value(m.Arguments.value)
		case m.ToolInput.there():
			name, v = "tool_input", jsontext.Value(m.ToolInput.value)
		case m.Args.there():
			name, v = "args", jsontext.Value(m.Args.value)
		default:
			l.Input = jsontext.Value(`""`)
			return nil
		}
		if object := jsontext.Value(textOf(v)); v.Kind() == '"' && object.Kind() == '{' && object.IsValid() {
			v = object
		}
	}
	if k := v.Kind(); k != '{' && k != '"' {
		return NewFault("string_or_dict_type", "Input should be a valid object or string", v, name)
	}
	l.Input, err = sound(raw(v), name)
	return err
}

// takeOutcome takes the output and the flag from the names of other protocols
// where the own ones are missing.
func (l *CallLine) takeOutcome(m *members) {
	text, failed := "", false
	switch v := jsontext.Value(m.Error.value); v.Kind() {
	case 0, 'n', 'f':
	case 't':
		failed = true
	default:
		text = textOf(v)
		failed = text != ""
	}
	if !m.Success.given {
		l.Success = !failed
		if m.IsError.given {
			l.Success = !m.IsError.value
		}
	}
	switch {
	case m.Output.given:
	case m.Result.there():
		l.Output = textOf(jsontext.Value(m.Result.value))
	case m.ToolOutput.there():
		l.Output = textOf(jsontext.Value(m.ToolOutput.value))
	default:
		l.Output = text
	}
}

// textOf is the text of a JSON string, and any other value as it stands.
func textOf(v jsontext.Value) string {
	if v.Kind() != '"' {
		return strings.ToValidUTF8(string(v), string(utf8.RuneError))
	}
	return Unquote(v)
}

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
