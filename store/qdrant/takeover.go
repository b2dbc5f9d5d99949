package qdrant

import (
	"context"
	"maps"
	"slices"
	"sync"

	qd "github.com/qdrant/go-client/qdrant"
)

// takeOver deals with keys whose points belong to a tool of another life. If
// that life has ended, the point is a remnant and is replaced; the append then
// starts again to see who replaced it. A point that is not there was deleted
// with its tool meanwhile, which also means to start again.
func (a *appending) takeOver(ctx context.Context, calls map[string]payload) (settled bool, err error) {
	settled = true
	for i := range a.b.Calls {
		p, ok := calls[a.ids[i]]
		if !ok {
			return false, nil
		}
		owner, life := p.word(fieldOwner), p.word(fieldLife)
		if a.lives[owner] == life {
			continue
		}
		ended, err := a.s.ended(ctx, owner, life)
		if err != nil {
			return false, err
		}
		if !ended {
			continue // the key is known under another tool
		}
		settled = false
		if err := a.s.removeRemnant(ctx, a.ids[i], life); err != nil {
			return false, err
		}
	}
	return settled, nil
}

// ended reports whether a tool's life is over.
func (s *backend) ended(ctx context.Context, toolID, life string) (bool, error) {
	found, err := s.getMap(ctx, s.tools, []string{toolID}, include(fieldLife))
	return found[toolID].word(fieldLife) != life, err
}

// removeRemnant removes the point of a call of a life that is over.
func (s *backend) removeRemnant(ctx context.Context, id, life string) error {
	remnant := all(qd.NewHasID(qd.NewIDUUID(id)), is(fieldLife, life))
	return s.remove(ctx, s.calls, qd.NewPointsSelectorFilter(remnant))
}

// lifeCache remembers the lives of tools. It may be wrong: who relies on it
// reads the tool's point after writing.
type lifeCache struct {
	mu    sync.Mutex
	lives map[string]string
}

func (c *lifeCache) get(id string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	life, ok := c.lives[id]
	return life, ok
}

func (c *lifeCache) put(id, life string) {
	const maxLives = 100_000
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lives == nil || len(c.lives) >= maxLives {
		c.lives = map[string]string{}
	}
	c.lives[id] = life
}

func (c *lifeCache) drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.lives, id)
}

func keysOf[V any](m map[string]V) []string { return slices.Collect(maps.Keys(m)) }
