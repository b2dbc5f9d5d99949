package sqlite

import (
	"container/list"
	"slices"
	"sync"

	"memoryd"
)

// sampleCache keeps the samples of the tools asked for last, up to a number of
// samples in all.
type sampleCache struct {
	mu    sync.Mutex
	limit int
	held  int
	tools map[uint32]*list.Element
	order *list.List // of *toolSamples, the newest asked first
}

type toolSamples struct {
	tool    uint32
	samples []memoryd.Sample
}

func newSampleCache(limit int) *sampleCache {
	return &sampleCache{limit: limit, tools: map[uint32]*list.Element{}, order: list.New()}
}

// get gives a copy of a tool's samples.
func (c *sampleCache) get(tool uint32) ([]memoryd.Sample, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.tools[tool]
	if el == nil {
		return nil, false
	}
	c.order.MoveToFront(el)
	return slices.Clone(el.Value.(*toolSamples).samples), true
}

// put enters a tool's samples and lets those asked longest ago go.
func (c *sampleCache) put(tool uint32, samples []memoryd.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(tool)
	c.tools[tool] = c.order.PushFront(&toolSamples{tool: tool, samples: slices.Clone(samples)})
	c.held += len(samples)
	c.shrink()
}

// push follows an append: the oldest dropped go, newer ones come.
func (c *sampleCache) push(tool uint32, dropped int, newer []memoryd.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.tools[tool]
	if el == nil {
		return
	}
	ts := el.Value.(*toolSamples)
	before := len(ts.samples)
	ts.samples = append(ts.samples, newer...)
	ts.samples = ts.samples[dropped:]
	c.held += len(ts.samples) - before
	c.shrink()
}

// judge follows a verdict.
func (c *sampleCache) judge(tool uint32, seq int64, e *memoryd.Evaluation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.tools[tool]
	if el == nil {
		return
	}
	samples := el.Value.(*toolSamples).samples
	if len(samples) == 0 {
		return
	}
	if i := seq - samples[0].Seq; i >= 0 && i < int64(len(samples)) {
		samples[i].State, samples[i].Score = e.State, e.Score
	}
}

// remove follows a deletion.
func (c *sampleCache) remove(tool uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(tool)
}

func (c *sampleCache) forget(tool uint32) {
	if el := c.tools[tool]; el != nil {
		c.held -= len(el.Value.(*toolSamples).samples)
		c.order.Remove(el)
		delete(c.tools, tool)
	}
}

func (c *sampleCache) shrink() {
	for c.held > c.limit {
		c.forget(c.order.Back().Value.(*toolSamples).tool)
	}
}
