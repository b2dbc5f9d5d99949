package sqlite

import (
	"math"
	"slices"
	"sync"

	"memoryd"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// sampleCache keeps the samples of the tools asked for last, up to a number of
// samples in all.
type sampleCache struct {
	mu    sync.Mutex
	limit int
	held  int
	tools *simplelru.LRU[uint32, *toolSamples]
	loads map[*sampleLoad]bool
}

// sampleLoad is a reading of a tool's samples from the file: what commits changed
// since it began, and whether one deleted the tool.
type sampleLoad struct {
	tool    uint32
	changes []func(*toolSamples)
	gone    bool
}

// toolSamples are those of a tool, numbered without a gap.
type toolSamples struct{ kept []memoryd.Sample }

func newSampleCache(limit int) *sampleCache {
	c := &sampleCache{limit: limit, loads: map[*sampleLoad]bool{}}
	c.tools, _ = simplelru.NewLRU(math.MaxInt, func(_ uint32, ts *toolSamples) { c.held -= len(ts.kept) }) // shrink bounds it
	return c
}

// get gives a copy of a tool's samples.
func (c *sampleCache) get(tool uint32) ([]memoryd.Sample, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ts, ok := c.tools.Get(tool)
	if !ok {
		return nil, false
	}
	return slices.Clone(ts.kept), true
}

// begin starts a reading. The caller sees to it that no commit is published
// between looking at what to read and this, and calls end.
func (c *sampleCache) begin(tool uint32) *sampleLoad {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &sampleLoad{tool: tool}
	c.loads[l] = true
	return l
}

func (c *sampleCache) end(l *sampleLoad) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.loads, l)
}

// keep enters what was read, brought up to date, and gives a copy; of a tool that
// was deleted meanwhile nothing.
func (c *sampleCache) keep(l *sampleLoad, read []memoryd.Sample) []memoryd.Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.gone {
		return nil
	}
	ts := &toolSamples{read}
	for _, change := range l.changes {
		change(ts)
	}
	c.put(l.tool, ts)
	return slices.Clone(ts.kept)
}

// put enters a tool's samples and lets those asked longest ago go.
func (c *sampleCache) put(tool uint32, ts *toolSamples) {
	c.tools.Remove(tool)
	c.tools.Add(tool, ts)
	c.held += len(ts.kept)
	c.shrink()
}

// push follows an append: calls before first went, newer ones came.
func (c *sampleCache) push(tool uint32, first int64, newer []memoryd.Sample) {
	c.change(tool, func(ts *toolSamples) {
		kept := slices.DeleteFunc(ts.kept, func(s memoryd.Sample) bool { return s.Seq < first }) // in place: no room beyond what a history needs
		for i := range newer {
			if newer[i].Seq >= first {
				kept = append(kept, newer[i])
			}
		}
		ts.kept = kept
	})
}

// judge follows a verdict, and an amendment if there is one.
func (c *sampleCache) judge(tool uint32, seq int64, e *memoryd.Evaluation, a *memoryd.Amendment) {
	c.change(tool, func(ts *toolSamples) {
		i := slices.IndexFunc(ts.kept, func(s memoryd.Sample) bool { return s.Seq == seq })
		if i < 0 {
			return
		}
		s := &ts.kept[i]
		if s.State, s.Score = e.State, e.Score; a != nil {
			s.Success, s.TimeCost = a.Success, a.TimeCost
		}
	})
}

// change does to a tool's samples what a commit did, also to those being read.
func (c *sampleCache) change(tool uint32, f func(*toolSamples)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.loads {
		if l.tool == tool {
			l.changes = append(l.changes, f)
		}
	}
	if ts, ok := c.tools.Peek(tool); ok {
		c.held -= len(ts.kept)
		f(ts)
		c.held += len(ts.kept)
		c.shrink()
	}
}

// remove follows a deletion.
func (c *sampleCache) remove(tool uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools.Remove(tool)
	for l := range c.loads {
		l.gone = l.gone || l.tool == tool
	}
}

func (c *sampleCache) shrink() {
	for c.held > c.limit {
		c.tools.RemoveOldest()
	}
}
