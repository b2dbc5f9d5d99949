package ops

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"memoryd"
)

// Turns bounds how many requests compute at a time. Requests beyond it wait for
// their turn instead of all being slow together, so that under overload what is
// small, a question whether the server lives, is still answered at once. Who
// waits for something else, a disk or a model, gives its turn away meanwhile.
//
// Workspaces share the turns alike: a request of one that asks for few does not
// wait behind all requests of one that asks for many. It is start-time fair
// queueing (Goyal, Vin, Cheng, SIGCOMM 1996) with every turn of the same length:
// the n-th waiting request of each workspace belongs to the n-th round from now.
// Nobody waits longer than a bound: who would is told to come back, while the
// answer can still be of use. A nil *Turns has no bounds.
type Turns struct {
	patience time.Duration

	mu    sync.Mutex
	free  int
	round int64 // of the request that was given a turn last
	count uint64
	line  waitingLine
	lines map[string]place // of workspaces that have a request in the line
	spare sync.Pool        // of *waiter that nobody waits with
}

// place is where a workspace stands: how many of its requests wait, and the round
// of the newest.
type place struct {
	waiting int
	newest  int64
}

// waiter is a request that waits for its turn.
type waiter struct {
	workspace string
	round     int64
	number    uint64 // of arrival
	at        int    // in the line; -1 once it has left that
	ready     chan struct{}
}

// NewTurns makes n turns, for which requests wait up to patience; 0 means for
// ever.
func NewTurns(n int, patience time.Duration) *Turns {
	return &Turns{
		patience: patience, free: n, lines: map[string]place{},
		spare: sync.Pool{New: func() any { return &waiter{ready: make(chan struct{}, 1)} }},
	}
}

// Take waits for a turn on behalf of a workspace, or for the end of ctx. It fails
// with Overloaded when the turn does not come in time.
func (t *Turns) Take(ctx context.Context, workspace string) error {
	if t == nil {
		return nil
	}
	w := t.ask(workspace)
	if w == nil {
		return nil
	}
	defer t.spare.Put(w)
	late, stop := t.alarm()
	defer stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late:
		err = &memoryd.Error{Kind: memoryd.Overloaded, Msg: "the server has more to do than it can", RetryAfter: max(time.Second, t.patience)}
	}
	if !t.quit(w) {
		<-w.ready // the turn came at the same time; it is given back
		t.Give()
	}
	return err
}

// ask takes a free turn, or lines up for one.
func (t *Turns) ask(workspace string) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	return t.join(workspace)
}

// alarm tells when patience ends.
func (t *Turns) alarm() (late <-chan time.Time, stop func() bool) {
	if t.patience <= 0 {
		return nil, func() bool { return true }
	}
	timer := time.NewTimer(t.patience)
	return timer.C, timer.Stop
}

// again takes a turn for a request that had one, before all that wait for their
// first: what it holds is free the sooner.
func (t *Turns) again(workspace string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return
	}
	w := t.push(workspace, t.round)
	t.mu.Unlock()
	<-w.ready
	t.spare.Put(w)
}

// Give gives the turn back: to the request that is next.
func (t *Turns) Give() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.line) == 0 {
		t.free++
		return
	}
	w := heap.Pop(&t.line).(*waiter) //nolint:forcetypeassert // the line holds nothing else
	t.left(w)
	t.round = w.round
	w.ready <- struct{}{} // has room
}

// join lines a request up in the next round of its workspace; it needs the lock,
// as push and left do.
func (t *Turns) join(workspace string) *waiter {
	p := t.lines[workspace]
	p.newest = max(p.newest, t.round) + 1
	t.lines[workspace] = p
	return t.push(workspace, p.newest)
}

func (t *Turns) push(workspace string, round int64) *waiter {
	p := t.lines[workspace]
	p.waiting++
	t.lines[workspace] = p
	t.count++
	w := t.spare.Get().(*waiter) //nolint:forcetypeassert // the pool holds nothing else
	w.workspace, w.round, w.number = workspace, round, t.count
	heap.Push(&t.line, w)
	return w
}

// left notes that a request is no longer in the line.
func (t *Turns) left(w *waiter) {
	p := t.lines[w.workspace]
	if p.waiting--; p.waiting == 0 {
		delete(t.lines, w.workspace)
	} else {
		t.lines[w.workspace] = p
	}
}

// quit takes a request out of the line; false if it has been given its turn.
func (t *Turns) quit(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.at < 0 {
		return false
	}
	heap.Remove(&t.line, w.at)
	t.left(w)
	return true
}

// waitingLine is a heap of requests: by round, then by arrival.
type waitingLine []*waiter

func (l waitingLine) Len() int { return len(l) }

func (l waitingLine) Less(i, j int) bool {
	if l[i].round != l[j].round {
		return l[i].round < l[j].round
	}
	return l[i].number < l[j].number
}

func (l waitingLine) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].at, l[j].at = i, j
}

// Push implements heap.Interface.
func (l *waitingLine) Push(x any) {
	w := x.(*waiter) //nolint:forcetypeassert // called by join only
	w.at = len(*l)
	*l = append(*l, w)
}

// Pop implements heap.Interface.
func (l *waitingLine) Pop() any {
	last := len(*l) - 1
	w := (*l)[last]
	(*l)[last], w.at = nil, -1
	*l = (*l)[:last]
	return w
}

// away runs f, which waits for something, without the request's turn.
func (st *State) away(f func()) {
	st.Turns.Give()
	// The turn is taken again whatever became of the request: its holder gives
	// it back.
	defer st.Turns.again(st.Workspace)
	f()
}
