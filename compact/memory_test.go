package compact_test

import (
	"context"
	"slices"
	"sync"

	"memoryd"
	"memoryd/compact"
)

// memory keeps originals.
type memory struct {
	mu    sync.Mutex
	items map[[2]string][]byte // by workspace and id
}

func newMemory() *memory {
	return &memory{items: map[[2]string][]byte{}}
}

func (m *memory) Put(_ context.Context, workspace string, items []compact.Original) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, it := range items {
		m.items[[2]string{workspace, it.ID}] = slices.Clone(it.Data)
	}
	return nil
}

func (m *memory) Get(_ context.Context, workspace, id string) (compact.Original, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.items[[2]string{workspace, id}]
	if !ok {
		return compact.Original{}, memoryd.Errorf(memoryd.NotFound, "there is no original %s in this workspace", id)
	}
	return compact.Original{ID: id, Data: slices.Clone(data)}, nil
}
