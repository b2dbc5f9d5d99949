package compact

import (
	"context"
	"sync"
	"time"

	"memoryd"
)

// Memory keeps originals in memory. Use it for tests, and for a server without a durable
// store: its content is lost with the process. It is safe for concurrent use.
type Memory struct {
	max   int
	keep  time.Duration // 0 is for ever
	clock func() time.Time

	mu    sync.Mutex
	used  int
	items map[string]map[string]*memoryItem // by workspace and id
}

// memoryItem is an original and when it was last put.
type memoryItem struct {
	data []byte
	at   time.Time
}

// NewMemory returns a Memory that holds at most maxBytes and forgets an original after the time
// keep since its last Put; 0 forgets nothing.
func NewMemory(maxBytes int, keep time.Duration, clock func() time.Time) *Memory {
	return &Memory{max: maxBytes, keep: keep, clock: clock, items: map[string]map[string]*memoryItem{}}
}

// Put implements Originals. It restarts the time of what is already there.
func (m *Memory) Put(_ context.Context, workspace string, items []Original) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	need := 0
	for _, it := range items {
		if m.items[workspace][it.ID] == nil {
			need += len(it.Data)
		}
	}
	if m.used+need > m.max {
		m.forget(now, workspace, items)
	}
	if m.used+need > m.max {
		return memoryd.Errorf(memoryd.TooLarge, "there is no more room for originals")
	}
	if m.items[workspace] == nil {
		m.items[workspace] = map[string]*memoryItem{}
	}
	for _, it := range items {
		if k := m.items[workspace][it.ID]; k != nil {
			k.at = now
			if it.Replace {
				m.used += len(it.Data) - len(k.data)
				k.data = append([]byte(nil), it.Data...)
			}
			continue
		}
		m.used += len(it.Data)
		m.items[workspace][it.ID] = &memoryItem{append([]byte(nil), it.Data...), now}
	}
	return nil
}

// forget drops what has expired, except what is about to be put again.
func (m *Memory) forget(now time.Time, workspace string, items []Original) {
	for _, it := range items {
		if k := m.items[workspace][it.ID]; k != nil {
			k.at = now
		}
	}
	for w, of := range m.items {
		for id, k := range of {
			if m.expired(k, now) {
				m.used -= len(k.data)
				delete(of, id)
			}
		}
		if len(of) == 0 {
			delete(m.items, w)
		}
	}
}

func (m *Memory) expired(k *memoryItem, now time.Time) bool {
	return m.keep > 0 && now.Sub(k.at) >= m.keep
}

// Get implements Originals.
func (m *Memory) Get(_ context.Context, workspace, id string) (Original, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.items[workspace][id]
	if k == nil || m.expired(k, m.clock()) {
		return Original{}, memoryd.Errorf(memoryd.NotFound, "there is no original %s in this workspace", id)
	}
	return Original{ID: id, Data: append([]byte(nil), k.data...)}, nil
}
