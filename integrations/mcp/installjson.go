package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// readLoose reads an object that may hold comments and trailing commas: it is for edits that
// leave them in the text.
func readLoose(text []byte) (*hujson.Object, error) {
	v, err := readWhole(text)
	if err != nil {
		return nil, err
	}
	return objectIn(&v)
}

// readWhole is readLoose with what stands around the object.
func readWhole(text []byte) (hujson.Value, error) {
	plain := jsontext.Value(plainJSON(text))
	if err := plain.Compact(); err != nil { // a name may not stand twice
		return hujson.Value{}, err
	}
	return hujson.Parse(bytes.Clone(text))
}

func objectIn(v *hujson.Value) (*hujson.Object, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	return o, nil
}

// plainJSON puts blanks in the place of comments and of trailing commas.
func plainJSON(text []byte) []byte {
	plain, _ := hujson.Standardize(bytes.Clone(text)) // what cannot be read stays as it is
	return plain
}

// place is where a member of the name stands, -1 where there is none.
func place(o *hujson.Object, name string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == name })
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() } //nolint:forcetypeassert // names are texts

// valueOf reads what a value is made of; nil where it is no JSON.
func valueOf(text []byte) hujson.ValueTrimmed {
	v, _ := hujson.Parse(bytes.Clone(text))
	return v.Value
}

// textOf is the text of a value as it was written.
func textOf(v hujson.ValueTrimmed) []byte { return hujson.Value{Value: v}.Pack() }

// attach puts an entry at the end of a list, or a member at the end of an object: end is the value
// that it ends with. What stood behind the last one stands behind it.
func attach[T any](list []T, entry T, end func(*T) *hujson.Value) []T {
	if n := len(list); n > 0 {
		last := end(&list[n-1])
		end(&entry).AfterExtra, last.AfterExtra = last.AfterExtra, nil
	}
	return append(list, entry)
}

// detach takes an entry or a member away, with the comma that it needed; begin is the value that
// one begins with.
func detach[T any](list []T, i int, begin, end func(*T) *hujson.Value) []T {
	if i > 0 {
		end(&list[i-1]).AfterExtra = end(&list[i]).AfterExtra
	} else if len(list) > 1 {
		begin(&list[1]).BeforeExtra = begin(&list[0]).BeforeExtra
	}
	return slices.Delete(list, i, i+1)
}

func nameIn(m *hujson.ObjectMember) *hujson.Value  { return &m.Name }
func valueIn(m *hujson.ObjectMember) *hujson.Value { return &m.Value }
func itself(v *hujson.Value) *hujson.Value         { return v }

// put gives an object's member another value, or a new one, on a line of its own at the end.
func put(o *hujson.Object, name string, value hujson.ValueTrimmed) {
	if i := place(o, name); i >= 0 {
		o.Members[i].Value.Value = value
		return
	}
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}}
	m.Value = hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value}
	if len(o.Members) > 0 {
		m.Name.BeforeExtra = hujson.Extra("\n" + indentOf(o))
	}
	o.Members = attach(o.Members, m, valueIn)
}

// remove takes an object's member away, if it has one of the name.
func remove(o *hujson.Object, name string) {
	if i := place(o, name); i >= 0 {
		o.Members = detach(o.Members, i, nameIn, valueIn)
	}
}

// indentOf is the space before the first member, where it begins a line.
func indentOf(o *hujson.Object) string {
	if len(o.Members) > 0 {
		before := o.Members[0].Name.BeforeExtra
		if at := bytes.LastIndexByte(before, '\n'); at >= 0 && len(bytes.TrimLeft(before[at:], "\n \t")) == 0 {
			return string(before[at+1:])
		}
	}
	return "    "
}

// editMember lets edit change a file, and in it the object that a member is, which is empty where
// there is none. No other byte changes.
func editMember(text []byte, key string, edit func(all, inner *hujson.Object) error) ([]byte, error) {
	whole, err := readWhole(text)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON and stays unchanged: %w", err)
	}
	all, err := objectIn(&whole)
	if err != nil {
		return nil, err
	}
	inner := &hujson.Object{}
	if i := place(all, key); i >= 0 {
		if inner, err = objectIn(&all.Members[i].Value); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	if err := edit(all, inner); err != nil {
		return nil, err
	}
	return whole.Pack(), nil
}

// editJSON puts the entry of f into its place.
func editJSON(text []byte, h host, f rewrite) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	return editMember(text, h.key, func(all, servers *hujson.Object) error {
		entries := map[string]json.RawMessage{}
		for _, s := range servers.Members {
			entries[nameOf(s)] = textOf(s.Value.Value)
		}
		name, value, err := f(entries, h)
		switch {
		case err != nil:
		case place(all, h.key) < 0:
			put(all, h.key, valueOf([]byte("{\n    \""+name+"\": "+string(value)+"\n  }")))
		case value == nil && len(servers.Members) == 1 && bytes.HasPrefix(textOf(servers), []byte("{\n    \""+name)):
			remove(all, h.key) // made by install
		case value == nil:
			remove(servers, name)
		default:
			put(servers, name, valueOf(value))
		}
		return err
	})
}
