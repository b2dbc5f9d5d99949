package ops

import (
	"container/list"
	"context"
	"sync"
	"time"

	"memoryd"
	"memoryd/store"

	"golang.org/x/sync/singleflight"
)

// Forecaster keeps what was learned from the histories asked for last. A history
// that changed is learned anew, but not more often than every few seconds.
type Forecaster struct {
	store interface {
		store.Calls
		store.Tools
	}
	now func() time.Time

	mu     sync.Mutex
	tools  map[memoryd.ToolRef]*list.Element // of *kept
	recent *list.List                        // the newest asked first
	held   int                               // calls behind all lessons

	once singleflight.Group
}

// kept is a lesson and the state of the tool that it was learned from.
type kept struct {
	ref      memoryd.ToolRef
	revision int64
	at       time.Time
	lesson   *lesson
}

// What is kept: lessons from so many calls together, about 3 KB each; and how
// long one serves although the tool has changed since.
const (
	heldCalls  = 50_000
	lessonTime = 5 * time.Second
)

// NewForecaster makes a Forecaster over the histories of a store.
func NewForecaster(s interface {
	store.Calls
	store.Tools
}, now func() time.Time,
) *Forecaster {
	return &Forecaster{store: s, now: now, tools: map[memoryd.ToolRef]*list.Element{}, recent: list.New()}
}

// learned gives what is known of the tool; of one without a history, nothing.
func (f *Forecaster) learned(ctx context.Context, ref memoryd.ToolRef) (*lesson, error) {
	tool, err := f.store.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return learn(nil), nil
	}
	if err != nil {
		return nil, err
	}
	if l := f.find(ref, tool.Revision); l != nil {
		return l, nil
	}
	// Who waits for the learning shares its fate, but not the first one's end.
	got := f.once.DoChan(ref.Workspace+"\x00"+ref.Tool, func() (any, error) {
		calls, err := f.store.History(context.WithoutCancel(ctx), ref, 0)
		if err != nil {
			return nil, err
		}
		l := learn(calls)
		f.keep(kept{ref, tool.Revision, f.now(), l})
		return l, nil
	})
	select {
	case r := <-got:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*lesson), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (f *Forecaster) find(ref memoryd.ToolRef, revision int64) *lesson {
	f.mu.Lock()
	defer f.mu.Unlock()
	el := f.tools[ref]
	if el == nil {
		return nil
	}
	k := el.Value.(*kept)
	if k.revision != revision && (k.revision > revision || f.now().Sub(k.at) >= lessonTime) {
		return nil
	}
	f.recent.MoveToFront(el)
	return k.lesson
}

// keep enters a lesson and lets those asked for longest ago go.
func (f *Forecaster) keep(k kept) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(f.tools[k.ref])
	f.tools[k.ref] = f.recent.PushFront(&k)
	f.held += k.lesson.calls
	for f.held > heldCalls && f.recent.Len() > 1 {
		f.forget(f.recent.Back())
	}
}

func (f *Forecaster) forget(el *list.Element) {
	if el == nil {
		return
	}
	k := f.recent.Remove(el).(*kept)
	delete(f.tools, k.ref)
	f.held -= k.lesson.calls
}
