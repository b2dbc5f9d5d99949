package sqlite

import (
	"encoding/binary"
	"errors"
)

// ring lists the rows of a tool's kept calls, oldest first. When a full history
// takes a call in, the oldest row leaves at the front and returns at the back.
type ring struct {
	slots []int64
	head  int // place of the oldest in slots
	n     int
}

func (r *ring) len() int { return r.n }

// at gives the i-th oldest.
func (r *ring) at(i int) int64 {
	i += r.head
	if i >= len(r.slots) {
		i -= len(r.slots)
	}
	return r.slots[i]
}

func (r *ring) push(slot int64) {
	if r.n == len(r.slots) {
		grown := make([]int64, max(4, r.n+r.n/2))
		r.copyTo(grown)
		r.slots, r.head = grown, 0
	}
	i := r.head + r.n
	if i >= len(r.slots) {
		i -= len(r.slots)
	}
	r.slots[i] = slot
	r.n++
}

// drop lets the n oldest go.
func (r *ring) drop(n int) {
	r.n -= n
	r.head += n
	if r.head >= len(r.slots) {
		r.head -= len(r.slots)
	}
	if r.n == 0 {
		r.head = 0
	}
}

// all gives a copy, oldest first; part one of those from a place to before another.
func (r *ring) all() []int64 { return r.part(0, r.n) }

func (r *ring) part(from, to int) []int64 {
	out := make([]int64, to-from)
	for i := range out {
		out[i] = r.at(from + i)
	}
	return out
}

func (r *ring) copyTo(dst []int64) {
	for i := range r.n {
		dst[i] = r.at(i)
	}
}

// encodeSlots writes row ids as varint differences.
func encodeSlots(slots []int64) []byte {
	out := make([]byte, 0, 4*len(slots))
	prev := int64(0)
	for _, s := range slots {
		out = binary.AppendVarint(out, s-prev)
		prev = s
	}
	return out
}

func decodeSlots(b []byte) ([]int64, error) {
	var out []int64
	prev := int64(0)
	for len(b) > 0 {
		d, n := binary.Varint(b)
		if n <= 0 {
			return nil, errors.New("a list of rows is damaged")
		}
		prev += d
		out = append(out, prev)
		b = b[n:]
	}
	return out, nil
}
