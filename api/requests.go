package api

import (
	"bytes"
	"fmt"
	"strings"

	"memoryd"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
)

// addRequest is the body of add_tool_call_result.
type addRequest struct {
	workspace      string
	toolName       string
	items          []ops.Item
	async          bool
	includeHistory bool
	maxItems       int
}

var addFields = []field[addRequest]{
	{name: "workspace_id", kind: text, set: func(r *addRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.workspace, v)
	}},
	{name: "tool_name", kind: text, set: func(r *addRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.toolName, v)
	}},
	{name: "tool_call_results", required: true, kind: array, each: addItem},
	{name: "async", kind: boolean, set: func(r *addRequest, v jsontext.Value) *invalidRequest {
		r.async = v.Kind() == 't'
		return nil
	}},
	{name: "include_history", kind: boolean, set: func(r *addRequest, v jsontext.Value) *invalidRequest {
		r.includeHistory = v.Kind() == 't'
		return nil
	}},
}

func addItem(r *addRequest, dec *jsontext.Decoder) *invalidRequest {
	if len(r.items) == r.maxItems {
		return tooMany(r.maxItems, "items")
	}
	r.items = append(r.items, ops.Item{})
	return decodeItem(dec, &r.items[len(r.items)-1])
}

func tooMany(most int, what string) *invalidRequest {
	return invalid("too_long", fmt.Sprintf("at most %d %s a request", most, what), nil)
}

// elements splits an array into its values.
func elements(v jsontext.Value, most int) ([]jsontext.Value, *invalidRequest) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(v), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, malformed(err)
	}
	var values []jsontext.Value
	for dec.PeekKind() != ']' {
		item, err := dec.ReadValue()
		if err != nil {
			return nil, malformed(err)
		}
		if len(values) == most {
			return nil, tooMany(most, "items")
		}
		values = append(values, item)
	}
	return values, nil
}

func setName(into *string, v jsontext.Value) *invalidRequest {
	*into = unquote(v)
	if len(*into) > memoryd.MaxNameBytes {
		return invalid("string_too_long", fmt.Sprintf("at most %d bytes", memoryd.MaxNameBytes), nil)
	}
	return nil
}

// namesRequest is the body of summary_tool_memory and retrieve_tool_memory.
type namesRequest struct {
	workspace      string
	names          []string
	force          bool
	stale          bool
	session        string
	maxTokens      int
	includeHistory bool
	includeCalls   int
	maxItems       int
}

var namesFields = []field[namesRequest]{
	{name: "workspace_id", kind: text, set: func(r *namesRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.workspace, v)
	}},
	{name: "tool_names", required: true, kind: textOrArray, set: setToolNames},
	{name: "force", kind: boolean, set: func(r *namesRequest, v jsontext.Value) *invalidRequest {
		r.force = v.Kind() == 't'
		return nil
	}},
	{name: "session_id", kind: text, set: func(r *namesRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.session, v)
	}},
	{name: "stale", kind: boolean, set: func(r *namesRequest, v jsontext.Value) *invalidRequest {
		r.stale = v.Kind() == 't'
		return nil
	}},
	{name: "max_tokens", kind: integer, set: func(r *namesRequest, v jsontext.Value) *invalidRequest {
		return setCount(&r.maxTokens, v)
	}},
	{name: "include_history", kind: boolean, set: func(r *namesRequest, v jsontext.Value) *invalidRequest {
		r.includeHistory = v.Kind() == 't'
		return nil
	}},
	{name: "include_calls", kind: integer, set: func(r *namesRequest, v jsontext.Value) *invalidRequest {
		return setCount(&r.includeCalls, v)
	}},
}

func setCount(into *int, v jsontext.Value) *invalidRequest {
	n, ok := wholeNumber(v)
	if !ok || n < 0 || n > 1<<31-1 {
		return invalid("int_type", "Input should be a valid integer of 0 or more", v)
	}
	*into = int(n)
	return nil
}

// setToolNames takes a comma-separated string, or an array whose elements are
// names as they stand, commas and outer spaces included.
func setToolNames(r *namesRequest, v jsontext.Value) *invalidRequest {
	if v.Kind() == '"' {
		for name := range strings.SplitSeq(unquote(v), ",") {
			r.names = append(r.names, strings.TrimSpace(name))
		}
	} else {
		values, fault := elements(v, r.maxItems)
		if fault != nil {
			return fault
		}
		for i, name := range values {
			if name.Kind() != '"' {
				return invalid(text.code, text.msg, name, "tool_names", i)
			}
			r.names = append(r.names, unquote(name))
		}
	}
	if len(r.names) > r.maxItems {
		return tooMany(r.maxItems, "names")
	}
	return nil
}
