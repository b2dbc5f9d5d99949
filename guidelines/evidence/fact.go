package evidence

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"memoryd"
)

// FactKind says what a fact is about.
type FactKind string

// The kinds of fact. Of several facts on one path that always hold together
// the one that comes first here is published.
const (
	ValueIs  FactKind = "value"     // the value is Value
	Missing  FactKind = "missing"   // the parameter is not given
	Present  FactKind = "present"   // it is given
	IsEmpty  FactKind = "empty"     // the text is empty
	TypeIs   FactKind = "type"      // the value's type is Value
	AtLeast  FactKind = "at_least"  // the number (the greatest in an array) is Number or more
	AtMost   FactKind = "at_most"   // ... or less
	ItemsMin FactKind = "items_min" // the array has Number elements or more
	ItemsMax FactKind = "items_max" // ... or fewer
)

// rank orders kinds by how much they say to a reader.
func (k FactKind) rank() int {
	return slices.Index(factKinds[:], k)
}

// factKinds are all kinds in that order.
var factKinds = [...]FactKind{
	ValueIs, Missing, Present, IsEmpty, TypeIs, AtLeast, AtMost, ItemsMin, ItemsMax,
}

// Fact is one property of an input.
type Fact struct {
	// Path addresses the parameter: "a.b" is member b of a, "a[]" any element of
	// the array a, "" an input that is a plain text.
	Path string   `json:"path"`
	Kind FactKind `json:"kind"`
	// Value is a text, a type, or the literal of a number or truth value.
	Value string `json:"value,omitempty"`
	// Number is a bound; it is a value that occurs in the history.
	Number float64 `json:"number,omitempty"`
}

// key tells facts apart, for ids and for order.
func (f Fact) key() string {
	return f.Path + "\x00" + string(f.Kind) + "\x00" + f.Value + "\x00" + strconv.FormatFloat(f.Number, 'g', -1, 64)
}

// feature is a fact with the calls for which it holds.
type feature struct {
	fact Fact
	col  int32
	set  set
}

// features lists what can be told of the inputs, of enough calls and not of
// almost all, in a fixed order.
func (x *inputs) features() []feature {
	var fs []feature
	add := func(f feature) {
		if c := f.set.count(); c >= minSupport && c < x.n {
			fs = append(fs, f)
		}
	}
	for id, c := range x.columns {
		col := int32(id) //nolint:gosec // bounded by maxPaths
		add(feature{Fact{Path: c.path, Kind: Present}, col, c.given})
		if id > 0 || c.given.count() > 0 {
			add(feature{Fact{Path: c.path, Kind: Missing}, col, x.all().without(c.given)})
		}
		for k, s := range c.kinds {
			if s != nil && s.count() < c.given.count() {
				add(feature{Fact{Path: c.path, Kind: TypeIs, Value: kind(k).String()}, col, s}) //nolint:gosec // below kinds
			}
		}
		for _, n := range []struct {
			values   []float64
			min, max FactKind
		}{
			{c.numbers, AtLeast, AtMost},
			{c.items, ItemsMin, ItemsMax},
		} {
			x.thresholds(n.values, func(v float64, s set, least bool) {
				kind := n.max
				if least {
					kind = n.min
				}
				add(feature{Fact{Path: c.path, Kind: kind, Number: v}, col, s})
			})
		}
	}
	for _, t := range x.list {
		if len(t.calls) >= minSupport && len(t.calls) < x.n {
			add(feature{t.fact(x.columns[t.col].path), t.col, t.set(x.n)})
		}
	}
	return fs
}

func (x *inputs) all() set {
	s := newSet(x.n)
	for i := range x.n {
		s.add(i)
	}
	return s
}

func (t token) set(n int) set {
	s := newSet(n)
	for _, c := range t.calls {
		s.add(int(c))
	}
	return s
}

func (t token) fact(path string) Fact {
	if t.text == "" {
		return Fact{Path: path, Kind: IsEmpty}
	}
	return Fact{Path: path, Kind: ValueIs, Value: t.text}
}

// thresholds cuts values at up to maxCuts places, spread evenly over the calls,
// and gives the calls above and below each cut.
func (x *inputs) thresholds(values []float64, give func(v float64, s set, least bool)) {
	var sorted []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			sorted = append(sorted, v)
		}
	}
	if len(sorted) < 2*minSupport {
		return
	}
	slices.Sort(sorted)
	cuts := make([]float64, 0, maxCuts)
	for i := 1; i <= maxCuts; i++ {
		v := sorted[i*len(sorted)/(maxCuts+1)]
		if v > sorted[0] && !slices.Contains(cuts, v) {
			cuts = append(cuts, v)
		}
	}
	if next, more := slices.BinarySearch(sorted, math.Nextafter(sorted[0], math.Inf(1))); next < len(sorted) && (more || len(cuts) < maxCuts) {
		if v := sorted[next]; !slices.Contains(cuts, v) {
			cuts = append(cuts, v) // the cut just above the least value
		}
	}
	for _, v := range cuts {
		above, below := newSet(x.n), newSet(x.n)
		most := math.Inf(-1)
		for i, got := range values {
			switch {
			case got >= v:
				above.add(i)
			case got < v:
				below.add(i)
				most = max(most, got)
			}
		}
		give(v, above, true)
		give(most, below, false)
	}
}

