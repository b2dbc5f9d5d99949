package ops

import (
	"container/list"
	"context"
	"log/slog"
	"sync"
	"time"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// Priors knows what a tool with few calls may expect from tools like it, without
// waiting for anything; nil is nothing.
type Priors interface {
	PriorFor(ref memoryd.ToolRef, calls []memoryd.Call) *preflight.Prior
}

// Forecaster keeps what was learned from the histories asked for last. Learning
// takes up to a second, so a history that has grown since is learned anew in the
// background, one at a time, and only when it has grown enough or some time has
// passed; a forecast uses what was learned before. Only the first forecast for a
// tool waits.
type Forecaster struct {
	store interface {
		store.Calls
		store.Tools
	}
	priors Priors
	log    *slog.Logger
	now    func() time.Time

	mu     sync.Mutex
	tools  map[memoryd.ToolRef]*list.Element // of *kept
	recent *list.List                        // the newest asked first
	held   int                               // calls behind all lessons

	flights lifecycle.Flights[*lesson]
	learner chan struct{}     // holds a token while a lesson is learned anew
	anew    *lifecycle.Worker // does so
}

// kept is a lesson and the state of the tool that it was learned from.
type kept struct {
	ref      memoryd.ToolRef
	revision int64
	at       time.Time
	lesson   *lesson
}

// What is kept, and when it is learned anew.
const (
	heldCalls   = 50_000           // calls behind all lessons together, about 10 KB each
	lessonTime  = 30 * time.Second // a lesson serves so long although something changed,
	lessonShare = 10               // or until a tenth of its calls has changed
)

// NewForecaster makes a Forecaster over the histories of a store. priors may be
// nil.
func NewForecaster(s interface {
	store.Calls
	store.Tools
}, priors Priors, log *slog.Logger, now func() time.Time,
) *Forecaster {
	return &Forecaster{
		store: s, priors: priors, log: log, now: now, tools: map[memoryd.ToolRef]*list.Element{}, recent: list.New(),
		learner: make(chan struct{}, 1), anew: lifecycle.NewWorker(log, "learning"),
	}
}

// Stop ends what is being learned in the background; nothing more begins.
func (f *Forecaster) Stop() { f.anew.Stop() }

// learned gives what is known of the tool; of one without a history, nothing.
func (f *Forecaster) learned(ctx context.Context, ref memoryd.ToolRef) (*lesson, error) {
	tool, err := f.store.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return learn(nil, nil), nil
	}
	if err != nil {
		return nil, err
	}
	if l := f.find(tool); l != nil {
		return l, nil
	}
	// Who waits for the learning shares its result, but not the first one's end.
	return f.flights.Do(ctx, f.log, "learning", ref.Workspace+"\x00"+ref.Tool, func(ctx context.Context) (*lesson, error) {
		return f.learn(ctx, tool)
	})
}

func (f *Forecaster) learn(ctx context.Context, tool memoryd.Tool) (*lesson, error) {
	calls, err := f.store.History(ctx, tool.ToolRef, 0)
	if err != nil {
		return nil, err
	}
	var prior *preflight.Prior
	if f.priors != nil {
		prior = f.priors.PriorFor(tool.ToolRef, calls)
	}
	l := learn(calls, prior)
	f.keep(kept{tool.ToolRef, tool.Revision, f.now(), l})
	return l, nil
}

// find gives the lesson that there is, and has it learned anew if it is time.
func (f *Forecaster) find(tool memoryd.Tool) *lesson {
	f.mu.Lock()
	defer f.mu.Unlock()
	el := f.tools[tool.ToolRef]
	if el == nil {
		return nil
	}
	k := el.Value.(*kept)
	grown := tool.Revision - k.revision
	if grown < 0 { // the tool was deleted and began anew
		f.forget(el)
		return nil
	}
	f.recent.MoveToFront(el)
	if grown > 0 && (int(grown)*lessonShare > k.lesson.calls || f.now().Sub(k.at) >= lessonTime) {
		f.inBackground(tool)
	}
	return k.lesson
}

// inBackground learns the tool anew unless another one is being learned. The
// lock is held.
func (f *Forecaster) inBackground(tool memoryd.Tool) {
	select {
	case f.learner <- struct{}{}:
	default:
		return
	}
	begun := f.anew.Go(func(ctx context.Context) error {
		defer func() { <-f.learner }()
		_, err := f.learn(ctx, tool)
		return err // then the lesson that there is goes on serving
	})
	if !begun {
		<-f.learner
	}
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
