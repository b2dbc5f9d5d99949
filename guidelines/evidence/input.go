package evidence

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"memoryd"

	"github.com/go-json-experiment/json/jsontext"
)

// kind is the type of a JSON value.
type kind uint8

const (
	kindText kind = iota
	kindNumber
	kindBool
	kindNull
	kindObject
	kindArray
	kinds
)

// inputs is what the inputs of all calls hold, column by column.
type inputs struct {
	n       int
	paths   map[pathStep]int32
	columns []*column
	list    []token
}

type pathStep struct {
	parent int32
	name   string
}

// column is one parameter path over all calls.
type column struct {
	path  string
	kinds [kinds]set
	given set
	// Per call: the greatest number and count of elements; NaN where there is none.
	// nil until first needed.
	numbers, items []float64
	whole          bool
	// tokens are the places in inputs.list of its values.
	tokens map[string]int32
}

// token is a value of a column with the calls that have it.
type token struct {
	col   int32
	text  string
	calls []int32
}

// readInputs reads the inputs of calls.
func readInputs(calls []memoryd.Call) *inputs {
	x := &inputs{n: len(calls), paths: map[pathStep]int32{}}
	root := x.child(-1, "")
	dec := jsontext.NewDecoder(bytes.NewReader(nil))
	for i := range calls {
		x.read(dec, root, i, calls[i].Input)
	}
	return x
}

// read takes one input in. A string that holds a JSON object is read as that
// object; what is not JSON counts as text.
func (x *inputs) read(dec *jsontext.Decoder, root int32, call int, raw []byte) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return
	}
	w := walker{inputs: x, dec: dec, call: call, left: maxValues}
	if raw[0] == '"' {
		w.reset(raw)
		tok, err := dec.ReadToken()
		if err != nil {
			x.text(root, call, string(raw))
			return
		}
		s := strings.TrimSpace(tok.String())
		if !strings.HasPrefix(s, "{") || !jsontext.Value(s).IsValid() {
			x.text(root, call, s)
			return
		}
		raw = []byte(s)
	}
	w.reset(raw)
	w.value(root, 0)
}

// walker reads one input.
type walker struct {
	*inputs
	dec  *jsontext.Decoder
	call int
	left int
}

func (w *walker) reset(raw []byte) {
	w.dec.Reset(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// value reads the next value into col; it reports whether reading can go on.
func (w *walker) value(col int32, depth int) bool {
	if col < 0 || depth > maxDepth || w.left <= 0 {
		return w.dec.SkipValue() == nil
	}
	w.left--
	switch w.dec.PeekKind() {
	case '{':
		return w.object(col, depth)
	case '[':
		return w.array(col, depth)
	}
	tok, err := w.dec.ReadToken()
	if err != nil {
		return false
	}
	switch tok.Kind() {
	case '"':
		w.text(col, w.call, tok.String())
	case '0':
		w.number(col, w.call, tok.String())
	case 'n':
		w.mark(col, w.call, kindNull)
	default:
		w.mark(col, w.call, kindBool)
		w.token(col, w.call, tok.String())
	}
	return true
}

func (w *walker) object(col int32, depth int) bool {
	if _, err := w.dec.ReadToken(); err != nil {
		return false
	}
	w.mark(col, w.call, kindObject)
	for w.dec.PeekKind() != '}' {
		name, err := w.dec.ReadToken()
		if err != nil {
			return false
		}
		if !w.value(w.child(col, name.String()), depth+1) {
			return false
		}
	}
	_, err := w.dec.ReadToken()
	return err == nil
}

func (w *walker) array(col int32, depth int) bool {
	if _, err := w.dec.ReadToken(); err != nil {
		return false
	}
	count := 0
	for ; w.dec.PeekKind() != ']'; count++ {
		element := int32(-1)
		if count < maxElements {
			element = w.child(col, "[]")
		}
		if !w.value(element, depth+1) {
			return false
		}
	}
	w.mark(col, w.call, kindArray)
	w.columns[col].items = w.greatest(w.columns[col].items, w.call, float64(count))
	_, err := w.dec.ReadToken()
	return err == nil
}

// child is the column of a member of col, -1 when there are too many.
func (x *inputs) child(parent int32, name string) int32 {
	step := pathStep{parent, name}
	if id, ok := x.paths[step]; ok {
		return id
	}
	if len(x.columns) >= maxPaths || len(name) > maxValueBytes {
		return -1
	}
	path := name
	switch {
	case parent > 0 && name == "[]":
		path = x.columns[parent].path + name
	case parent > 0:
		path = x.columns[parent].path + "." + name
	}
	id := int32(len(x.columns)) //nolint:gosec // bounded by maxPaths
	x.columns = append(x.columns, &column{path: path, given: newSet(x.n), whole: true})
	x.paths[step] = id
	return id
}

// mark notes that the call gives a value of kind k at col.
func (x *inputs) mark(col int32, call int, k kind) {
	c := x.columns[col]
	c.given.add(call)
	if c.kinds[k] == nil {
		c.kinds[k] = newSet(x.n)
	}
	c.kinds[k].add(call)
}

func (x *inputs) number(col int32, call int, literal string) {
	x.mark(col, call, kindNumber)
	c := x.columns[col]
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return
	}
	if f != math.Trunc(f) || strings.ContainsAny(literal, ".eE") {
		c.whole = false
	}
	c.numbers = x.greatest(c.numbers, call, f)
	x.token(col, call, literal)
}

func (x *inputs) text(col int32, call int, s string) {
	x.mark(col, call, kindText)
	if len(s) <= maxValueBytes {
		x.token(col, call, s)
	}
}

// greatest notes v for the call unless a greater value stands there.
func (x *inputs) greatest(values []float64, call int, v float64) []float64 {
	if values == nil {
		values = make([]float64, x.n)
		for i := range values {
			values[i] = math.NaN()
		}
	}
	if !(values[call] >= v) {
		values[call] = v
	}
	return values
}

func (x *inputs) token(col int32, call int, text string) {
	c := x.columns[col]
	id, ok := c.tokens[text]
	if !ok {
		if c.tokens == nil {
			c.tokens = map[string]int32{}
		}
		id = int32(len(x.list)) //nolint:gosec // bounded by calls times maxValues
		c.tokens[text] = id
		x.list = append(x.list, token{col: col, text: text})
	}
	t := &x.list[id]
	if n := len(t.calls); n == 0 || t.calls[n-1] != int32(call) { //nolint:gosec // a place in the history
		t.calls = append(t.calls, int32(call)) //nolint:gosec // a place in the history
	}
}
