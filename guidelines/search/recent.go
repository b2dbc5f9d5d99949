package search

import (
	"container/list"
	"sync"
)

// recent remembers the values of the keys that were used last. It is safe for
// concurrent use.
type recent[V any] struct {
	most int

	mu    sync.Mutex
	byKey map[string]*list.Element
	used  *list.List // of *remembered[V], the newest first
}

type remembered[V any] struct {
	key   string
	value V
}

func newRecent[V any](most int) *recent[V] {
	return &recent[V]{most: most, byKey: map[string]*list.Element{}, used: list.New()}
}

func (r *recent[V]) get(key string) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.byKey[key]
	if !ok {
		return v, false
	}
	r.used.MoveToFront(at)
	return at.Value.(*remembered[V]).value, true
}

func (r *recent[V]) put(key string, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.byKey[key]; ok {
		at.Value.(*remembered[V]).value = v
		r.used.MoveToFront(at)
		return
	}
	r.byKey[key] = r.used.PushFront(&remembered[V]{key, v})
	if r.used.Len() > r.most {
		last := r.used.Back()
		delete(r.byKey, r.used.Remove(last).(*remembered[V]).key)
	}
}
