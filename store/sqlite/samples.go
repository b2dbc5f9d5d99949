package sqlite

import (
	"container/list"
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
	tool  uint32
	first int64 // the oldest one's number; the others follow it without a gap
	kept  []narrow
}

// narrow is a sample in little room: its number follows from its place.
type narrow struct {
	score, time float64
	tokens      int64
	success     bool
	state       uint8
}

func narrowOf(s *memoryd.Sample) narrow {
	return narrow{score: s.Score, time: s.TimeCost, tokens: s.TokenCost, success: s.Success, state: uint8(stateCode(s.State))}
}

func narrowed(samples []memoryd.Sample) []narrow {
	out := make([]narrow, len(samples))
	for i := range samples {
		out[i] = narrowOf(&samples[i])
	}
	return out
}

func (t *toolSamples) wide() []memoryd.Sample {
	out := make([]memoryd.Sample, len(t.kept))
	for i, n := range t.kept {
		out[i] = memoryd.Sample{
			Seq: t.first + int64(i), Success: n.success, State: stateOf(int64(n.state)), Score: n.score,
			TimeCost: n.time, TokenCost: n.tokens,
		}
	}
	return out
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
	return el.Value.(*toolSamples).wide(), true
}

// put enters a tool's samples and lets those asked longest ago go.
func (c *sampleCache) put(tool uint32, samples []memoryd.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(tool)
	ts := &toolSamples{tool: tool, kept: narrowed(samples)}
	if len(samples) > 0 {
		ts.first = samples[0].Seq
	}
	c.tools[tool] = c.order.PushFront(ts)
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
	before := len(ts.kept)
	old := min(dropped, before)
	ts.kept = ts.kept[:copy(ts.kept, ts.kept[old:])] // in place: no room beyond what a history needs
	ts.first += int64(old)
	newer = newer[dropped-old:]
	if len(ts.kept) == 0 && len(newer) > 0 {
		ts.first = newer[0].Seq
	}
	for i := range newer {
		ts.kept = append(ts.kept, narrowOf(&newer[i]))
	}
	c.held += len(ts.kept) - before
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
	ts := el.Value.(*toolSamples)
	if i := seq - ts.first; i >= 0 && i < int64(len(ts.kept)) {
		ts.kept[i].state, ts.kept[i].score = uint8(stateCode(e.State)), e.Score
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
		c.held -= len(el.Value.(*toolSamples).kept)
		c.order.Remove(el)
		delete(c.tools, tool)
	}
}

func (c *sampleCache) shrink() {
	for c.held > c.limit {
		c.forget(c.order.Back().Value.(*toolSamples).tool)
	}
}
