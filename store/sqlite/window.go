package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"

	"memoryd"
)

// identity is what is remembered of an accepted call.
type identity struct {
	key   [16]byte // the call's key, mixed with its workspace
	print uint64   // of tool and call hash: equal for exact repeats
	tool  uint32   // an identity of a tool that is gone counts no more
}

// identityBytes is the size of an identity on disk.
const identityBytes = 28

func (id *identity) appendTo(b []byte) []byte {
	b = append(b, id.key[:]...)
	b = binary.LittleEndian.AppendUint64(b, id.print)
	return binary.LittleEndian.AppendUint32(b, id.tool)
}

// readIdentity reads what appendTo wrote; b holds at least identityBytes.
func readIdentity(b []byte) (id identity) {
	copy(id.key[:], b)
	id.print = binary.LittleEndian.Uint64(b[16:])
	id.tool = binary.LittleEndian.Uint32(b[24:])
	return id
}

// spaceMask is mixed into the keys of a workspace, so that one set serves all.
func spaceMask(workspace string) [16]byte {
	sum := sha256.Sum256([]byte(workspace))
	return [16]byte(sum[:16])
}

func mixKey(key memoryd.CallKey, mask [16]byte) (out [16]byte) {
	for i := range out {
		out[i] = key[i] ^ mask[i]
	}
	return out
}

// contentPrint gives 64 bits of a call's hash; fingerprint adds the tool. Both
// are the same in every process, for they are stored.
func contentPrint(hash string) uint64 {
	sum := sha256.Sum256([]byte(hash))
	return binary.LittleEndian.Uint64(sum[:])
}

func fingerprint(content uint64, tool uint32) uint64 {
	x := content ^ (uint64(tool)+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

// window remembers the identities of the newest accepted calls, first in, first
// out. It belongs to the writer.
type window struct {
	size  int // how many are remembered
	first uint64
	next  uint64 // position of the next identity; those from first on are here
	// chunks hold the identity of position p at p%size.
	chunks [][]identity
	keys   index
	prints index
	seed   maphash.Seed
}

const chunkSize = 1 << 12

func newWindow(size int) *window {
	w := &window{size: size, seed: maphash.MakeSeed(), chunks: make([][]identity, size/chunkSize+1)}
	w.keys = newIndex(size, w.keyHash)
	w.prints = newIndex(size, w.printHash)
	return w
}

// at gives the identity at a place.
func (w *window) at(place uint32) *identity { return &w.chunks[place/chunkSize][place%chunkSize] }

// get gives the identity at a position from first to next.
func (w *window) get(pos uint64) *identity { return w.at(uint32(pos % uint64(w.size))) }

func (w *window) keyHash(place uint32) uint64   { return maphash.Bytes(w.seed, w.at(place).key[:]) }
func (w *window) printHash(place uint32) uint64 { return maphash.Comparable(w.seed, w.at(place).print) }

// tool gives the tool in which the key was accepted.
func (w *window) tool(key *[16]byte) (uint32, bool) {
	i, ok := w.keys.find(maphash.Bytes(w.seed, key[:]), func(p uint32) bool { return w.at(p).key == *key })
	if !ok {
		return 0, false
	}
	return w.at(w.keys.place(i)).tool, true
}

// repeats reports whether a call with the fingerprint was accepted.
func (w *window) repeats(fp uint64) bool {
	_, ok := w.prints.find(maphash.Comparable(w.seed, fp), func(p uint32) bool { return w.at(p).print == fp })
	return ok
}

// add remembers an identity and forgets the oldest if the window is full.
func (w *window) add(id identity) {
	if w.next-w.first == uint64(w.size) {
		place := uint32(w.first % uint64(w.size))
		w.keys.remove(place)
		w.prints.remove(place)
		w.first++
	}
	place := uint32(w.next % uint64(w.size))
	if w.chunks[place/chunkSize] == nil {
		w.chunks[place/chunkSize] = make([]identity, min(chunkSize, w.size))
	}
	*w.at(place) = id
	w.keys.put(place, func(p uint32) bool { return w.at(p).key == id.key })
	w.prints.put(place, func(p uint32) bool { return w.at(p).print == id.print })
	w.next++
}

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
