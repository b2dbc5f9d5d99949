package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// members is an object whose members keep their order.
type members []member

type member struct {
	name     string
	value    jsontext.Value
	from, to int // where it stood in the text that it was read from
}

// readLoose is readMembers where there may be comments and trailing commas: it is for
// edits that leave them in the text.
func readLoose(text []byte) (members, error) { return readMembers(plainJSON(text)) }

func readMembers(text []byte) (members, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if t, err := d.ReadToken(); err != nil {
		return nil, err
	} else if t.Kind() != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	var all members
	for d.PeekKind() == '"' {
		from := int(d.InputOffset())
		from += len(text[from:]) - len(bytes.TrimLeft(text[from:], ", \t\r\n"))
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		n := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		all = append(all, member{n, value.Clone(), from, int(d.InputOffset())})
	}
	_, err := d.ReadToken()
	return all, err
}

func (m members) text() (jsontext.Value, error) {
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b)
	_ = e.WriteToken(jsontext.BeginObject)
	for _, x := range m {
		_ = e.WriteToken(jsontext.String(x.name))
		if err := e.WriteValue(x.value); err != nil {
			return nil, err
		}
	}
	err := e.WriteToken(jsontext.EndObject)
	return bytes.TrimSpace(b.Bytes()), err
}

// set puts a member in its place, at the end if it is new; a nil value takes it
// away.
func (m members) set(name string, value []byte) members {
	i := slices.IndexFunc(m, func(x member) bool { return x.name == name })
	switch {
	case value == nil && i >= 0:
		return slices.Delete(m, i, i+1)
	case value == nil:
		return m
	case i < 0:
		return append(m, member{name: name, value: value})
	}
	m[i].value = value
	return m
}

// editJSON puts the entries that f changes into their places, and changes no other byte.
func editJSON(text []byte, h host, f func(map[string]json.RawMessage, host) error) ([]byte, error) {
	out := text
	if len(bytes.TrimSpace(text)) == 0 {
		out = []byte("{}\n")
	}
	all, err := readLoose(out)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON and stays unchanged: %w", err)
	}
	servers := members{}
	i := slices.IndexFunc(all, func(x member) bool { return x.name == h.key })
	if i >= 0 {
		if servers, err = readMembers(all[i].value); err != nil {
			return nil, fmt.Errorf("%s: %w", h.key, err)
		}
	}
	before := map[string]json.RawMessage{}
	for _, s := range servers {
		at := all[i].to - len(all[i].value) + s.to
		before[s.name] = json.RawMessage(out[at-len(s.value) : at])
	}
	after := maps.Clone(before)
	h.text = true
	if err := f(after, h); err != nil {
		return nil, err
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(sorted(before), sorted(after)...)))) {
		switch {
		case bytes.Equal(before[name], after[name]):
		case i < 0:
			out = spliceMember(out, h.key, []byte("{\n    \""+name+"\": "+string(after[name])+"\n  }"))
		case after[name] == nil && len(servers) == 1 && bytes.HasPrefix(all[i].value, []byte("{\n    \""+name)):
			out = spliceMember(out, h.key, nil) // made by install
		default:
			from, to := all[i].to-len(all[i].value), all[i].to
			value := after[name]
			was, _ := started(plainJSON(before[name]), h)
			kept, _ := replaced(was.Args)
			if k := slices.IndexFunc(servers, func(x member) bool { return x.name == name }); k >= 0 && value != nil && string(value) != kept {
				value = relaid(out[from+servers[k].to-len(servers[k].value):from+servers[k].to], value)
			}
			out = slices.Concat(out[:from], spliceMember(out[from:to], name, value), out[to:])
		}
	}
	return out, nil
}

