package ops

import (
	"sync"

	"memoryd"
	"memoryd/internal/stats"
)

// StatisticsCache remembers the statistics of tools that are asked for again and
// again while nothing happens to them. It is safe for concurrent use.
type StatisticsCache struct {
	most int

	mu     sync.RWMutex
	byTool map[memoryd.ToolRef]computed
}

type computed struct {
	from memoryd.Tool // without its guideline, which statistics do not depend on
	of   stats.Statistics
}

// NewStatisticsCache makes a cache for up to most tools, at about 400 bytes each.
func NewStatisticsCache(most int) *StatisticsCache {
	return &StatisticsCache{most: most, byTool: map[memoryd.ToolRef]computed{}}
}

// find gives what was computed from just this state of the tool. A nil cache
// knows nothing.
func (c *StatisticsCache) find(t memoryd.Tool) (stats.Statistics, bool) {
	if c == nil {
		return stats.Statistics{}, false
	}
	t.Guideline = memoryd.Guideline{}
	c.mu.RLock()
	defer c.mu.RUnlock()
	known, ok := c.byTool[t.ToolRef]
	return known.of, ok && known.from == t
}

// keep remembers s. A full cache begins anew: what is asked often is back at once.
func (c *StatisticsCache) keep(t memoryd.Tool, s stats.Statistics) {
	if c == nil {
		return
	}
	t.Guideline = memoryd.Guideline{}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byTool) >= c.most {
		clear(c.byTool)
	}
	c.byTool[t.ToolRef] = computed{t, s}
}
