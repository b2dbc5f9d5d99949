package facts

import "hash/maphash"

// valueIndex finds facts by their values: a table of open addresses. It can be
// emptied at a cost that follows from its last use, not from its largest.
type valueIndex struct {
	seed  maphash.Seed
	room  []valueSlot // what was ever needed
	slots []valueSlot // a power of two of them is in use
	used  int
	at    uint32 // where find ended, with the hash that it looked for
	hash  uint32
}

// valueSlot holds 1 + the number of a fact, 0 when it is free.
type valueSlot struct {
	hash uint32
	fact int32
}

const firstSlots = 256

func (x *valueIndex) clear() {
	if x.room == nil {
		x.seed = maphash.MakeSeed()
		x.room = make([]valueSlot, firstSlots)
	}
	x.slots, x.used = x.room[:firstSlots], 0
	clear(x.slots)
}

// find gives the number of the fact with a value; when there is none, the one that
// it gets if add is called next.
func (x *valueIndex) find(value string, facts []Fact) (k int32, ok bool) {
	x.hash = uint32(maphash.String(x.seed, value)) //nolint:gosec // the lower half will do
	mask := uint32(len(x.slots) - 1)               //nolint:gosec // a power of two
	for at := x.hash & mask; ; at = (at + 1) & mask {
		slot := x.slots[at]
		if slot.fact == 0 {
			x.at = at
			return int32(len(facts)), false //nolint:gosec // not more than there are tokens
		}
		if slot.hash == x.hash && facts[slot.fact-1].Value == value {
			return slot.fact - 1, true
		}
	}
}

// add notes the fact that find just did not find.
func (x *valueIndex) add(k int32) {
	x.slots[x.at] = valueSlot{x.hash, k + 1}
	if x.used++; x.used*2 > len(x.slots) {
		x.grow()
	}
}

func (x *valueIndex) grow() {
	old := append([]valueSlot(nil), x.slots...)
	n := 2 * len(old)
	if n > len(x.room) {
		x.room = make([]valueSlot, n)
	}
	x.slots = x.room[:n]
	clear(x.slots)
	mask := uint32(n - 1) //nolint:gosec // a power of two
	for _, slot := range old {
		if slot.fact == 0 {
			continue
		}
		at := slot.hash & mask
		for x.slots[at].fact != 0 {
			at = (at + 1) & mask
		}
		x.slots[at] = slot
	}
}