// relaid is an entry with the members of another value. What they share keeps its bytes, also
// the words at the end of a list: a wrapped server is given back as it was written.
func relaid(text []byte, value json.RawMessage) []byte {
	was, err := readLoose(text)
	now, failed := readMembers(value)
	if err != nil || failed != nil {
		return value
	}
	old := text
	for _, m := range was {
		k := slices.IndexFunc(now, func(x member) bool { return x.name == m.name })
		if k < 0 {
			text = spliceMember(text, m.name, nil)
			continue
		}
		mine := old[m.to-len(m.value) : m.to]
		theirs := now[k].value
		now = slices.Delete(now, k, k+1)
		if err := cmp.Or(m.value.Compact(), theirs.Compact()); err != nil || !bytes.Equal(m.value, theirs) {
			text = spliceMember(text, m.name, relaidList(mine, theirs))
		}
	}
	for _, m := range now {
		if last, err := readLoose(text); err == nil && len(last) > 0 && !bytes.Contains(text, []byte("\n")) {
			end := last[len(last)-1].to
			text = slices.Concat(text[:end], fmt.Appendf(nil, ", %q: %s", m.name, m.value), text[end:])
			continue
		}
		text = spliceMember(text, m.name, m.value)
	}
	return text
}

// relaidList is a list that ends with what another one holds, or the other way round, with
// the bytes of that; nil where nothing is left of a list that was not there. What an empty
// list was is told by a blank.
func relaidList(text, value []byte) []byte {
	var was, now []string
	if json.Unmarshal(plainJSON(text), &was) != nil || json.Unmarshal(value, &now) != nil {
		return value
	}
	inner := text[1 : len(text)-1]
	switch more := len(now) - len(was); {
	case more > 0 && slices.Equal(was, now[more:]):
		first, _ := marshal(now[:more]) // strings are always JSON
		between := ","
		if len(was) == 0 {
			between = " "
		}
		return slices.Concat([]byte(first[:len(first)-1]), []byte(between), inner, []byte("]"))
	case more < 0 && slices.Equal(now, was[-more:]):
		first, _ := marshal(was[:-more])
		if rest, ok := bytes.CutPrefix(text, first[:len(first)-1]); ok && len(rest) > 1 {
			return slices.Concat([]byte("["), rest[1:])
		} else if ok {
			return nil
		}
	}
	return value
}

// plainJSON puts blanks in the place of comments and of trailing commas.
func plainJSON(text []byte) []byte {
	out := slices.Clone(text)
	comma := -1
	for i := 0; i < len(out); {
		end := i + 1
		switch c := out[i]; {
		case c == '"':
			end, comma = quoted(out, i), -1
		case bytes.HasPrefix(out[i:], []byte("//")):
			end = lineEnd(out, i)
		case bytes.HasPrefix(out[i:], []byte("/*")):
			if n := bytes.Index(out[i+2:], []byte("*/")); n >= 0 {
				end = i + n + 4
			}
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)):
			comma = -1
		}
		if out[i] == '/' && end > i+1 {
			for k := i; k < end; k++ {
				if out[k] != '\n' {
					out[k] = ' '
				}
			}
		}
		i = end
	}
	return out
}

// spliceMember gives an object's member another value, or a new one at the end; nil
// takes it away with the comma that it needed.
func spliceMember(object []byte, name string, value []byte) []byte {
	all, err := readLoose(object)
	if err != nil { // it was read before
		return object
	}
	end := bytes.IndexByte(plainJSON(object), '{') + 1
	i := slices.IndexFunc(all, func(x member) bool { return x.name == name })
	switch {
	case i >= 0 && value != nil:
		return slices.Concat(object[:all[i].to-len(all[i].value)], value, object[all[i].to:])
	case i > 0:
		return slices.Concat(object[:all[i-1].to], object[all[i].to:])
	case i == 0 && len(all) > 1:
		return slices.Concat(object[:all[0].from], object[all[1].from:])
	case i == 0:
		return slices.Concat(object[:end], object[all[0].to:])
	}
	line := fmt.Sprintf("%q: %s", name, value)
	if len(all) > 0 {
		end = all[len(all)-1].to
		line = ",\n" + string(indentOf(object, all[0].from)) + line
	}
	return slices.Concat(object[:end], []byte(line), object[end:])
}

// indentOf is the space before the place where a line begins with it.
func indentOf(text []byte, at int) []byte {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	if len(bytes.TrimLeft(line, " \t")) > 0 {
		return []byte("    ")
	}
	return line
}
