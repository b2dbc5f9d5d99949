package journal

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"memoryd"
	"memoryd/store"
)

// entry is an operation that the remote store has not acknowledged.
type entry struct {
	seq    int64
	weight int
	// op is nil while it lies in the journal only; see queue.shed.
	op   *op
	size int64
	refs []memoryd.ToolRef
	keep int
	kind kind
	at   time.Time // when it was accepted
	// calls are those of an append, in their order.
	calls []call
	key   [16]byte

	ready     bool // durable, and applied to the local copy
	tried     bool // a try failed, and may have taken effect all the same
	delivered bool // acknowledged by the remote store
	answer    *answer
	done      chan struct{} // closed when nobody needs to wait for it any more
	released  bool
}

// call is what is kept of a call that waits.
type call struct {
	tool    string
	key     memoryd.CallKey
	pending bool // it came without a verdict
	// local is what the local copy said of it; certain is false after a restart,
	// when that is forgotten and it counts as new.
	local   store.Appended
	certain bool
}

// answer is what the remote store said of an operation.
type answer struct {
	appended []store.Appended
	settled  []bool
	removed  int
}

// queue holds the operations that wait, in the order in which they were
// accepted, and which tools they touch.
type queue struct {
	mu      sync.Mutex
	last    int64          // the number given last
	fresh   map[int64]bool // numbers of operations that are not ready yet
	entries []*entry
	weight  int
	inMind  int64 // bytes of the operations that are held in memory
	byTool  map[memoryd.ToolRef][]*entry
	byCache map[[16]byte]*entry // the newest
	moved   chan struct{}       // closed and replaced when entries leave
}

// maxInMind bounds the bytes of operations held in memory; others are read back
// from the journal when their turn comes.
const maxInMind = 8 << 20

func newQueue() *queue {
	return &queue{
		fresh: map[int64]bool{}, byTool: map[memoryd.ToolRef][]*entry{}, byCache: map[[16]byte]*entry{}, moved: make(chan struct{}),
	}
}

func newEntry(o *op) *entry {
	e := &entry{
		weight: o.weight(), op: o, size: o.size(), refs: o.refs(), keep: o.Keep, kind: o.Kind, key: o.Key,
		at: time.UnixMicro(o.Accepted), done: make(chan struct{}),
	}
	for i := range o.Calls {
		c := &o.Calls[i]
		e.calls = append(e.calls, call{
			tool: c.Tool, key: c.Key, pending: c.Evaluation.State == memoryd.Pending, local: store.Appended{New: true},
		})
	}
	return e
}

// join numbers operations that belong together and puts them at the end, unless
// that would pass the bound; one that is alone always fits.
func (q *queue) join(es []*entry, bound int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	weight := 0
	for _, e := range es {
		weight += e.weight
	}
	if q.weight > 0 && q.weight+weight > bound {
		return memoryd.Errorf(memoryd.Overloaded, "too much waits to be forwarded to the remote store")
	}
	applied := q.last
	for seq := range q.fresh {
		applied = min(applied, seq-1)
	}
	for _, e := range es {
		q.last++
		e.seq, e.op.Applied = q.last, applied
		q.push(e)
	}
	return nil
}

// push needs the lock.
func (q *queue) push(e *entry) {
	q.entries = append(q.entries, e)
	q.fresh[e.seq] = true
	q.weight += e.weight
	q.inMind += e.size
	for _, ref := range e.refs {
		q.byTool[ref] = append(q.byTool[ref], e)
	}
	if e.kind == opCache {
		q.byCache[e.key] = e
	}
}

// confirm lets operations be forwarded: they are durable.
func (q *queue) confirm(es []*entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range es {
		e.ready = true
		delete(q.fresh, e.seq)
		if q.inMind > maxInMind {
			q.shed(e)
		}
	}
}

// shed forgets the content of an operation; it needs the lock.
func (q *queue) shed(e *entry) {
	if e.op != nil {
		q.inMind -= e.size
		e.op = nil
	}
}

// leave takes operations out, done or refused.
func (q *queue) leave(es []*entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	gone := map[*entry]bool{}
	for _, e := range es {
		gone[e] = true
		delete(q.fresh, e.seq)
		q.weight -= e.weight
		q.shed(e)
		for _, ref := range e.refs {
			left := slices.DeleteFunc(q.byTool[ref], func(o *entry) bool { return o == e })
			if len(left) == 0 {
				delete(q.byTool, ref)
			} else {
				q.byTool[ref] = left
			}
		}
		if q.byCache[e.key] == e {
			delete(q.byCache, e.key)
		}
	}
	at := 0
	for at < len(q.entries) && gone[q.entries[at]] {
		delete(gone, q.entries[at])
		q.entries[at] = nil
		at++
	}
	q.entries = q.entries[at:]
	if len(gone) > 0 {
		q.entries = slices.DeleteFunc(q.entries, func(e *entry) bool { return gone[e] })
	}
	for _, e := range es {
		e.release()
	}
	close(q.moved)
	q.moved = make(chan struct{})
}

