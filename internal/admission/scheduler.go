// Package admission decides which requests the server accepts, and when it works on them. A
// Quota limits how many run and how large their bodies are. A Scheduler limits how many
// compute at a time. Both divide their resources fairly between workspaces.
package admission

import (
	"context"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/fairqueue"
)

// Scheduler limits how many requests compute at a time. The others wait in a queue, so that
// all are not slow together and a small request is answered quickly under overload. A request
// that waits for something else, such as a disk or a model, gives up its slot meanwhile (see
// Blocking).
//
// Workspaces share the slots equally: a request of a workspace that sends few does not wait
// behind all requests of one that sends many (see fairqueue). No request waits longer than a
// limit. It is refused while its client can still use the answer, or at once if the current
// pace shows that it would wait too long. A nil *Scheduler sets no limits.
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

// tooLate reports whether one more would wait longer than half of most: the pace may become
// slower, and who waited in vain is refused late.
func (l *line) tooLate(most time.Duration) bool {
	return l.served >= firstTurns && l.pace*time.Duration(l.waiting+1) > most/2
}

// NewScheduler returns a scheduler of n slots. Requests wait for one at most maxWait; 0 means
// without limit.
func NewScheduler(n int, maxWait time.Duration) *Scheduler {
	return &Scheduler{maxWait: maxWait, free: n, queue: fairqueue.New[turn](nil), lines: map[string]*line{}}
}

// Slot is a request's permission to compute, and the context that the request runs in:
// Blocking finds the slot through the context. Only one goroutine may use it at a time.
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

// Acquire waits for a slot on behalf of a workspace, or until ctx ends. It fails with
// Overloaded if no slot becomes free in time.
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
		if err := s.await(ctx, w, s.deadline()); err != nil {
			return nil, err
		}
	}
	slot.held = true
	return slot, nil
}

// Release returns the slot. It does nothing if the slot is not held.
func (l *Slot) Release() {
	if l.held {
		l.held = false
		l.scheduler.release()
	}
}

// reacquire takes a slot again, ahead of all requests that wait for their first, because this
// request already holds resources. It waits until ctx ends; then the slot is not held.
func (l *Slot) reacquire(ctx context.Context) error {
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

// Blocking runs f, which waits for something other than the processor, without the slot in
// ctx. An error means that ctx ended before a slot was free again; f has run in any case.
func Blocking(ctx context.Context, f func()) error {
	slot, _ := ctx.Value(slotKey{}).(*Slot)
	if slot == nil || !slot.held {
		f()
		return nil
	}
	slot.Release()
	f()
	return slot.reacquire(ctx)
}

// Room fails with Overloaded if a request of the workspace would now wait too long for a slot. It
// joins no queue.
func (s *Scheduler) Room(workspace string) error {
	if s == nil || s.maxWait <= 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lines[workspace]; l != nil && l.tooLate(s.maxWait) {
		return s.overloaded()
	}
	return nil
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
func (s *Scheduler) deadline() <-chan time.Time {
	if s.maxWait <= 0 {
		return nil
	}
	return time.After(s.maxWait)
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
