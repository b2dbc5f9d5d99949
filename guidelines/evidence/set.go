package evidence

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"slices"
	"strings"
)

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
