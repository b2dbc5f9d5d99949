package sqlite

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sort"
	"sync"

	"memoryd"
)

// tool is what memory holds of one tool. Only the writer changes it, and only
// after a commit; readers hold the catalog's lock.
type tool struct {
	id   uint32
	info memoryd.Tool // Pending and Kept are kept up to date too
	kept []int64      // rows of the kept calls, oldest first
	// rewrites is odd while a commit that changes verdicts of kept calls is under
	// way, and another number after it.
	rewrites uint64
	// folded says that the tool's row in state is up to date.
	folded bool
}

// first is the number of the oldest kept call.
func (t *tool) first() int64 { return t.info.Lifetime - int64(len(t.kept)) + 1 }

// space is one workspace with its tools.
type space struct {
	name   string
	tools  []*tool
	sorted bool // tools stand in byte order of their names
}

// catalog holds every tool in memory: a few hundred bytes each, and eight for
// each kept call.
type catalog struct {
	mu     sync.RWMutex
	byRef  map[memoryd.ToolRef]*tool
	byID   map[uint32]*tool
	spaces map[string]*space
	order  []*space // of spaces, in byte order when sorted
	sorted bool
}

func newCatalog() *catalog {
	return &catalog{
		byRef: map[memoryd.ToolRef]*tool{}, byID: map[uint32]*tool{}, spaces: map[string]*space{}, sorted: true,
	}
}

// add enters a tool. The caller holds the lock.
func (c *catalog) add(t *tool) {
	c.byRef[t.info.ToolRef] = t
	c.byID[t.id] = t
	sp := c.spaces[t.info.Workspace]
	if sp == nil {
		sp = &space{name: t.info.Workspace}
		c.spaces[sp.name] = sp
		c.order = append(c.order, sp)
		c.sorted = false
	}
	sp.tools = append(sp.tools, t)
	sp.sorted = false
}

// remove takes tools of one workspace out. The caller holds the lock.
func (c *catalog) remove(gone []*tool) {
	if len(gone) == 0 {
		return
	}
	for _, t := range gone {
		delete(c.byRef, t.info.ToolRef)
		delete(c.byID, t.id)
	}
	sp := c.spaces[gone[0].info.Workspace]
	sp.tools = slices.DeleteFunc(sp.tools, func(t *tool) bool { return c.byID[t.id] == nil })
	if len(sp.tools) == 0 {
		delete(c.spaces, sp.name)
		c.order = slices.DeleteFunc(c.order, func(o *space) bool { return o == sp })
	}
}

// toolsOf gives all tools of a workspace.
func (c *catalog) toolsOf(workspace string) []*tool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if sp := c.spaces[workspace]; sp != nil {
		return slices.Clone(sp.tools)
	}
	return nil
}

// info gives a tool as callers see it.
func (c *catalog) info(ref memoryd.ToolRef) (memoryd.Tool, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t := c.byRef[ref]
	if t == nil {
		return memoryd.Tool{}, false
	}
	return t.info, true
}

// listTools gives up to limit tools whose name is greater than after.
func (c *catalog) listTools(workspace, after string, limit int) []memoryd.Tool {
	c.mu.Lock() // it may sort
	defer c.mu.Unlock()
	sp := c.spaces[workspace]
	if sp == nil {
		return nil
	}
	if !sp.sorted {
		slices.SortFunc(sp.tools, func(a, b *tool) int { return cmp.Compare(a.info.Tool, b.info.Tool) })
		sp.sorted = true
	}
	return pageOf(sp.tools, limit, func(t *tool) bool { return t.info.Tool > after }, func(t *tool) memoryd.Tool { return t.info })
}

// pageOf gives up to limit of sorted items from the first on that is greater than another.
func pageOf[T, V any](sorted []T, limit int, greater func(T) bool, value func(T) V) []V {
	page := sorted[sort.Search(len(sorted), func(i int) bool { return greater(sorted[i]) }):]
	out := make([]V, min(limit, len(page)))
	for i := range out {
		out[i] = value(page[i])
	}
	return out
}

// listSpaces gives up to limit workspaces whose name is greater than after.
func (c *catalog) listSpaces(after string, limit int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sorted {
		slices.SortFunc(c.order, func(a, b *space) int { return cmp.Compare(a.name, b.name) })
		c.sorted = true
	}
	return pageOf(c.order, limit, func(sp *space) bool { return sp.name > after }, func(sp *space) string { return sp.name })
}

// view is what a reader needs to read a tool's history from the file.
type view struct {
	ref      memoryd.ToolRef
	tool     uint32
	slots    []int64
	firstSeq int64  // of the call in slots[0]
	rewrites uint64 // of the tool; odd: the rows may be ahead of memory
	revision int64  // of the tool
}

// view gives the rows of the newest limit calls numbered below before; 0 means
// all, of either.
func (c *catalog) view(ref memoryd.ToolRef, before int64, limit int) (view, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t := c.byRef[ref]
	if t == nil {
		return view{}, false
	}
	kept, first := len(t.kept), t.first()
	end := kept
	if before > 0 {
		end = int(min(max(0, before-first), int64(kept)))
	}
	from := 0
	if limit > 0 {
		from = max(0, end-limit)
	}
	return view{
		ref: t.info.ToolRef, tool: t.id, slots: slices.Clone(t.kept[from:end]), firstSeq: first + int64(from),
		rewrites: t.rewrites, revision: t.info.Revision,
	}, true
}

// samples gives a tool's samples if the cache has them; none of a tool that is not there.
func (c *catalog) samples(ref memoryd.ToolRef, cache *sampleCache) (cached []memoryd.Sample, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t := c.byRef[ref]
	if t == nil {
		return nil, true
	}
	return cache.get(t.id)
}

// keep has the cache keep a copy of samples that were read by a view, unless a commit has changed the
// tool since.
func (c *catalog) keep(v *view, cache *sampleCache, read []memoryd.Sample) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t := c.byID[v.tool]
	if t == nil || t.info.Revision != v.revision || t.first() != v.firstSeq {
		return false
	}
	cache.put(v.tool, slices.Clone(read))
	return true
}

// rewrites gives the number that a view has to have for its verdicts to be those
// of its calls, 0 for a tool that is gone.
func (c *catalog) rewrites(tool uint32) uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if t := c.byID[tool]; t != nil {
		return t.rewrites
	}
	return 0
}

// encodeSlots writes row ids as varint differences.
func encodeSlots(slots []int64) []byte {
	out := make([]byte, 0, 4*len(slots))
	prev := int64(0)
	for _, s := range slots {
		out = binary.AppendVarint(out, s-prev)
		prev = s
	}
	return out
}

func decodeSlots(b []byte) ([]int64, error) {
	var out []int64
	prev := int64(0)
	for len(b) > 0 {
		d, n := binary.Varint(b)
		if n <= 0 {
			return nil, errors.New("a list of rows is damaged")
		}
		prev += d
		out = append(out, prev)
		b = b[n:]
	}
	return out, nil
}
