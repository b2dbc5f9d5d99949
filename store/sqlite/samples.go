package sqlite

import (
	"math"
	"slices"
	"sync"

	"memoryd"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// sampleCache keeps the samples of the tools asked for last, up to a number of
// samples in all. It follows commits while the catalog's lock is held.
type sampleCache struct {
	mu    sync.Mutex
	limit int
	held  int
	tools *simplelru.LRU[uint32, []memoryd.Sample] // of each numbered without a gap
}

func newSampleCache(limit int) *sampleCache {
	c := &sampleCache{limit: limit}
	c.tools, _ = simplelru.NewLRU(math.MaxInt, func(_ uint32, kept []memoryd.Sample) { c.held -= len(kept) }) // shrink bounds it
	return c
}

// get gives a copy of a tool's samples.
func (c *sampleCache) get(tool uint32) ([]memoryd.Sample, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.tools.Get(tool)
	return slices.Clone(kept), ok
}

// put enters a tool's samples and lets those asked longest ago go.
func (c *sampleCache) put(tool uint32, kept []memoryd.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools.Remove(tool)
	c.tools.Add(tool, kept)
	c.held += len(kept)
	c.shrink()
}

// push follows an append: calls before first went, newer ones came.
func (c *sampleCache) push(tool uint32, first int64, newer []memoryd.Sample) {
	c.change(tool, func(kept []memoryd.Sample) []memoryd.Sample {
		kept = slices.DeleteFunc(kept, func(s memoryd.Sample) bool { return s.Seq < first }) // in place: no room beyond what a history needs
		for i := range newer {
			if newer[i].Seq >= first {
				kept = append(kept, newer[i])
			}
		}
		return kept
	})
}

// judge follows a verdict, and an amendment if there is one.
func (c *sampleCache) judge(tool uint32, seq int64, e *memoryd.Evaluation, a *memoryd.Amendment) {
	c.change(tool, func(kept []memoryd.Sample) []memoryd.Sample {
		if i := slices.IndexFunc(kept, func(s memoryd.Sample) bool { return s.Seq == seq }); i >= 0 {
			s := &kept[i]
			if s.State, s.Score = e.State, e.Score; a != nil {
				s.Success, s.TimeCost = a.Success, a.TimeCost
			}
		}
		return kept
	})
}

// change does to a tool's samples what a commit did.
func (c *sampleCache) change(tool uint32, f func([]memoryd.Sample) []memoryd.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.tools.Peek(tool); ok {
		c.held -= len(kept)
		kept = f(kept)
		c.tools.Add(tool, kept)
		c.held += len(kept)
		c.shrink()
	}
}

// remove follows a deletion.
func (c *sampleCache) remove(tool uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools.Remove(tool)
}

func (c *sampleCache) shrink() {
	for c.held > c.limit {
		c.tools.RemoveOldest()
	}
}
