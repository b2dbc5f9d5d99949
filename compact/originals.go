package compact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"memoryd"
)

// Original is something that compaction took out of a conversation.
type Original struct {
	// ID is "o_" (a message) or "c_" (the record of a compaction) and hexadecimal
	// digits. It is derived from the content, so that equal content has one id.
	ID string
	// Data are the exact bytes.
	Data []byte
}

// Originals stores what was removed, by workspace. Nothing of one workspace can
// be had from another.
type Originals interface {
	// Put stores all of the items or none. An id that is there already is left as
	// it is; its expiry may be renewed.
	Put(ctx context.Context, workspace string, items []Original) error
	// Get fails with a memoryd.NotFound error for an id that is unknown or has
	// expired.
	Get(ctx context.Context, workspace, id string) (Original, error)
}

// ValidID reports whether id has the form of an original's id.
func ValidID(id string) bool {
	if len(id) < 16 || len(id) > 26 || !strings.HasPrefix(id, "o_") && !strings.HasPrefix(id, "c_") {
		return false
	}
	for _, c := range []byte(id[2:]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// originalID derives the id of a message's bytes.
func originalID(data []byte) string {
	sum := sha256.Sum256(data)
	return "o_" + hex.EncodeToString(sum[:12])
}

// Memory keeps originals in memory. It is for tests and for a server without a
// durable store; what it holds is lost with the process. It is safe for
// concurrent use.
type Memory struct {
	mu    sync.Mutex
	max   int
	used  int
	items map[string]map[string][]byte
}

// NewMemory makes a Memory that refuses to hold more than maxBytes.
func NewMemory(maxBytes int) *Memory {
	return &Memory{max: maxBytes, items: map[string]map[string][]byte{}}
}

// Put implements Originals.
func (m *Memory) Put(_ context.Context, workspace string, items []Original) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	need := 0
	for _, it := range items {
		if _, ok := m.items[workspace][it.ID]; !ok {
			need += len(it.Data)
		}
	}
	if m.used+need > m.max {
		return memoryd.Errorf(memoryd.TooLarge, "the memory for originals is full")
	}
	if m.items[workspace] == nil {
		m.items[workspace] = map[string][]byte{}
	}
	for _, it := range items {
		if _, ok := m.items[workspace][it.ID]; !ok {
			m.used += len(it.Data)
			m.items[workspace][it.ID] = append([]byte(nil), it.Data...)
		}
	}
	return nil
}

// Get implements Originals.
func (m *Memory) Get(_ context.Context, workspace, id string) (Original, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.items[workspace][id]
	if !ok {
		return Original{}, memoryd.Errorf(memoryd.NotFound, "there is no original %s in this workspace", id)
	}
	return Original{ID: id, Data: append([]byte(nil), data...)}, nil
}
