// Package fairqueue orders requests for a scarce resource, such as a processor, a judge or a
// model. The flow that was served least comes next.
//
// It implements start-time fair queueing (Goyal, Vin, Cheng: Start-time Fair Queuing, SIGCOMM
// 1996). The entries of a flow, here a workspace, follow each other in virtual time, each as
// long as its cost, and the entry with the earliest start is served next. A new flow starts
// level with the others, idle time earns no credit, and ten thousand entries of one flow
// delay another flow by one entry.
package fairqueue

import (
	"container/heap"
	"math"
)

// Clock is the virtual time of one or more queues. Entries of queues that share a clock can
// be compared. The zero value is ready to use.
type Clock struct {
	now   float64
	count uint64 // entries ever placed
}

// Queue holds entries in order. It has no lock: the caller guards it and its clock.
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

// New returns a queue that uses clock; nil gives it a clock of its own.
func New[T any](clock *Clock) *Queue[T] {
	if clock == nil {
		clock = &Clock{}
	}
	return &Queue[T]{clock: clock, flows: map[string]*flow{}, sweepAt: leastSweep}
}

// Push adds a value to the flow of key, behind the flow's other entries. Cost is how much of
// the resource it uses, in any unit that all values share.
func (q *Queue[T]) Push(key string, cost float64, value T) *Entry[T] {
	f := q.flow(key)
	f.last = max(f.last, q.clock.now)
	e := q.entry(key, value, f.last)
	e.cost = cost
	f.last += cost
	q.enter(e)
	return e
}

// PushFirst adds a value before all others, at no cost, because it holds what others wait
// for. Several such values keep the order of their arrival.
func (q *Queue[T]) PushFirst(key string, value T) *Entry[T] {
	e := q.entry(key, value, math.Inf(-1))
	q.enter(e)
	return e
}

func (q *Queue[T]) entry(key string, value T, tag float64) *Entry[T] {
	q.clock.count++
	return &Entry[T]{Value: value, key: key, tag: tag, order: q.clock.count, index: -1}
}

// Return puts a removed entry back in its old place.
func (q *Queue[T]) Return(e *Entry[T]) { q.enter(e) }

func (q *Queue[T]) enter(e *Entry[T]) {
	e.flow = q.flow(e.key)
	e.flow.queued++
	heap.Push(&q.entries, e)
}

// First returns the next entry without removing it; nil if the queue is empty.
func (q *Queue[T]) First() *Entry[T] {
	if len(q.entries) == 0 {
		return nil
	}
	return q.entries[0]
}

// Last returns the entry at the end, which belongs to the flow with the most waiting; nil if
// the queue is empty. It visits all entries.
func (q *Queue[T]) Last() *Entry[T] {
	var last *Entry[T]
	for _, e := range q.entries {
		if last == nil || last.Before(e) {
			last = e
		}
	}
	return last
}

// Serve removes an entry that is served now, and advances the clock to it.
func (q *Queue[T]) Serve(e *Entry[T]) {
	q.remove(e)
	e.taken = true
	q.clock.now = max(q.clock.now, e.tag)
}

// Withdraw removes an entry that will not be served, and refunds its flow. It returns false,
// and does nothing, if the entry is not in the queue.
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

// Len returns the number of waiting entries.
func (q *Queue[T]) Len() int { return len(q.entries) }

// Flows returns the number of remembered flows.
func (q *Queue[T]) Flows() int { return len(q.flows) }

// Forget clears the record of served flows. Call it when the queue is empty.
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
