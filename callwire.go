package memoryd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// sourceName is the member of a stored call's metadata that says who wrote it; what a
// client sends under this name is dropped.
const sourceName = "memoryd_source"

// WithSource adds the id of the API key that recorded a call to its metadata. An empty source,
// which means this machine, adds nothing.
func WithSource(metadata json.RawMessage, source string) json.RawMessage {
	metadata = without(metadata, sourceName)
	if source == "" {
		return metadata
	}
	member, err := json.Marshal(map[string]string{sourceName: source})
	if err != nil {
		return metadata
	}
	own := bytes.TrimSpace(metadata)
	if len(own) < 2 || own[0] != '{' || len(bytes.TrimSpace(own[1:len(own)-1])) == 0 {
		return member
	}
	out := make([]byte, 0, len(own)+len(member)+1)
	out = append(append(out, own[:len(own)-1]...), ',')
	return append(out, member[1:]...)
}

// Sourced reports whether the metadata name the recorder of the call; otherwise it was this
// machine.
func (c *Call) Sourced() bool { return bytes.Contains(c.Metadata, []byte(sourceName)) }

// LocalSource is the source of calls recorded without an API key.
const LocalSource = "local"

// Source returns the id of the API key that recorded the call, or LocalSource.
func (c *Call) Source() string {
	if !c.Sourced() {
		return LocalSource
	}
	var m struct {
		Source string `json:"memoryd_source"`
	}
	if json.Unmarshal(c.Metadata, &m) != nil || m.Source == "" {
		return LocalSource
	}
	return m.Source
}

// without drops members of a client's metadata that have the names of ours.
func without(metadata json.RawMessage, names ...string) json.RawMessage {
	var quoted [32]byte
	named := func(name string) bool { return bytes.Contains(metadata, append(append(quoted[:0], '"'), name...)) }
	if !slices.ContainsFunc(names, named) && bytes.IndexByte(metadata, '\\') < 0 { // a name may be written with escapes
		return metadata
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(metadata, &fields) != nil {
		return metadata
	}
	had := len(fields)
	for _, name := range names {
		delete(fields, name)
	}
	if len(fields) == had {
		return metadata
	}
	out, _ := json.Marshal(fields) // they were JSON
	return out
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

// callText is how the text of a call is read: texts of tools may hold anything.
// Names that are repeated are found by the members themselves.
var callText = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

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
	for name := range m.Unknown {
		l.Ignored = append(l.Ignored, name)
	}
	slices.Sort(l.Ignored)
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

// ToolCallID returns the caller's id of a call: the member tool_call_id of its metadata, or
// call_ref, which takes precedence over all other members (see Identity); "" if there is neither.
func ToolCallID(metadata []byte) string {
	if !bytes.Contains(metadata, []byte("tool_call_id")) && !bytes.Contains(metadata, []byte("call_ref")) {
		return ""
	}
	var known struct {
		ID  jsontext.Value `json:"tool_call_id"`
		Ref jsontext.Value `json:"call_ref"`
	}
	if jsonv2.Unmarshal(metadata, &known, callText) != nil {
		return ""
	}
	if known.Ref.Kind() == '"' && len(known.Ref) > len(`""`) {
		return RefID(Unquote(known.Ref))
	}
	if known.ID.Kind() != '"' {
		return ""
	}
	return Unquote(known.ID)
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
