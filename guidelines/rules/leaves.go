package rules

import (
	"bytes"
	"strconv"
	"strings"

	"memoryd"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits on what is read of one input.
const (
	maxDepth  = 8
	maxLeaves = 256
)

// LeafKind is the kind of a Leaf.
type LeafKind uint8

// The kinds.
const (
	Text LeafKind = iota
	Number
	Word // true, false, null
	Array
	Object
)

// Leaf is a value of an input. Its path is "a.b" for member b of a, "a[]" for any element of
// the list a, and "" for the whole. Of a list or an object, Number is the size.
type Leaf struct {
	Path   string
	Kind   LeafKind
	Text   string
	Number float64
	// Length is the whole length of a text in bytes.
	Length int
	// From and To are where a text, a number or a word stands in the input; both are 0 if the
	// input is a text that holds JSON.
	From, To int
}

// Name returns the last member of the path.
func (l *Leaf) Name() string {
	return strings.TrimSuffix(l.Path[strings.LastIndexByte(l.Path, '.')+1:], "[]")
}

// Scalar reports whether the value is a text, a number or a truth value.
func (l *Leaf) Scalar() bool { return l.Kind < Array && !l.null() }

func (l *Leaf) null() bool { return l.Kind == Word && l.Text == "null" }

// LeavesOf reads an input: an object, a text that holds one, or any text.
func LeavesOf(input []byte) []Leaf {
	input = bytes.TrimSpace(input)
	var r reader
	if len(input) == 0 {
		return nil
	}
	if input[0] == '"' {
		b, _ := jsontext.AppendUnquote(nil, input) // what cannot be read stands as it is
		if s := bytes.TrimSpace(b); !bytes.HasPrefix(s, []byte("{")) || !jsontext.Value(s).IsValid() {
			r.text("", string(b), 0)
			return r.leaves
		}
		input, r.isInner = b, true
	}
	r.leaves = make([]Leaf, 0, 8)
	r.dec = memoryd.BorrowDecoder(input)
	defer memoryd.ReturnDecoder(r.dec)
	if !r.value("", 0) && len(r.leaves) == 0 {
		r.text("", string(input), 0)
	}
	return r.leaves
}

type reader struct {
	dec     *jsontext.Decoder
	leaves  []Leaf
	isInner bool // offsets are not those of the input
}

// add appends a leaf whose value ends where the decoder stands and is so long.
func (r *reader) add(l Leaf, length int) {
	if r.dec != nil && !r.isInner {
		l.To = int(r.dec.InputOffset())
		l.From = l.To - length
	}
	r.leaves = append(r.leaves, l)
}

// value reads the next value; it reports whether reading can go on.
func (r *reader) value(path string, depth int) bool {
	if depth > maxDepth || len(r.leaves) >= maxLeaves {
		return r.dec.SkipValue() == nil
	}
	switch r.dec.PeekKind() {
	case '{':
		return r.inside(path, depth, Object, '}')
	case '[':
		return r.inside(path, depth, Array, ']')
	}
	raw, err := r.dec.ReadValue()
	if err != nil {
		return false
	}
	switch raw.Kind() {
	case '"':
		s, err := jsontext.AppendUnquote(nil, raw)
		if err != nil && len(s) == 0 {
			return false
		}
		r.text(path, string(s), len(raw))
	case '0':
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			f = 0
		}
		r.add(Leaf{Path: path, Kind: Number, Text: string(raw), Number: f}, len(raw))
	default:
		r.add(Leaf{Path: path, Kind: Word, Text: string(raw)}, len(raw))
	}
	return true
}

// inside reads the members of an object, or the elements of a list.
func (r *reader) inside(path string, depth int, kind LeafKind, end jsontext.Kind) bool {
	if _, err := r.dec.ReadToken(); err != nil {
		return false
	}
	at := len(r.leaves)
	r.leaves = append(r.leaves, Leaf{Path: path, Kind: kind})
	for r.dec.PeekKind() != end {
		of := ""
		if kind == Object {
			name, err := r.dec.ReadToken()
			if err != nil {
				return false
			}
			of = name.String()
			of = of[:min(len(of), 64)]
			if path != "" {
				of = path + "." + of
			}
		} else {
			of = path + "[]"
		}
		if !r.value(of, depth+1) {
			return false
		}
		r.leaves[at].Number++
	}
	_, err := r.dec.ReadToken()
	return err == nil
}

func (r *reader) text(path, s string, length int) {
	r.add(Leaf{Path: path, Kind: Text, Text: s, Length: len(s)}, length)
}