// release ends the waiting for the entry; it needs the lock.
func (e *entry) release() {
	if !e.released {
		e.released = true
		close(e.done)
	}
}

// releaseAll ends all waiting: the remote store is away.
func (q *queue) releaseAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.entries {
		e.release()
	}
}

// head gives the operations to forward next: durable, in order, of up to weight
// and, unless it is one, of up to size.
func (q *queue) head(weight int, size int64) []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, e := range q.entries {
		if weight -= e.weight; !e.ready || n > 0 && (weight < 0 || size < e.size) {
			break
		}
		size -= e.size
		n++
	}
	return slices.Clone(q.entries[:n])
}

// end gives the number of the newest operation, and passed whether all up to a
// number have left; if not, more is closed when some have.
func (q *queue) end() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.last
}

func (q *queue) passed(seq int64) (ok bool, more <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.entries) == 0 || q.entries[0].seq > seq, q.moved
}

// waiting is what the operations that wait mean for a tool.
type waiting struct {
	any bool
	// gone says that a deletion waits: of what the remote store knows of the
	// tool nothing counts, and the local copy has all that came later.
	gone    bool
	appends []waitingAppend
}

// waitingAppend is what an append holds for one tool, and how many calls it wants
// kept.
type waitingAppend struct {
	calls []call
	keep  int
}

// waitingFor looks at what waits for a tool, at one moment.
func (q *queue) waitingFor(ref memoryd.ToolRef) waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	var w waiting
	w.gone = len(q.byTool[memoryd.ToolRef{Workspace: ref.Workspace}]) > 0
	w.any = w.gone
	if ref.Tool == "" {
		return w
	}
	for _, e := range q.byTool[ref] {
		w.any = true
		w.gone = w.gone || e.kind == opDeleteTool
		if e.kind != opAppend {
			continue
		}
		a := waitingAppend{keep: e.keep}
		for _, c := range e.calls {
			if c.tool == ref.Tool {
				a.calls = append(a.calls, c)
			}
		}
		w.appends = append(w.appends, a)
	}
	return w
}

// touched gives the names of the workspace's tools for which operations wait, in
// order, and whether its deletion waits.
func (q *queue) touched(workspace string) (tools []string, gone bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ref := range q.byTool {
		if ref.Workspace != workspace {
			continue
		}
		if ref.Tool == "" {
			gone = true
		} else {
			tools = append(tools, ref.Tool)
		}
	}
	slices.Sort(tools)
	return tools, gone
}

// touchedSpaces gives the workspaces for which operations wait, in order.
func (q *queue) touchedSpaces() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	seen := map[string]bool{}
	for ref := range q.byTool {
		seen[ref.Workspace] = true
	}
	return slices.SortedFunc(maps.Keys(seen), strings.Compare)
}

// caching tells whether a verdict of that key waits.
func (q *queue) caching(key [16]byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.byCache[key] != nil
}

// backlog gives how much waits.
func (q *queue) backlog() (operations, weight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.entries), q.weight
}

// oldest gives when the first that waits was accepted; zero when nothing does.
func (q *queue) oldest() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.entries) == 0 {
		return time.Time{}
	}
	return q.entries[0].at
}

// after gives the operations with greater numbers.
func (q *queue) after(seq int64) []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	i, _ := slices.BinarySearchFunc(q.entries, seq+1, func(e *entry, seq int64) int { return cmp.Compare(e.seq, seq) })
	return slices.Clone(q.entries[i:])
}

// stripes are locks that keep the operations on a tool in one order, in the
// journal and in the local copy, without holding up those on other tools.
type stripes struct {
	seed  maphash.Seed
	locks [64]sync.Mutex
}

// lock locks the tools, or everything if one of them is a whole workspace. What
// it gives unlocks them.
func (s *stripes) lock(refs []memoryd.ToolRef) (unlock func()) {
	var at []int
	for _, ref := range refs {
		if ref.Tool == "" {
			at = at[:0]
			for i := range s.locks {
				at = append(at, i)
			}
			break
		}
		at = append(at, int(maphash.Comparable(s.seed, ref)%uint64(len(s.locks))))
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for _, i := range at {
		s.locks[i].Lock()
	}
	return func() {
		for _, i := range at {
			s.locks[i].Unlock()
		}
	}
}
