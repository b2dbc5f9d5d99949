// Package admission decides which requests the server works on, and when. A
// Quota bounds how many are under way and what their bodies hold; a Scheduler
// bounds how many of them compute at a time. Both share what there is fairly
// between workspaces.
package admission

import (
	"context"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/fairqueue"
)

// Scheduler bounds how many requests compute at a time. The others wait in a
// queue instead of all being slow together, so that a small request is still
// answered at once under overload. A request that waits for something else, a
// disk or a model, gives its slot away meanwhile (see Blocking).
//
// Workspaces share the slots equally: a request of a workspace that asks for
// little does not wait behind all requests of one that asks for much (see
// fairqueue). No request waits longer than a bound: it is refused while its client
// can still make use of the answer, and at once where the pace of those before it says
// that its turn would come too late. A nil *Scheduler has no bounds.
type Scheduler struct {
	maxWait time.Duration

	mu    sync.Mutex
	free  int
	queue *fairqueue.Queue[turn]
	lines map[string]*line // of workspaces of which a request waits
}

// waiter is a request that waits for a slot.
type waiter = fairqueue.Entry[turn]

// turn is what a waiter gets.
type turn struct {
	ready chan struct{} // has room for one
	line  *line         // nil: it stands before all lines
}

// line is what of one workspace waits for its first slot.
type line struct {
	workspace string
	waiting   int
	served    int           // since the line began
	last      time.Time     // of these, or when it began
	pace      time.Duration // between two of them, the newest counting most
}

// A line goes by its pace after firstTurns; each turn after paceTurns changes it by that part.
const (
	firstTurns = 8
	paceTurns  = 16
)

// serve notes that one of the line has its turn.
func (l *line) serve(now time.Time) {
	gap := now.Sub(l.last)
	l.served++
	l.pace += (gap - l.pace) / time.Duration(min(l.served, paceTurns))
	l.last = now
}

// tooLate reports whether one more would wait longer than most, or nearly so: a pace is
// known to about a tenth.
func (l *line) tooLate(most time.Duration) bool {
	return l.served >= firstTurns && l.pace*time.Duration(l.waiting+1) > most-most/10
}

// NewScheduler makes a scheduler of n slots, for which requests wait at most
// maxWait; 0 means without a bound.
func NewScheduler(n int, maxWait time.Duration) *Scheduler {
	return &Scheduler{maxWait: maxWait, free: n, queue: fairqueue.New[turn](nil), lines: map[string]*line{}}
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
	w, err := s.request(workspace)
	if err != nil {
		return nil, err
	}
	if w != nil {
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
	if w := l.scheduler.requestAgain(l.workspace); w != nil {
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
func (s *Scheduler) request(workspace string) (*waiter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		s.free--
		return nil, nil //nolint:nilnil // who has a slot does not wait
	}
	l := s.lines[workspace]
	switch {
	case l == nil:
		l = &line{workspace: workspace, last: time.Now()}
		s.lines[workspace] = l
	case s.maxWait > 0 && l.tooLate(s.maxWait):
		return nil, s.overloaded()
	}
	l.waiting++
	return s.queue.Push(workspace, 1, turn{make(chan struct{}, 1), l}), nil
}

// requestAgain is request for who had a slot before.
func (s *Scheduler) requestAgain(workspace string) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		s.free--
		return nil
	}
	return s.queue.PushFirst(workspace, turn{ready: make(chan struct{}, 1)})
}

func (s *Scheduler) overloaded() error {
	return &memoryd.Error{Kind: memoryd.Overloaded, Msg: "the server is overloaded", RetryAfter: max(time.Second, s.maxWait)}
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
	select {
	case <-w.Value.ready:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late:
		err = s.overloaded()
	}
	if !s.leave(w) {
		<-w.Value.ready // the slot came at the same time; it is given back
		s.release()
	}
	return err
}

// release gives a slot to the request that is next.
func (s *Scheduler) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.queue.First()
	if w == nil {
		s.free++
		return
	}
	s.queue.Serve(w)
	if l := w.Value.line; l != nil {
		l.serve(time.Now())
		s.stepOut(l)
	}
	s.forget()
	w.Value.ready <- struct{}{} // has room
}

// leave takes a request out of the queue; false if it has been given a slot.
func (s *Scheduler) leave(w *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.forget()
	waited := s.queue.Withdraw(w)
	if l := w.Value.line; waited && l != nil {
		s.stepOut(l)
	}
	return waited
}

// stepOut shortens a line by one; nothing is known of a line in which nobody stands.
func (s *Scheduler) stepOut(l *line) {
	if l.waiting--; l.waiting == 0 {
		delete(s.lines, l.workspace)
	}
}

// forget lets all start level again once nobody waits.
func (s *Scheduler) forget() {
	if s.queue.Len() == 0 {
		s.queue.Forget()
	}
}
