package rules

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"memoryd"

	"github.com/go-json-experiment/json/jsontext"
)

// maxStateFields is how many fields beside a value are kept, of words and of numbers each.
const maxStateFields = 4

// A field and its value that say in what state something is are plain words of at most so many
// letters: one of few words, or yes or no.
const (
	stateName = 24
	stateWord = 16
)

// plainWord reports whether a text is a word of two letters to most, which hyphens and underscores may part.
func plainWord(s string, most int) bool {
	if len(s) < 2 || len(s) > most || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && s[i] != '_' && s[i] != '-' {
			return false
		}
	}
	return true
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// Given is an identifier in an answer, with the names that it stood under (of the member, and of
// what holds that) and the words and numbers in the same object, as in "available=true status=open
// balance=80".
type Given struct {
	Value, State string
	Under        []string
}

// Identifiers lists those of an answer in JSON. A name may be one itself, as in
// {"payment_methods": {"card_1": {...}}}.
func Identifiers(answer string) iter.Seq[Given] {
	return func(yield func(Given) bool) {
		s := strings.TrimSpace(answer)
		if s == "" || s[0] != '{' && s[0] != '[' {
			return
		}
		dec := memoryd.BorrowDecoder([]byte(s))
		defer memoryd.ReturnDecoder(dec)
		tree, err := readPart(dec, s)
		if _, end := dec.ReadToken(); err == nil && errors.Is(end, io.EOF) {
			tree.identifiers(Given{Under: []string{"", ""}}, yield)
		}
	}
}

// part is a value in an answer: its text if it is a text, its letters if it is a number, its members by name or its
// elements.
type part struct {
	name string // in the object that it is a member of
	kind jsontext.Kind
	text string
	of   []part
}

// readPart reads the next value of an answer. Of members of one name the last counts.
func readPart(dec *jsontext.Decoder, answer string) (v part, err error) {
	if v.kind = dec.PeekKind(); v.kind != '{' && v.kind != '[' {
		v.text, err = textIn(dec, answer)
		return v, err
	}
	v.of = make([]part, 0, 4)
	_, err = dec.ReadToken()
	for err == nil && dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		name := ""
		if v.kind == '{' {
			if name, err = textIn(dec, answer); err != nil {
				return v, err
			}
		}
		var member part
		if member, err = readPart(dec, answer); err == nil {
			member.name = name
			v.of = append(v.of, member)
		}
	}
	if err == nil {
		_, err = dec.ReadToken()
	}
	if v.kind == '{' {
		slices.SortStableFunc(v.of, func(a, b part) int { return strings.Compare(a.name, b.name) })
		last := v.of[:0]
		for i := range v.of {
			if i+1 == len(v.of) || v.of[i].name != v.of[i+1].name {
				last = append(last, v.of[i])
			}
		}
		v.of = last
	}
	return v, err
}

// textIn reads a text, or what else is no object and no list: a piece of the answer, unless it is
// written with escapes.
func textIn(dec *jsontext.Decoder, answer string) (string, error) {
	raw, err := dec.ReadValue()
	if err != nil {
		return "", err
	}
	to := dec.InputOffset()
	text := answer[to-int64(len(raw)) : to]
	switch {
	case text[0] != '"':
		return text, nil
	case strings.IndexByte(text, '\\') >= 0:
		return memoryd.Unquote(raw), nil
	}
	return text[1 : len(text)-1], nil
}

// holds reports whether a value may hold an identifier, or is one.
func (v *part) holds() bool {
	return v.kind == '{' || v.kind == '[' || v.kind == '"' && IdentifierLike(v.text)
}

// identifiers are those in a value that holds any; at says what it stands under, and beside what.
func (v *part) identifiers(at Given, yield func(Given) bool) bool {
	switch v.kind {
	case '"':
		at.Value = v.text
		return yield(at)
	case '[':
		at.State = ""
		for i := range v.of {
			if v.of[i].holds() && !v.of[i].identifiers(at, yield) {
				return false
			}
		}
	case '{':
		state := ""
		for i := range v.of {
			m := &v.of[i]
			if !m.holds() {
				continue
			}
			in := Given{Under: []string{m.name, at.Under[0]}}
			if m.kind == '"' && !isState(m.name, m.text) {
				state = cmp.Or(state, v.state())
				in.State = state
			}
			if m.kind == '{' && IdentifierLike(m.name) && !yield(Given{Value: m.name, Under: at.Under[:1]}) {
				return false
			}
			if !m.identifiers(in, yield) {
				return false
			}
		}
	}
	return true
}

func isState(name, word string) bool {
	return plainWord(name, stateName) && plainWord(word, stateWord)
}

// state is what an object says beside its identifiers.
func (v *part) state() string {
	var fields, numbers []*part
	for i := range v.of {
		switch m := &v.of[i]; {
		case !plainWord(m.name, stateName):
		case m.kind == '"' && plainWord(m.text, stateWord), m.kind == 't', m.kind == 'f':
			fields = append(fields, m)
		case m.kind == '0':
			numbers = append(numbers, m)
		}
	}
	var said []byte
	for _, list := range [...][]*part{fields, numbers} {
		slices.SortFunc(list, func(a, b *part) int { return strings.Compare(a.name+"=", b.name+"=") })
		for _, m := range list[:min(len(list), maxStateFields)] {
			said = append(append(append(said, ' '), m.name...), '=')
			if m.kind == '0' {
				n, _ := strconv.ParseFloat(m.text, 64) // it is a number
				said = strconv.AppendFloat(said, n, 'f', -1, 64)
			} else {
				said = append(said, m.text...)
			}
		}
	}
	return strings.TrimPrefix(string(said), " ")
}

// numberIn is the number that a field of a state holds; false where it holds none.
func numberIn(state, field string) (float64, bool) {
	for f := range strings.FieldsSeq(state) {
		if n, is := strings.CutPrefix(f, field+"="); is {
			v, err := strconv.ParseFloat(n, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// isNumber reports whether a field of a state, as "balance=80", holds a number.
func isNumber(field string) bool {
	name, _, _ := strings.Cut(field, "=")
	_, is := numberIn(field, name)
	return is
}
