package preflight

// interner numbers hashes from 0 in the order in which they come.
type interner struct {
	numbers map[uint64]int32
	keys    []uint64 // by number
}

func newInterner() interner { return interner{numbers: map[uint64]int32{}} }

// number gives the number of a hash.
func (t *interner) number(key uint64) int32 {
	n, known := t.numbers[key]
	if !known {
		n = int32(len(t.keys)) //nolint:gosec // bounded by calls times what is read of one
		t.numbers[key] = n
		t.keys = append(t.keys, key)
	}
	return n
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
