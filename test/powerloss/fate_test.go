package powerloss

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// sector is what a disk writes at once, if nothing goes wrong.
const sector = 512

// manner is how a power cut treats what was not flushed.
type manner int

const (
	dropAll  manner = iota
	keepAll         // as if the process had only been killed
	keepSome        // every sector for itself, so later writes may survive earlier ones
	tear            // all up to some write, of which a part
	manners
)

func (f *fate) String() string {
	return fmt.Sprintf("%s, sectors kept %g, damaged %g", f.manner, f.keep, f.damage)
}

func (m manner) String() string {
	return [...]string{"drop all", "keep all", "keep some", "tear"}[m]
}

// fate decides what is left of what was not flushed.
type fate struct {
	rng    *rand.Rand
	manner manner
	keep   float64 // share of sectors kept by keepSome
	damage float64 // share of those that are torn or filled with rubbish
}

func newFate(rng *rand.Rand) *fate {
	return &fate{
		rng: rng, manner: manner(rng.IntN(int(manners))),
		keep: []float64{0.1, 0.5, 0.9, 0.99}[rng.IntN(4)], damage: []float64{0, 0, 0.1}[rng.IntN(3)],
	}
}

// pick gives one of n versions, the durable one being 0.
func (f *fate) pick(n int) int {
	switch f.manner {
	case dropAll:
		return 0
	case keepAll:
		return n - 1
	}
	return f.rng.IntN(n)
}

// content gives what is left of a file.
func (f *fate) content(n *inode) []byte {
	out := slices.Clone(n.durable)
	switch f.manner {
	case dropAll:
	case keepAll:
		for _, e := range n.later {
			out = e.on(out)
		}
	case keepSome:
		for _, e := range n.later {
			out = f.some(e, out)
		}
	case tear:
		out = f.torn(n.later, out)
	}
	return out
}

// torn applies a number of events and a part of the next.
func (f *fate) torn(later []event, out []byte) []byte {
	if len(later) == 0 {
		return out
	}
	n := f.rng.IntN(len(later))
	for _, e := range later[:n] {
		out = e.on(out)
	}
	last := later[n]
	if last.kind == write {
		last.data = last.data[:f.rng.IntN(len(last.data)+1)]
	}
	return last.on(out)
}

// some applies each sector of an event, or not.
func (f *fate) some(e event, out []byte) []byte {
	if e.kind == truncate {
		if f.rng.Float64() < f.keep {
			out = e.on(out)
		}
		return out
	}
	for len(e.data) > 0 {
		n := min(len(e.data), sector-int(e.offset)%sector)
		piece := event{kind: write, offset: e.offset, data: e.data[:n]}
		if f.rng.Float64() < f.keep {
			out = f.damaged(piece).on(out)
		}
		e.data, e.offset = e.data[n:], e.offset+int64(n)
	}
	return out
}

// damaged tears a sector, or fills what should have been written with rubbish.
func (f *fate) damaged(e event) *event {
	if f.rng.Float64() >= f.damage {
		return &e
	}
	if f.rng.IntN(2) == 0 {
		e.data = e.data[:f.rng.IntN(len(e.data)+1)]
		return &e
	}
	e.data = slices.Clone(e.data)
	for i := range e.data {
		e.data[i] = byte(f.rng.Uint32())
	}
	return &e
}
