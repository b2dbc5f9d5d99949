package compact

import (
	"context"
	"slices"
	"sync"

	"memoryd"
)

// Memory keeps originals in memory. Use it for tests, and without a durable store: its content
// is lost with the process. It is safe for concurrent use.
type Memory struct {
	left int // bytes

	mu    sync.Mutex
	items map[[2]string][]byte // by workspace and id
}

// NewMemory returns a Memory that holds at most maxBytes.
func NewMemory(maxBytes int) *Memory {
	return &Memory{left: maxBytes, items: map[[2]string][]byte{}}
}

// Put implements Originals.
func (m *Memory) Put(_ context.Context, workspace string, items []Original) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	items = slices.DeleteFunc(slices.Clone(items), func(it Original) bool {
		_, known := m.items[[2]string{workspace, it.ID}]
		return known && !it.Replace
	})
	need := 0
	for _, it := range items {
		need += len(it.Data) - len(m.items[[2]string{workspace, it.ID}])
	}
	if need > m.left {
		return memoryd.Errorf(memoryd.TooLarge, "there is no more room for originals")
	}
	m.left -= need
	for _, it := range items {
		m.items[[2]string{workspace, it.ID}] = slices.Clone(it.Data)
	}
	return nil
}

// Get implements Originals.
func (m *Memory) Get(_ context.Context, workspace, id string) (Original, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.items[[2]string{workspace, id}]
	if !ok {
		return Original{}, memoryd.Errorf(memoryd.NotFound, "there is no original %s in this workspace", id)
	}
	return Original{ID: id, Data: slices.Clone(data)}, nil
}
