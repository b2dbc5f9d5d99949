package preflight

import "math/rand/v2"

// interner numbers hashes from 0 in the order in which they come. Where a hash
// stands in the table follows from chance, so that no input can make it slow; the
// numbers do not.
type interner struct {
	factor uint64
	shift  int
	slots  []internSlot
	keys   []uint64 // by number
}

type internSlot struct {
	key    uint64
	number int32 // plus 1; 0 is free
}

const leastSlotBits = 8

func newInterner() interner {
	return interner{factor: rand.Uint64() | 1, shift: 64 - leastSlotBits, slots: make([]internSlot, 1<<leastSlotBits)} //nolint:gosec // spreads keys, guards no secret
}

// number gives the number of a hash.
func (t *interner) number(key uint64) int32 {
	mask := len(t.slots) - 1
	at := int(key * t.factor >> t.shift) //nolint:gosec // below the number of slots
	for t.slots[at].number != 0 {
		if t.slots[at].key == key {
			return t.slots[at].number - 1
		}
		at = (at + 1) & mask
	}
	n := int32(len(t.keys)) //nolint:gosec // bounded by calls times what is read of one
	t.keys = append(t.keys, key)
	t.slots[at] = internSlot{key, n + 1}
	if 2*len(t.keys) > len(t.slots) {
		t.grow()
	}
	return n
}

func (t *interner) grow() {
	old := t.slots
	t.slots = make([]internSlot, 2*len(old))
	t.shift--
	mask := len(t.slots) - 1
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		at := int(s.key * t.factor >> t.shift) //nolint:gosec // below the number of slots
		for t.slots[at].number != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = s
	}
}

// bags holds for each input the numbers of what it is made of, each once, in the
// order in which they first came.
type bags struct {
	numbers []int32
	ends    []int32
	newest  []int32 // by number: 1 + the newest input with it
}

func (b *bags) of(input int) []int32 {
	from := int32(0)
	if input > 0 {
		from = b.ends[input-1]
	}
	return b.numbers[from:b.ends[input]]
}

// put adds a number to the input that is read.
func (b *bags) put(number int32) {
	for int(number) >= len(b.newest) {
		b.newest = append(b.newest, 0)
	}
	if input := int32(len(b.ends)) + 1; b.newest[number] != input { //nolint:gosec // at most maxCalls
		b.newest[number] = input
		b.numbers = append(b.numbers, number)
	}
}

// end ends the input that is read.
func (b *bags) end() { b.ends = append(b.ends, int32(len(b.numbers))) } //nolint:gosec // bounded by calls times what is read of one
