package evaluate

import (
	"bytes"
	"encoding/json"
)

// setting is what callers may say of a call beside it: what the tool is for, and
// what the agent was about. Both come from outside and are shown inside the data
// block; either may be nil.
type setting struct {
	Tool json.Marshaler `json:"tool_description,omitempty"`
	Task json.Marshaler `json:"task,omitempty"`
}

// settingOf reads the members of a call's metadata that its judge may see:
// tool_schema or tool_description (a text or an object), and task or context (a
// text), each within limit bytes. It looks at no other member. Text that
// addresses the judge is left out.
func settingOf(metadata json.RawMessage, limit int) (s setting) {
	if limit == 0 || len(metadata) == 0 {
		return setting{}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(metadata, &members) != nil {
		return setting{}
	}
	for _, name := range []string{"tool_schema", "tool_description"} {
		if v := memberOf(members[name], limit, true); v != nil && s.Tool == nil {
			s.Tool = v
		}
	}
	for _, name := range []string{"task", "context"} {
		if v := memberOf(members[name], limit, false); v != nil && s.Task == nil {
			s.Task = v
		}
	}
	return s
}

// memberOf gives a member as it may be shown, or nil: a text, and where objects
// may be shown also an object.
func memberOf(raw json.RawMessage, limit int, objects bool) json.Marshaler {
	raw = bytes.TrimSpace(raw)
	var v json.Marshaler
	switch {
	case len(raw) < 3: // nothing, "" or {}
		return nil
	case raw[0] == '"':
		var text string
		if json.Unmarshal(raw, &text) != nil || text == "" {
			return nil
		}
		v = excerptOf(text, limit)
	case raw[0] == '{' && objects:
		v = inputOf(raw, limit)
	default:
		return nil
	}
	if shown, err := v.MarshalJSON(); err != nil || textAddressesJudge(string(shown)) {
		return nil
	}
	return v
}

// shared is the tool's description when all briefs have the same one, so that it
// is shown once. It is taken off the briefs then.
func shared(briefs []brief) json.Marshaler {
	if len(briefs) < 2 || briefs[0].Tool == nil {
		return nil
	}
	first, err := briefs[0].Tool.MarshalJSON()
	for i := range briefs {
		if briefs[i].Tool == nil || err != nil {
			return nil
		}
		if other, err := briefs[i].Tool.MarshalJSON(); err != nil || !bytes.Equal(first, other) {
			return nil
		}
	}
	tool := briefs[0].Tool
	for i := range briefs {
		briefs[i].Tool = nil
	}
	return tool
}
