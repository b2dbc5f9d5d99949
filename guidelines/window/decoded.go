package window

import (
	"bytes"

	"memoryd/guidelines/evidence"
	"memoryd/store"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxDecoded is how many pieces are kept decoded: those of six tools with 2,000
// observations each, some 25 MiB.
const maxDecoded = 96

// decodedPieces keeps the observations of the pieces that were read last, ready to be
// mined: whoever writes guidelines of a busy tool reads its pieces again and again, and
// all but the newest stay as they are. The records decide: a piece that holds other bytes
// is decoded anew, whoever wrote it. It is safe for concurrent use.
type decodedPieces struct {
	cache *lru.Cache[store.RecordKey, decodedPiece]
}

type decodedPiece struct {
	data []byte // the observations were decoded from
	list []evidence.Observation
}

func newDecodedPieces(most int) *decodedPieces {
	cache, _ := lru.New[store.RecordKey, decodedPiece](most) // it fails for no size
	return &decodedPieces{cache}
}

// get gives the observations of a piece, which nobody may change.
func (d *decodedPieces) get(piece *store.Record) ([]evidence.Observation, bool) {
	p, ok := d.cache.Get(piece.RecordKey)
	return p.list, ok && bytes.Equal(p.data, piece.Data)
}

func (d *decodedPieces) put(piece *store.Record, list []evidence.Observation) {
	evidence.Digest(list)
	d.cache.Add(piece.RecordKey, decodedPiece{piece.Data, list})
}

// forget drops all: what is read again is decoded again.
func (d *decodedPieces) forget() { d.cache.Purge() }
