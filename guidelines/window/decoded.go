package window

import (
	"bytes"
	"math"
	"sync"

	"memoryd/guidelines/evidence"
	"memoryd/store"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxDecoded bounds the memory of what is kept decoded: about eight tools with 2,000
// observations each.
const maxDecoded = 32 << 20

// decodedPieces keeps the observations of the pieces that were read last, ready to be
// mined: whoever writes guidelines of a busy tool reads its pieces again and again, and
// all but the newest stay as they are. The records decide: a piece that holds other bytes
// is decoded anew, whoever wrote it. It is safe for concurrent use.
type decodedPieces struct {
	most int

	mu   sync.Mutex
	lru  *simplelru.LRU[store.RecordKey, *decodedPiece]
	size int // of all pieces
}

type decodedPiece struct {
	data []byte // the observations were decoded from
	list []evidence.Observation
	size int
}

func newDecodedPieces(most int) *decodedPieces {
	d := &decodedPieces{most: most}
	d.lru, _ = simplelru.NewLRU(math.MaxInt, func(_ store.RecordKey, p *decodedPiece) { d.size -= p.size }) // put bounds it
	return d
}

// get gives the observations of a piece, which nobody may change.
func (d *decodedPieces) get(piece *store.Record) ([]evidence.Observation, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.lru.Get(piece.RecordKey)
	if !ok || !bytes.Equal(p.data, piece.Data) {
		return nil, false
	}
	return p.list, true
}

func (d *decodedPieces) put(piece *store.Record, list []evidence.Observation) {
	p := &decodedPiece{data: piece.Data, list: list, size: bytesOfACall + len(piece.Data) + evidence.Digest(list)}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lru.Remove(piece.RecordKey)
	d.lru.Add(piece.RecordKey, p)
	d.size += p.size
	for d.size > d.most {
		d.lru.RemoveOldest()
	}
}

// forget drops all: what is read again is decoded again.
func (d *decodedPieces) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lru.Purge()
}
