// Package admission decides which requests the server works on, and when. A
// Quota bounds how many are under way and what their bodies hold; a Scheduler
// bounds how many of them compute at a time. Both share what there is fairly
// between workspaces.
package admission

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"memoryd"
)

// Scheduler bounds how many requests compute at a time. The others wait in a
// queue instead of all being slow together, so that a small request is still
// answered at once under overload. A request that waits for something else, a
// disk or a model, gives its slot away meanwhile (see Blocking).
//
// Workspaces share the slots equally: a request of a workspace that asks for
// little does not wait behind all requests of one that asks for much. This is
// start-time fair queueing (Goyal, Vin, Cheng, SIGCOMM 1996) with slots of equal
// length: the n-th waiting request of each workspace belongs to the n-th round
// from now. No request waits longer than a bound: it is refused while its client
// can still make use of the answer. A nil *Scheduler has no bounds.
type Scheduler struct {
	maxWait time.Duration

	mu     sync.Mutex
	free   int
	round  int64 // of the request that was given a slot last
	count  uint64
	queue  waitQueue
	queued map[string]position // of workspaces that have a request in the queue
	spare  sync.Pool           // of *waiter that nobody waits with
}

// position is where a workspace stands: how many of its requests wait, and the
// round of the newest.
type position struct {
	waiting int
	newest  int64
}

// waiter is a request that waits for a slot.
type waiter struct {
	workspace string
	round     int64
	number    uint64 // of arrival
	at        int    // in the queue; -1 once it has left that
	ready     chan struct{}
}

// NewScheduler makes a scheduler of n slots, for which requests wait at most
// maxWait; 0 means without a bound.
func NewScheduler(n int, maxWait time.Duration) *Scheduler {
	return &Scheduler{
		maxWait: maxWait, free: n, queued: map[string]position{},
		spare: sync.Pool{New: func() any { return &waiter{ready: make(chan struct{}, 1)} }},
	}
}

// Slot is the right of one request to compute, and the context that the request
// works in: Blocking finds the slot by it. One goroutine uses it at a time.
type Slot struct {
	context.Context

	scheduler *Scheduler
	workspace string
	held      bool
}

type slotKey struct{}

// Value implements context.Context.
func (l *Slot) Value(key any) any {
	if key == (slotKey{}) {
		return l
	}
	return l.Context.Value(key)
}

// Acquire waits for a slot on behalf of a workspace, or for the end of ctx. It
// fails with Overloaded when the slot does not come in time.
func (s *Scheduler) Acquire(ctx context.Context, workspace string) (*Slot, error) {
	slot := &Slot{Context: ctx, scheduler: s, workspace: workspace}
	if s == nil {
		return slot, nil
	}
	if w := s.request(workspace, false); w != nil {
		late, stop := s.deadline()
		defer stop()
		if err := s.await(ctx, w, late); err != nil {
			return nil, err
		}
	}
	slot.held = true
	return slot, nil
}

// Release gives the slot back. Releasing one that is not held does nothing.
func (l *Slot) Release() {
	if l.held {
		l.held = false
		l.scheduler.release()
	}
}

// Reacquire takes a slot again, before all requests that wait for their first:
// what this request holds is free the sooner. It waits until ctx ends; then the
// slot is not held.
func (l *Slot) Reacquire(ctx context.Context) error {
	if l.scheduler == nil || l.held {
		return nil
	}
	if w := l.scheduler.request(l.workspace, true); w != nil {
		if err := l.scheduler.await(ctx, w, nil); err != nil {
			return err
		}
	}
	l.held = true
	return nil
}

// Blocking runs f, which waits for something else than the processor, without
// the slot that ctx carries. An error says that ctx ended before the slot was
// there again; f has run in any case.
func Blocking(ctx context.Context, f func()) error {
	slot, _ := ctx.Value(slotKey{}).(*Slot)
	if slot == nil || !slot.held {
		f()
		return nil
	}
	slot.Release()
	f()
	return slot.Reacquire(ctx)
}

// request takes a free slot and returns nil, or joins the queue.
func (s *Scheduler) request(workspace string, again bool) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		s.free--
		return nil
	}
	if again {
		return s.push(workspace, s.round)
	}
	p := s.queued[workspace]
	p.newest = max(p.newest, s.round) + 1
	s.queued[workspace] = p
	return s.push(workspace, p.newest)
}

// deadline fires when a request has waited long enough.
func (s *Scheduler) deadline() (late <-chan time.Time, stop func() bool) {
	if s.maxWait <= 0 {
		return nil, func() bool { return true }
	}
	timer := time.NewTimer(s.maxWait)
	return timer.C, timer.Stop
}

// await waits until w has its slot, ctx ends or it is late.
func (s *Scheduler) await(ctx context.Context, w *waiter, late <-chan time.Time) (err error) {
	defer s.spare.Put(w)
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late:
		err = &memoryd.Error{Kind: memoryd.Overloaded, Msg: "the server has more to do than it can", RetryAfter: max(time.Second, s.maxWait)}
	}
	if !s.leave(w) {
		<-w.ready // the slot came at the same time; it is given back
		s.release()
	}
	return err
}

// release gives a slot to the request that is next.
func (s *Scheduler) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.free++
		return
	}
	w := heap.Pop(&s.queue).(*waiter) //nolint:forcetypeassert // the queue holds nothing else
	s.forget(w)
	s.round = w.round
	w.ready <- struct{}{} // has room
}

// push adds a request to the queue; it needs the lock, as forget does.
func (s *Scheduler) push(workspace string, round int64) *waiter {
	p := s.queued[workspace]
	p.waiting++
	s.queued[workspace] = p
	s.count++
	w := s.spare.Get().(*waiter) //nolint:forcetypeassert // the pool holds nothing else
	w.workspace, w.round, w.number = workspace, round, s.count
	heap.Push(&s.queue, w)
	return w
}

// forget notes that a request is no longer in the queue.
func (s *Scheduler) forget(w *waiter) {
	p := s.queued[w.workspace]
	if p.waiting--; p.waiting == 0 {
		delete(s.queued, w.workspace)
	} else {
		s.queued[w.workspace] = p
	}
}

// leave takes a request out of the queue; false if it has been given a slot.
func (s *Scheduler) leave(w *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.at < 0 {
		return false
	}
	heap.Remove(&s.queue, w.at)
	s.forget(w)
	return true
}

// waitQueue is a heap of requests: by round, then by arrival.
type waitQueue []*waiter

func (l waitQueue) Len() int { return len(l) }

func (l waitQueue) Less(i, j int) bool {
	if l[i].round != l[j].round {
		return l[i].round < l[j].round
	}
	return l[i].number < l[j].number
}

func (l waitQueue) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].at, l[j].at = i, j
}

// Push implements heap.Interface.
func (l *waitQueue) Push(x any) {
	w := x.(*waiter) //nolint:forcetypeassert // called by push only
	w.at = len(*l)
	*l = append(*l, w)
}

// Pop implements heap.Interface.
func (l *waitQueue) Pop() any {
	last := len(*l) - 1
	w := (*l)[last]
	(*l)[last], w.at = nil, -1
	*l = (*l)[:last]
	return w
}
