// Package fairqueue orders what waits for a scarce thing, a processor, a judge or
// a model, so that whoever was served least is next.
//
// It is start-time fair queueing (Goyal, Vin, Cheng: Start-time Fair Queuing,
// SIGCOMM 1996): the entries of one flow, here a workspace, follow each other in
// virtual time, each as long as its cost, and the next one served is the one that
// starts first. A newcomer starts level with the others, idle time earns no
// credit, and ten thousand entries of one flow cost another one place.
package fairqueue

import (
	"container/heap"
	"math"
)

// Clock is the virtual time of one or several queues. The entries of queues that
// share a clock can be compared. The zero value is ready.
type Clock struct {
	now   float64
	count uint64 // entries ever placed
}

// Queue holds entries in their order. It has no lock: its owner guards it, and
// the clock with it.
type Queue[T any] struct {
	clock   *Clock
	entries entryHeap[T]
	flows   map[string]*flow
	sweepAt int // number of flows at which idle ones are dropped
}

// leastSweep is the number of flows from which on idle ones are looked for.
const leastSweep = 64

// flow is the service that one workspace had, in virtual time.
type flow struct {
	last   float64 // where its next entry starts
	queued int
}

// Entry is the place of one value in a queue.
type Entry[T any] struct {
	Value T

	key   string
	flow  *flow
	tag   float64 // virtual start: the smaller, the earlier
	cost  float64
	order uint64 // ties go by arrival
	index int    // place in the heap; -1: not queued
	taken bool   // it was served before
}

// New makes a queue whose virtual time is clock; nil is a clock of its own.
func New[T any](clock *Clock) *Queue[T] {
	if clock == nil {
		clock = &Clock{}
	}
	return &Queue[T]{clock: clock, flows: map[string]*flow{}, sweepAt: leastSweep}
}

// Push adds a value to the flow of key, behind what that flow has waiting. Cost is
// how much of the scarce thing it takes, in any unit that all values share.
func (q *Queue[T]) Push(key string, cost float64, value T) *Entry[T] {
	f := q.flow(key)
	f.last = max(f.last, q.clock.now)
	e := q.entry(key, value, f.last)
	e.cost = cost
	f.last += cost
	q.enter(e)
	return e
}

// PushFirst adds a value before all others, at no cost, for one that holds what
// others wait for. Several of them go in the order of their arrival.
func (q *Queue[T]) PushFirst(key string, value T) *Entry[T] {
	e := q.entry(key, value, math.Inf(-1))
	q.enter(e)
	return e
}

func (q *Queue[T]) entry(key string, value T, tag float64) *Entry[T] {
	q.clock.count++
	return &Entry[T]{Value: value, key: key, tag: tag, order: q.clock.count, index: -1}
}

// Return puts an entry that was taken back in its old place: it keeps its turn.
func (q *Queue[T]) Return(e *Entry[T]) { q.enter(e) }

func (q *Queue[T]) enter(e *Entry[T]) {
	e.flow = q.flow(e.key)
	e.flow.queued++
	heap.Push(&q.entries, e)
}

// First gives the entry that is next and leaves it where it is; nil when nothing
// waits.
func (q *Queue[T]) First() *Entry[T] {
	if len(q.entries) == 0 {
		return nil
	}
	return q.entries[0]
}

// Last gives the entry at the far end, which belongs to whoever waits with the
// most; nil when nothing waits. It looks at all entries.
func (q *Queue[T]) Last() *Entry[T] {
	var last *Entry[T]
	for _, e := range q.entries {
		if last == nil || last.Before(e) {
			last = e
		}
	}
	return last
}

// Serve removes an entry that is served now, and moves the clock to it.
func (q *Queue[T]) Serve(e *Entry[T]) {
	q.remove(e)
	e.taken = true
	q.clock.now = max(q.clock.now, e.tag)
}

// TakeAlong removes an entry that is served together with the one just taken,
// before its turn. Its flow pays for it, the others' time does not pass.
func (q *Queue[T]) TakeAlong(e *Entry[T]) {
	q.remove(e)
	e.taken = true
}

// Withdraw removes an entry that will not be served, and uncharges its flow. It
// returns false, and does nothing, if the entry is not in the queue.
func (q *Queue[T]) Withdraw(e *Entry[T]) bool {
	if e.index < 0 {
		return false
	}
	q.remove(e)
	if !e.taken {
		e.flow.last -= e.cost
	}
	return true
}

func (q *Queue[T]) remove(e *Entry[T]) {
	heap.Remove(&q.entries, e.index)
	e.flow.queued--
}

// Len is how many entries wait.
func (q *Queue[T]) Len() int { return len(q.entries) }

// Flows is how many flows are remembered.
func (q *Queue[T]) Flows() int { return len(q.flows) }

// Forget drops what flows were served so far, for when nobody waits.
func (q *Queue[T]) Forget() { clear(q.flows) }

// flow finds or makes a flow; now and then it forgets those that neither wait nor
// are ahead of the clock.
func (q *Queue[T]) flow(key string) *flow {
	if f := q.flows[key]; f != nil {
		return f
	}
	if len(q.flows) >= q.sweepAt {
		for name, f := range q.flows {
			if f.queued == 0 && f.last <= q.clock.now {
				delete(q.flows, name)
			}
		}
		q.sweepAt = max(leastSweep, 2*len(q.flows))
	}
	f := &flow{last: q.clock.now}
	q.flows[key] = f
	return f
}

// Queued reports whether the entry waits.
func (e *Entry[T]) Queued() bool { return e.index >= 0 }

// Before reports whether e is served before o.
func (e *Entry[T]) Before(o *Entry[T]) bool {
	return e.tag < o.tag || (e.tag == o.tag && e.order < o.order)
}

// entryHeap is a heap.Interface, the next entry first.
type entryHeap[T any] []*Entry[T]

// Len implements heap.Interface.
func (h entryHeap[T]) Len() int { return len(h) }

// Less implements heap.Interface.
func (h entryHeap[T]) Less(i, k int) bool { return h[i].Before(h[k]) }

// Swap implements heap.Interface.
func (h entryHeap[T]) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].index, h[k].index = i, k
}

// Push implements heap.Interface.
func (h *entryHeap[T]) Push(x any) {
	e, _ := x.(*Entry[T])
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *entryHeap[T]) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.index = -1
	return e
}
