package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"memoryd"
	"memoryd/store"
)

// Kind is the kind of the records that hold vectors. They belong to a workspace,
// so that they can be listed together; their id is the tool's name. What they hold
// follows from the guidelines: they need not travel with a tool.
const Kind = "embedding"

func keyOf(ref memoryd.ToolRef) store.RecordKey {
	return store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: ref.Workspace}, Kind: Kind, ID: ref.Tool}
}

// entry is a vector with what it was made from.
type entry struct {
	model string
	// asked is the length that was asked of the model, 0 when it chose.
	asked int
	text  digest
	// vector has length 1.
	vector []float32
}

// The form of a record, all numbers little endian:
//
//	4 bytes    "emb1"
//	2 bytes    length of the model's name, then the name
//	32 bytes   SHA-256 of the text
//	4 bytes    dimensions asked for
//	4 bytes    dimensions, then so many float32
const formMark = "emb1"

// fixedBytes is a record without the model's name and the numbers.
const fixedBytes = len(formMark) + 2 + len(digest{}) + 4 + 4

// offUnit is how far from 1 rounding may put the length of a stored vector.
const offUnit = 1e-3

var errCorrupt = errors.New("the record does not hold a vector")

func (e *entry) encode() []byte {
	b := make([]byte, 0, fixedBytes+len(e.model)+4*len(e.vector))
	b = append(b, formMark...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(e.model))) // see Config.Validate
	b = append(b, e.model...)
	b = append(b, e.text[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(e.asked))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.vector)))
	for _, x := range e.vector {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// decode reads a record; anything but what encode wrote is an error.
func decode(b []byte) (entry, error) {
	var e entry
	b, ok := bytes.CutPrefix(b, []byte(formMark))
	if !ok || len(b) < fixedBytes-len(formMark) {
		return e, errCorrupt
	}
	name := int(binary.LittleEndian.Uint16(b))
	if b = b[2:]; len(b) < name+len(e.text)+8 {
		return e, errCorrupt
	}
	e.model, b = string(b[:name]), b[name:]
	b = b[copy(e.text[:], b):]
	asked, n := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	b = b[8:]
	if asked > mostDimensions || n == 0 || n > mostDimensions || len(b) != 4*int(n) {
		return e, fmt.Errorf("%w: %d bytes for %d dimensions", errCorrupt, len(b), n)
	}
	e.asked, e.vector = int(asked), make([]float32, n)
	for i := range e.vector {
		e.vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	if l := length(e.vector); !(math.Abs(l-1) < offUnit) { // also when it is no number
		return e, fmt.Errorf("%w: its length is %v", errCorrupt, l)
	}
	return e, nil
}

func length(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// unit gives the vector of length 1 in the direction of v; false when v has none.
func unit(v []float32) ([]float32, bool) {
	l := length(v)
	if !(l > 0) || math.IsInf(l, 0) || len(v) > mostDimensions {
		return nil, false
	}
	u := make([]float32, len(v))
	for i, x := range v {
		u[i] = float32(float64(x) / l)
	}
	return u, true
}
