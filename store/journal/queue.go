package journal

import (
	"slices"
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
