package preflight

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits on what is read of one input.
const (
	maxDepth     = 8
	maxLeaves    = 256
	maxTextBytes = 1500 // of one text
	maxBytes     = 4000 // of all texts together
)

type leafKind uint8

const (
	text leafKind = iota
	number
	word // true, false, null
	list
	object
)

// leaf is a value of an input with its path; of a list it holds the size.
type leaf struct {
	path   string
	kind   leafKind
	text   string
	number float64
	// length is the whole length of a text in bytes.
	length int
}

// leavesOf reads an input: an object, a text that holds one, or any text.
func leavesOf(input []byte) []leaf {
	input = bytes.TrimSpace(input)
	r := reader{room: maxBytes}
	if len(input) == 0 {
		return nil
	}
	if input[0] == '"' {
		dec := jsontext.NewDecoder(bytes.NewReader(input), jsontext.AllowInvalidUTF8(true))
		tok, err := dec.ReadToken()
		s := string(input)
		if err == nil {
			s = strings.TrimSpace(tok.String())
		}
		if !strings.HasPrefix(s, "{") || !jsontext.Value(s).IsValid() {
			r.text("", s)
			return r.leaves
		}
		input = []byte(s)
	}
	r.dec = jsontext.NewDecoder(bytes.NewReader(input), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if !r.value("", 0) && len(r.leaves) == 0 {
		r.text("", string(input))
	}
	return r.leaves
}

// identityOf stands for an input as far as it is read.
func identityOf(leaves []leaf) uint64 {
	h := seed
	for _, l := range leaves {
		h = h.add(l.path).int(int(l.kind)).add(l.text).int(int(l.number)).int(l.length)
	}
	return uint64(h)
}

type reader struct {
	dec    *jsontext.Decoder
	leaves []leaf
	room   int
}

// value reads the next value; it reports whether reading can go on.
func (r *reader) value(path string, depth int) bool {
	if depth > maxDepth || len(r.leaves) >= maxLeaves {
		return r.dec.SkipValue() == nil
	}
	switch r.dec.PeekKind() {
	case '{':
		return r.members(path, depth)
	case '[':
		return r.elements(path, depth)
	}
	tok, err := r.dec.ReadToken()
	if err != nil {
		return false
	}
	switch tok.Kind() {
	case '"':
		r.text(path, tok.String())
	case '0':
		f, err := strconv.ParseFloat(tok.String(), 64)
		if err != nil {
			f = 0
		}
		r.leaves = append(r.leaves, leaf{path: path, kind: number, text: tok.String()[:min(64, len(tok.String()))], number: f})
	default:
		r.leaves = append(r.leaves, leaf{path: path, kind: word, text: tok.String()})
	}
	return true
}

func (r *reader) members(path string, depth int) bool {
	if _, err := r.dec.ReadToken(); err != nil {
		return false
	}
	at := len(r.leaves)
	r.leaves = append(r.leaves, leaf{path: path, kind: object})
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return false
		}
		n := name.String()
		if !r.value(path+"."+n[:min(len(n), 64)], depth+1) {
			return false
		}
		r.leaves[at].number++
	}
	_, err := r.dec.ReadToken()
	return err == nil
}

func (r *reader) elements(path string, depth int) bool {
	if _, err := r.dec.ReadToken(); err != nil {
		return false
	}
	at := len(r.leaves)
	r.leaves = append(r.leaves, leaf{path: path, kind: list})
	for r.dec.PeekKind() != ']' {
		if !r.value(path+"[]", depth+1) {
			return false
		}
		r.leaves[at].number++
	}
	_, err := r.dec.ReadToken()
	return err == nil
}

func (r *reader) text(path, s string) {
	cut := s[:min(len(s), maxTextBytes, r.room)]
	r.room -= len(cut)
	r.leaves = append(r.leaves, leaf{path: path, kind: text, text: cut, length: len(s)})
}
