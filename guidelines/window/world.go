package window

import (
	"context"
	"fmt"
	"sync"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/store"
)

// What of a workspace is read when its world is asked for first, after a start or when something was forgotten.
const (
	worldTools = 128                   // by name, in turns
	worldCalls = 4                     // of a tool in one turn, the newest first
	worldTurns = 50                    // of a tool
	worldSoon  = 50 * time.Millisecond // how long who asks first waits; the rest is read in the background
)

// Of so many workspaces what they know is kept. Another one takes the place of one of these now and then: where more
// are used in turns, reading them would never end.
const (
	maxWorlds = 256
	worldGap  = time.Second
)

// world is what a workspace knows, and what is still to be read of it.
type world struct {
	*evidence.World

	mu     sync.Mutex // held while calls are read
	reader *evidence.Observer
	left   []toRead
}

// toRead are the calls of a tool before one of them; before is 0 for all. So many turns are left.
type toRead struct {
	memoryd.ToolRef

	before int64
	turns  int
}

// World implements evidence.Window. No call is compared with a world that is not read to its end.
func (w *Window) World(ctx context.Context, workspace string) (*evidence.World, error) {
	if known, ok := w.worlds.Get(workspace); ok {
		return known.World, nil
	}
	if !w.mayReadWorld() {
		return evidence.UnreadWorld(), nil
	}
	tools, err := w.store.ListTools(ctx, workspace, "", worldTools)
	if err != nil {
		return nil, fmt.Errorf("the tools of %q: %w", workspace, err)
	}
	u := &world{World: evidence.UnreadWorld()}
	u.reader = evidence.NewObserver().Teach(u.World)
	for i := range tools {
		u.left = append(u.left, toRead{tools[i].ToolRef, 0, worldTurns})
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if first, known, _ := w.worlds.PeekOrAdd(workspace, u); known {
		return first.World, nil
	}
	for began, more := w.now(), true; more && w.now().Sub(began) < worldSoon; {
		if more, err = w.readWorld(ctx, u); err != nil {
			w.worlds.Remove(workspace)
			return nil, err
		}
	}
	return u.World, nil
}

// mayReadWorld reports whether there is place for another world.
func (w *Window) mayReadWorld() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worlds.Len() >= maxWorlds && w.now().Sub(w.worldAt) < worldGap {
		return false
	}
	w.worldAt = w.now()
	return true
}

// readWorlds reads some calls of a world that is not read to its end; false if there is none.
func (w *Window) readWorlds(ctx context.Context) bool {
	for _, u := range w.worlds.Values() {
		u.mu.Lock()
		more, err := w.readWorld(ctx, u)
		u.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "cannot read what a workspace knows; it is tried again", "err", err)
		}
		if more || err != nil {
			return more
		}
	}
	return false
}

// readWorld reads some calls of the next tool; false if all are read, or as much is known as can be. Those that wait to
// be observed are left out: each is to meet the world as it was before it.
func (w *Window) readWorld(ctx context.Context, u *world) (more bool, err error) {
	if u.reader == nil {
		return false, nil
	}
	if len(u.left) > 0 && !u.IsFull() {
		next := u.left[0]
		calls, err := w.store.ListCalls(ctx, next.ToolRef, store.CallPage{Before: next.before, Limit: worldCalls})
		if err != nil {
			return false, fmt.Errorf("the calls of %q: %w", next.Tool, err)
		}
		waiting := w.waitingOf(next.ToolRef)
		for i := range calls {
			if next.before = calls[i].Seq; !waiting[calls[i].Key] {
				u.reader.Observe(&calls[i])
			}
		}
		next.turns--
		if u.left = u.left[1:]; len(calls) > 0 && next.turns > 0 {
			u.left = append(u.left, next)
		}
		return true, nil
	}
	u.Read()
	u.reader, u.left = nil, nil
	return false, nil
}

// waitingOf are the calls of a tool that wait to be observed.
func (w *Window) waitingOf(ref memoryd.ToolRef) map[memoryd.CallKey]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := map[memoryd.CallKey]bool{}
	for _, ob := range w.queue {
		if ob.ToolRef == ref {
			waiting[ob.Key] = true
		}
	}
	return waiting
}
