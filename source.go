package memoryd

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// sourceName is the member of a stored call's metadata that says who wrote it; what a
// client sends under this name is dropped.
const sourceName = "memoryd_source"

// WithSource adds the id of the API key that recorded a call to its metadata. An empty source,
// which means this machine, adds nothing.
func WithSource(metadata json.RawMessage, source string) json.RawMessage {
	if source == "" {
		return without(metadata, sourceName)
	}
	return WithMembers(metadata, map[string]any{sourceName: source})
}

// WithMembers adds members to metadata, in the place of those of the same names.
func WithMembers(metadata json.RawMessage, members map[string]any) json.RawMessage {
	own := bytes.TrimSpace(without(metadata, slices.Collect(maps.Keys(members))...))
	added, err := json.Marshal(members)
	if err != nil {
		return own
	}
	if len(own) < 2 || own[0] != '{' || len(bytes.TrimSpace(own[1:len(own)-1])) == 0 {
		return added
	}
	out := make([]byte, 0, len(own)+len(added)+1)
	out = append(append(out, own[:len(own)-1]...), ',')
	return append(out, added[1:]...)
}

// sourced reports whether the metadata name the recorder of the call; otherwise it was this
// machine.
func (c *Call) sourced() bool { return bytes.Contains(c.Metadata, []byte(sourceName)) }

// LocalSource is the source of calls recorded without an API key.
const LocalSource = "local"

// Source returns the id of the API key that recorded the call, or LocalSource.
func (c *Call) Source() string {
	if !c.sourced() {
		return LocalSource
	}
	if id := lastSource(c.Metadata); id != "" {
		return id
	}
	var m struct {
		Source string `json:"memoryd_source"`
	}
	if json.Unmarshal(c.Metadata, &m) != nil || m.Source == "" {
		return LocalSource
	}
	return m.Source
}

// lastSource reads the source where it is the last member, as WithSource writes it, and has no escapes: the end of JSON
// that holds the name between unescaped quotes, one brace behind the value, is no text of a client's. It is "" elsewhere.
func lastSource(metadata json.RawMessage) string {
	rest, ends := bytes.CutSuffix(metadata, []byte(`"}`))
	at := bytes.LastIndexByte(rest, '"')
	if !ends || at < 0 || bytes.IndexByte(rest[at:], '\\') >= 0 {
		return ""
	}
	before, named := bytes.CutSuffix(rest[:at], []byte(`"`+sourceName+`":`))
	if !named || len(before) == 0 || before[len(before)-1] != ',' && before[len(before)-1] != '{' {
		return ""
	}
	return string(rest[at+1:])
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
