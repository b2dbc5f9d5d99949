package preflight

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	array
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
	// from and to are where a text, a number or a word stands in the input; both 0
	// when the input is a text that holds JSON.
	from, to int
	// within is the place among the leaves of the object that it is a member of, -1
	// at the top.
	within int
}

// name is the last member of the path.
func (l *leaf) name() string {
	return strings.TrimSuffix(l.path[strings.LastIndexByte(l.path, '.')+1:], "[]")
}

// leavesOf reads an input: an object, a text that holds one, or any text.
func leavesOf(input []byte) []leaf {
	input = bytes.TrimSpace(input)
	r := reader{room: maxBytes, within: -1}
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
			r.text("", s, 0)
			return r.leaves
		}
		input, r.isInner = []byte(s), true
	}
	r.dec = jsontext.NewDecoder(bytes.NewReader(input), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if !r.value("", 0) && len(r.leaves) == 0 {
		r.text("", string(input), 0)
	}
	return r.leaves
}

// identityOf stands for an input as far as it is read, whatever the order of the
// members of its objects.
func identityOf(leaves []leaf) uint64 {
	var sum hash
	nth := map[string]int{} // the order of a list's elements counts
	for i := range leaves {
		l := &leaves[i]
		h := seed.add(l.path).int(int(l.kind)).add(l.text).int(int(l.number)).int(l.length)
		if strings.Contains(l.path, "[]") {
			h = h.int(nth[l.path])
			nth[l.path]++
		}
		sum += h
	}
	return uint64(sum)
}

type reader struct {
	dec     *jsontext.Decoder
	leaves  []leaf
	room    int
	within  int  // the object that is read
	isInner bool // offsets are not those of the input
}

// add appends a leaf whose value ends where the decoder stands and is so long.
func (r *reader) add(l leaf, length int) {
	l.within = r.within
	if r.dec != nil && !r.isInner {
		l.to = int(r.dec.InputOffset())
		l.from = l.to - length
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
		return r.members(path, depth)
	case '[':
		return r.elements(path, depth)
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
		r.add(leaf{path: path, kind: number, text: string(raw[:min(64, len(raw))]), number: f}, len(raw))
	default:
		r.add(leaf{path: path, kind: word, text: string(raw)}, len(raw))
	}
	return true
}

func (r *reader) members(path string, depth int) bool {
	if _, err := r.dec.ReadToken(); err != nil {
		return false
	}
	at, outer := len(r.leaves), r.within
	r.leaves = append(r.leaves, leaf{path: path, kind: object, within: outer})
	r.within = at
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
	r.within = outer
	_, err := r.dec.ReadToken()
	return err == nil
}

func (r *reader) elements(path string, depth int) bool {
	if _, err := r.dec.ReadToken(); err != nil {
		return false
	}
	at := len(r.leaves)
	r.leaves = append(r.leaves, leaf{path: path, kind: array, within: r.within})
	for r.dec.PeekKind() != ']' {
		if !r.value(path+"[]", depth+1) {
			return false
		}
		r.leaves[at].number++
	}
	_, err := r.dec.ReadToken()
	return err == nil
}

func (r *reader) text(path, s string, length int) {
	cut := s[:min(len(s), maxTextBytes, r.room)]
	r.room -= len(cut)
	r.add(leaf{path: path, kind: text, text: cut, length: len(s)}, length)
}

// appendWords cuts a text in lower case into runs of letters and underscores with
// the hyphens before them, runs of digits, and runs of anything else but blanks.
func appendWords(words []string, s string) []string {
	start, last := 0, blank
	for i, r := range s {
		k := class(r)
		if k == last || last == hyphen && k == letter {
			last = k
			continue
		}
		if k == hyphen && last == other {
			k = other
		}
		if k != last {
			if last != blank && i > start {
				words = append(words, s[start:i])
			}
			start = i
		}
		last = k
	}
	if last != blank && len(s) > start {
		words = append(words, s[start:])
	}
	return words
}

type charClass uint8

const (
	blank charClass = iota
	letter
	digit
	hyphen
	other
)

func class(r rune) charClass {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r >= utf8.RuneSelf && unicode.IsLetter(r):
		return letter
	case r >= '0' && r <= '9':
		return digit
	case r == '-':
		return hyphen
	case unicode.IsSpace(r):
		return blank
	}
	return other
}

// appendSkeleton appends the form of a text: "a" for a run of letters, "A" for one that
// starts with a capital, "0" for a run of digits, one blank for white space, and everything
// else as it stands.
func appendSkeleton(b []byte, s string) []byte {
	last := other
	for _, r := range s {
		k := class(r)
		switch {
		case k == letter && last != letter && unicode.IsUpper(r):
			b = append(b, 'A')
		case k == letter && last != letter:
			b = append(b, 'a')
		case k == digit && last != digit:
			b = append(b, '0')
		case k == blank && last != blank:
			b = append(b, ' ')
		case k == hyphen, k == other:
			b = utf8.AppendRune(b, r)
		}
		last = k
	}
	return b
}
