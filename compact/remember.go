package compact

import (
	"sync"
	"time"
)

// memo remembers values for a while. The oldest go when it is full. It is safe
// for concurrent use.
type memo[V any] struct {
	max   int
	keep  time.Duration
	clock func() time.Time

	mu    sync.Mutex
	items map[string]memoItem[V]
	order []string // of insertion
}

type memoItem[V any] struct {
	value V
	at    time.Time
}

func newMemo[V any](limit int, keep time.Duration, clock func() time.Time) *memo[V] {
	return &memo[V]{max: limit, keep: keep, clock: clock, items: map[string]memoItem[V]{}}
}

func (m *memo[V]) get(key string) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.items[key]
	if !ok || m.clock().Sub(it.at) >= m.keep {
		var none V
		return none, false
	}
	return it.value, true
}

func (m *memo[V]) put(key string, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.items[key]; !ok {
		m.order = append(m.order, key)
	}
	m.items[key] = memoItem[V]{v, m.clock()}
	for len(m.order) > m.max {
		delete(m.items, m.order[0])
		m.order = m.order[1:]
	}
}