// String names the type as JSON does.
func (k kind) String() string {
	return [...]string{"string", "number", "boolean", "null", "object", "array"}[k]
}

// Match tells which facts hold for one input.
type Match struct {
	inputs *inputs
	column map[string]int32
}

// MatchOf reads an input in the way in which the history is mined.
func MatchOf(input []byte) Match {
	m := Match{inputs: readInputs([]Observation{{Call: memoryd.Call{Input: input}}}), column: map[string]int32{}}
	for id, c := range m.inputs.columns {
		if _, known := m.column[c.path]; !known || c.given.count() > 0 {
			m.column[c.path] = int32(id) //nolint:gosec // bounded by maxPaths
		}
	}
	return m
}

func (m Match) given(path string) *column {
	id, ok := m.column[path]
	if !ok || m.inputs.columns[id].given.count() == 0 {
		return nil
	}
	return m.inputs.columns[id]
}

// Holds reports whether f is true of the input.
func (m Match) Holds(f Fact) bool {
	c := m.given(f.Path)
	if f.Kind == Missing {
		return c == nil
	}
	if c == nil {
		return false
	}
	switch f.Kind {
	case Present:
		return true
	case TypeIs:
		return slices.ContainsFunc(kindsOf(c), func(k kind) bool { return k.String() == f.Value })
	case ValueIs, IsEmpty:
		return m.has(f.Path, f.Value)
	}
	return c.within(f)
}

// within compares a number, a length or a count with a bound.
func (c *column) within(f Fact) bool {
	for _, b := range []struct {
		least, most FactKind
		values      []float64
	}{{AtLeast, AtMost, c.numbers}, {ItemsMin, ItemsMax, c.items}} {
		if len(b.values) == 0 || math.IsNaN(b.values[0]) {
			continue
		}
		switch f.Kind {
		case b.least:
			return b.values[0] >= f.Number
		case b.most:
			return b.values[0] <= f.Number
		}
	}
	return false
}

func kindsOf(c *column) []kind {
	var ks []kind
	for k, s := range c.kinds {
		if s != nil {
			ks = append(ks, kind(k)) //nolint:gosec // below kinds
		}
	}
	return ks
}

// has reports whether the input has the value at path; numbers are equal
// when they are the same number.
func (m Match) has(path, text string) bool {
	want, err := strconv.ParseFloat(text, 64)
	for _, t := range m.inputs.list {
		if m.inputs.columns[t.col].path != path {
			continue
		}
		if t.text == text {
			return true
		}
		if got, bad := strconv.ParseFloat(t.text, 64); err == nil && bad == nil && got == want {
			return true
		}
	}
	return false
}

// set is a set of calls by their place in the history.
type set []uint64

func newSet(calls int) set { return make(set, (calls+63)/64) }

func (s set) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s set) has(i int) bool { return s[i>>6]>>(i&63)&1 == 1 }

func (s set) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// countAnd is the size of the intersection.
func (s set) countAnd(o set) int {
	n := 0
	for i, w := range s {
		n += bits.OnesCount64(w & o[i])
	}
	return n
}

func (s set) and(o set) set {
	r := make(set, len(s))
	for i, w := range s {
		r[i] = w & o[i]
	}
	return r
}

func (s set) without(o set) set {
	r := make(set, len(s))
	for i, w := range s {
		r[i] = w &^ o[i]
	}
	return r
}

// each calls f for the members in ascending order.
func (s set) each(f func(int)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(i<<6 + bits.TrailingZeros64(w))
		}
	}
}

// first is the least member, -1 of an empty set.
func (s set) first() int {
	for i, w := range s {
		if w != 0 {
			return i<<6 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// appendKey appends a form of s that equal sets, and only they, share.
func (s set) appendKey(b []byte) []byte {
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// itemID names an item by what it says, not by its counts, so that it stays the
// same while the history grows.
func itemID(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return kind + "-" + hex.EncodeToString(sum[:5])
}

// sameSet reports whether two sets have the same members.
func sameSet(a, b set) bool { return slices.Equal(a, b) }
