package phrases

// Hashes is a set of hashes of words. The zero value is empty.
type Hashes struct {
	slots []uint64 // a power of two of them, at most half of them in use
	used  []int32
}

// Clear empties the set and keeps its memory.
func (s *Hashes) Clear() {
	for _, at := range s.used {
		s.slots[at] = 0
	}
	s.used = s.used[:0]
}

// Add adds a hash.
func (s *Hashes) Add(h uint64) {
	if 2*len(s.used) >= len(s.slots) {
		s.grow()
	}
	h |= 1 // 0 is a free slot
	if at := s.at(h); s.slots[at] == 0 {
		s.slots[at] = h
		s.used = append(s.used, int32(at)) //nolint:gosec // there are a few thousand slots
	}
}

// Has reports whether a hash is in the set.
func (s *Hashes) Has(h uint64) bool {
	h |= 1
	return len(s.used) > 0 && s.slots[s.at(h)] == h
}

// at is the slot of a hash, or the free one where it belongs.
func (s *Hashes) at(h uint64) int {
	last := len(s.slots) - 1
	at := int(h>>1*0x9E3779B97F4A7C15>>33) & last //nolint:gosec // 31 bits
	for s.slots[at] != 0 && s.slots[at] != h {
		at = (at + 1) & last
	}
	return at
}

func (s *Hashes) grow() {
	old := *s
	*s = Hashes{slots: make([]uint64, max(128, 2*len(old.slots))), used: make([]int32, 0, max(64, len(old.slots)))}
	for _, at := range old.used {
		s.Add(old.slots[at])
	}
}
