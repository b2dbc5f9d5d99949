package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"memoryd"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds how deep an input or a metadata object may nest, far beyond
// any real one, so that an answer that shows it can still be read by others.
const maxDepth = 512

// itemFields are the members of a call. The judge's members are read for their
// types only: a verdict is never taken from a client.
var itemFields = []field[ops.Item]{
	{name: "tool_name", kind: text, set: func(i *ops.Item, v jsontext.Value) *invalidRequest {
		i.Call.Tool = unquote(v)
		return nil
	}},
	{name: "input", kind: textOrObject, set: func(i *ops.Item, v jsontext.Value) *invalidRequest {
		return setRaw(&i.Call.Input, v)
	}},
	{name: "output", kind: text, set: func(i *ops.Item, v jsontext.Value) *invalidRequest {
		i.Call.Output = unquote(v)
		return nil
	}},
	{name: "success", kind: boolean, set: func(i *ops.Item, v jsontext.Value) *invalidRequest {
		i.Call.Success = v.Kind() == 't'
		return nil
	}},
	{name: "time_cost", kind: number, set: func(i *ops.Item, v jsontext.Value) *invalidRequest {
		return setSeconds(&i.Call.TimeCost, v)
	}},
	{name: "token_cost", kind: integer, set: func(i *ops.Item, v jsontext.Value) *invalidRequest {
		n, ok := wholeNumber(v)
		if !ok {
			return invalid(integer.code, integer.msg, v)
		}
		i.Call.TokenCost = n
		return nil
	}},
	{name: "create_time", kind: text, set: func(i *ops.Item, v jsontext.Value) *invalidRequest {
		i.Call.CreateTime = unquote(v)
		return nil
	}},
	{name: "metadata", kind: object, set: setMetadata},
	{name: "call_hash", kind: text, set: func(i *ops.Item, v jsontext.Value) *invalidRequest {
		i.Call.Hash = unquote(v)
		if len(i.Call.Hash) > memoryd.MaxNameBytes {
			return invalid("string_too_long", fmt.Sprintf("at most %d bytes", memoryd.MaxNameBytes), nil)
		}
		return nil
	}},
	{name: "summary", kind: text, set: ignore},
	{name: "evaluation", kind: text, set: ignore},
	{name: "score", kind: number, set: ignore},
	{name: "is_summarized", kind: boolean, set: ignore},
}

func ignore(*ops.Item, jsontext.Value) *invalidRequest { return nil }

// decodeItem reads one call. What is wrong with it becomes its reason, so that
// the other items of the request go on.
func decodeItem(dec *jsontext.Decoder, item *ops.Item) *invalidRequest {
	*item = ops.Item{Call: memoryd.Call{Input: json.RawMessage(`""`), Success: true, TokenCost: -1}}
	depth := dec.StackDepth()
	fault := decodeObject(dec, itemFields, item)
	if fault == nil || fault.broken {
		return fault
	}
	if err := leave(dec, depth); err != nil {
		return malformed(err)
	}
	item.Reason = fault.Error()
	return nil
}

func setSeconds(into *float64, v jsontext.Value) *invalidRequest {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.IsInf(f, 0) {
		return invalid(number.code, "Input should be a finite number", v)
	}
	*into = f
	return nil
}

// metadataFields are the members of metadata that the server understands. A
// value of another type is the client's own affair.
type metadataFields struct {
	ToolCallID any `json:"tool_call_id"`
}

func setMetadata(i *ops.Item, v jsontext.Value) *invalidRequest {
	if fault := setRaw(&i.Call.Metadata, v); fault != nil {
		return fault
	}
	var known metadataFields
	if err := json.Unmarshal(i.Call.Metadata, &known); err != nil {
		return unreadable(err)
	}
	if id, ok := known.ToolCallID.(string); ok {
		i.ToolCallID = id
	}
	return nil
}

// setRaw keeps a value as it was sent. Only escaped lone surrogates change: no
// valid JSON text can carry them on.
func setRaw(into *json.RawMessage, v jsontext.Value) *invalidRequest {
	if depthOf(v) > maxDepth {
		return invalid("too_deep", fmt.Sprintf("nested deeper than %d levels", maxDepth), nil)
	}
	v = v.Clone()
	if !v.IsValid() {
		if err := v.Format(jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(false)); err != nil {
			return unreadable(err)
		}
		v = jsontext.Value(bytes.ToValidUTF8(v, []byte(string(utf8.RuneError))))
	}
	*into = json.RawMessage(v)
	return nil
}

// depthOf counts the levels of nesting of valid JSON.
func depthOf(v jsontext.Value) int {
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
