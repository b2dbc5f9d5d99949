package sqlite

// index finds places by hash: open addressing with linear probing in a table
// of fixed size, at most half full. It holds no pointers, so a million entries
// cost the garbage collector nothing.
type index struct {
	table []uint32 // place+1, 0 is free
	mask  uint64
	hash  func(place uint32) uint64
}

// newIndex makes an index for up to n places, whose hashes hash tells.
func newIndex(n int, hash func(uint32) uint64) index {
	size := uint64(8)
	for size < 2*uint64(n) {
		size *= 2
	}
	return index{table: make([]uint32, size), mask: size - 1, hash: hash}
}

// place gives the place at a table position that find returned.
func (x *index) place(i uint64) uint32 { return x.table[i] - 1 }

// find gives the table position of the place that has the hash and is equal.
func (x *index) find(hash uint64, equal func(place uint32) bool) (uint64, bool) {
	for i := hash & x.mask; ; i = (i + 1) & x.mask {
		if x.table[i] == 0 {
			return i, false
		}
		if equal(x.table[i] - 1) {
			return i, true
		}
	}
}

// put enters a place, instead of an equal one if there is one.
func (x *index) put(place uint32, equal func(place uint32) bool) {
	i, _ := x.find(x.hash(place), equal)
	x.table[i] = place + 1
}

// remove takes the place out, unless an equal one has replaced it.
func (x *index) remove(place uint32) {
	i, ok := x.find(x.hash(place), func(p uint32) bool { return p == place })
	if !ok {
		return
	}
	x.table[i] = 0
	// Move those up that were pushed past the gap.
	for j := (i + 1) & x.mask; x.table[j] != 0; j = (j + 1) & x.mask {
		home := x.hash(x.table[j]-1) & x.mask
		if (j-home)&x.mask >= (j-i)&x.mask {
			x.table[i], x.table[j] = x.table[j], 0
			i = j
		}
	}
}
