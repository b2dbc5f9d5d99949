package preflight

import (
	"bytes"
	"slices"
	"strings"

	tested "memoryd/guidelines/rules"
	"memoryd/store"

	"github.com/go-json-experiment/json/jsontext"
)

// maxSeenBytes bounds how much of a run's outputs is read for values.
const maxSeenBytes = 128 << 10

// seenValue is a value that an output of the run held.
type seenValue struct {
	value string
	// under are the names it stood under: of the member, and of what holds that.
	under []string
	// limit is the number that stands with it, such as a balance.
	limit   float64
	limited bool
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
	text := strings.TrimSpace(c.Output)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return
	}
	was := len(s.list)
	s.scan([]byte(text))
	for _, v := range s.list[was:] {
		v.tool = c.Tool
	}
	for value, state := range tested.States(c.Output) {
		if v := s.byValue[value]; v != nil && v.state == "" {
			v.state = state
		}
	}
}

// limit is the number that stands with a value, and whether there is one.
func (s *seenValues) limit(value string) (float64, bool) {
	if c := s.byValue[value]; c != nil {
		return c.limit, c.limited
	}
	return 0, false
}

// of lists what a parameter may take: what stood under its name, or as a member of
// something that shares a telling word with it.
func (s *seenValues) of(l *leaf) []*seenValue {
	var out []*seenValue
	for _, c := range s.list {
		for _, name := range c.under {
			if name == l.name() || sharesWord(name, l.name()) {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

// scan reads an output that is JSON as far as it can be read.
func (s *seenValues) scan(text []byte) {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	s.value(dec, "", "", nil, 0)
}

// maxSeen bounds the values of a run that are kept.
const maxSeen = 2000

// value reads the next value, the member name of something called parent; own is
// the value that the name is itself, as in {"payment_methods": {"card_1": {...}}}. It
// reports whether reading can go on.
func (s *seenValues) value(dec *jsontext.Decoder, parent, name string, own *seenValue, depth int) bool {
	if depth > 16 || len(s.list) >= maxSeen {
		return dec.SkipValue() == nil
	}
	switch dec.PeekKind() {
	case '{':
		return s.members(dec, name, own, depth)
	case '[':
		if _, err := dec.ReadToken(); err != nil {
			return false
		}
		for dec.PeekKind() != ']' {
			if !s.value(dec, parent, name, nil, depth+1) {
				return false
			}
		}
		_, err := dec.ReadToken()
		return err == nil
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return false
	}
	if tok.Kind() == '"' {
		s.see(tok.String(), name, parent)
	}
	return true
}

func (s *seenValues) members(dec *jsontext.Decoder, name string, own *seenValue, depth int) bool {
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return false
		}
		member := tok.String()
		if dec.PeekKind() == '0' && own != nil && !own.limited {
			tok, err := dec.ReadToken()
			if err != nil {
				return false
			}
			if f, err := tok.Float(); err == nil {
				own.limit, own.limited = f, true
			}
			continue
		}
		var inner *seenValue
		if dec.PeekKind() == '{' {
			inner = s.see(member, name, "")
		}
		if !s.value(dec, name, member, inner, depth+1) {
			return false
		}
	}
	_, err := dec.ReadToken()
	return err == nil
}

// see notes a value and what it stood under. It returns the value if it is new:
// what the newest output says of it counts.
func (s *seenValues) see(value string, under ...string) *seenValue {
	if !isID(&leaf{kind: text, text: value}) {
		return nil
	}
	c := s.byValue[value]
	isNew := c == nil
	if isNew {
		c = &seenValue{value: value}
		s.byValue[value] = c
		s.list = append(s.list, c)
	}
	for _, u := range under {
		if u != "" && !slices.Contains(c.under, u) {
			c.under = append(c.under, u)
		}
	}
	if isNew {
		return c
	}
	return nil
}
