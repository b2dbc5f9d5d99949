package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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

// readLoose reads an object that may hold comments and trailing commas: it is for edits that
// leave them in the text.
func readLoose(text []byte) (members, error) {
	text = plainJSON(text)
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

// index is the place of a member, -1 where there is none of the name.
func (m members) index(name string) int {
	return slices.IndexFunc(m, func(x member) bool { return x.name == name })
}

// start is where the member's value begins in the text that it was read from.
func (m member) start() int { return m.to - len(m.value) }

// with is the object's text with more members, or other values of those that it has.
func (m members) with(more map[string]json.RawMessage) (json.RawMessage, error) {
	for _, name := range sorted(more) {
		m = m.set(name, more[name])
	}
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

// set puts a member in its place, at the end if it is new.
func (m members) set(name string, value []byte) members {
	i := m.index(name)
	if i < 0 {
		return append(m, member{name: name, value: value})
	}
	m[i].value = value
	return m
}

// editJSON puts the entry of f into its place, and changes no other byte.
func editJSON(text []byte, h host, f rewrite) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	all, err := readLoose(text)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON and stays unchanged: %w", err)
	}
	servers, i := members{}, all.index(h.key)
	from, to := 0, 0
	if i >= 0 {
		from, to = all[i].start(), all[i].to
		if servers, err = readLoose(all[i].value); err != nil {
			return nil, fmt.Errorf("%s: %w", h.key, err)
		}
	}
	entries := map[string]json.RawMessage{}
	for _, s := range servers {
		entries[s.name] = json.RawMessage(text[from+s.start() : from+s.to])
	}
	h.text = true
	name, value, err := f(entries, h)
	if err != nil {
		return nil, err
	}
	old := entries[name]
	switch {
	case i < 0:
		return spliceMember(text, h.key, []byte("{\n    \""+name+"\": "+string(value)+"\n  }")), nil
	case value == nil && len(servers) == 1 && bytes.HasPrefix(all[i].value, []byte("{\n    \""+name)):
		return spliceMember(text, h.key, nil), nil // made by install
	case old != nil && value != nil:
		was, _ := started(plainJSON(old), h)
		if kept, _ := replaced(was.Args); string(value) != kept {
			value = relaid(old, value)
		}
	}
	return slices.Concat(text[:from], spliceMember(text[from:to], name, value), text[to:]), nil
}

// relaid is an entry with the members of another value. What they share keeps its bytes, also
// the words at the end of a list: a wrapped server is given back as it was written.
func relaid(text []byte, value json.RawMessage) []byte {
	was, err := readLoose(text)
	now, failed := readLoose(value)
	if err != nil || failed != nil {
		return value
	}
	old := text
	for _, m := range was {
		k := now.index(m.name)
		if k < 0 {
			text = spliceMember(text, m.name, nil)
			continue
		}
		mine := old[m.start():m.to]
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
		first := jsonOf(now[:more])
		between := ","
		if len(was) == 0 {
			between = " "
		}
		return slices.Concat([]byte(first[:len(first)-1]), []byte(between), inner, []byte("]"))
	case more < 0 && slices.Equal(now, was[-more:]):
		first := jsonOf(was[:-more])
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
	i := all.index(name)
	switch {
	case i >= 0 && value != nil:
		return slices.Concat(object[:all[i].start()], value, object[all[i].to:])
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
