package preflight

import (
	"encoding/json"
	"maps"
	"slices"

	tested "memoryd/guidelines/rules"
	"memoryd/store"
)

// maxSeenBytes bounds how much of a run's outputs is read for values.
const maxSeenBytes = 128 << 10

// seenValue is a value that an output of the run held.
type seenValue struct {
	value string
	// under are the names it stood under: of the member, and of what holds that.
	under []string
	// tool answered with it last, and said the state beside it.
	tool, state string
}

// seenValues are the identifiers of the outputs of a run, the newest first.
type seenValues struct {
	list    []*seenValue
	byValue map[string]*seenValue
}

// valuesSeen reads the outputs of the run, once.
func (m *Model) valuesSeen(v *view) *seenValues {
	if v.seen == nil {
		v.seen = &seenValues{byValue: map[string]*seenValue{}}
		room := maxSeenBytes
		for i := range v.RunCalls {
			c := &v.RunCalls[i]
			if failed, known := outcome(c); failed && known || len(c.Output) > room {
				continue
			}
			room -= len(c.Output)
			v.seen.read(c)
		}
	}
	return v.seen
}

func (s *seenValues) read(c *store.RunCall) {
	var tree any
	if json.Unmarshal([]byte(c.Output), &tree) != nil {
		return
	}
	was := len(s.list)
	s.walk(tree, "", "")
	for _, v := range s.list[was:] {
		v.tool = c.Tool
	}
	for value, state := range tested.States(c.Output) {
		if v := s.byValue[value]; v != nil && v.state == "" {
			v.state = state
		}
	}
}

// maxSeen bounds the values of a run that are kept.
const maxSeen = 2000

// walk notes the values in the member name of something called parent. A name may be one
// itself, as in {"payment_methods": {"card_1": {...}}}.
func (s *seenValues) walk(v any, parent, name string) {
	switch v := v.(type) {
	case string:
		s.see(v, name, parent)
	case []any:
		for _, e := range v {
			s.walk(e, parent, name)
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if _, is := v[member].(map[string]any); is {
				s.see(member, name)
			}
			s.walk(v[member], name, member)
		}
	}
}

// see notes a value and what it stood under.
func (s *seenValues) see(value string, under ...string) {
	c := s.byValue[value]
	if c == nil {
		if len(s.list) >= maxSeen || len(value) > maxValue || !tested.IdentifierLike(value) {
			return
		}
		c = &seenValue{value: value}
		s.byValue[value] = c
		s.list = append(s.list, c)
	}
	for _, u := range under {
		if u != "" && !slices.Contains(c.under, u) {
			c.under = append(c.under, u)
		}
	}
}
