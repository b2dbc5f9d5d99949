package lifecycle

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// How a loop that panicked is begun again: after firstPause, then twice as long
// each time, at most longestPause; after it has run so long it begins afresh.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// patience is how long Stop waits for goroutines that ignore their context.
const patience = 15 * time.Second

// Worker runs the goroutines of a part from Start to Stop. It starts once: after Stop, it
// never runs again. Its methods are safe for concurrent use.
type Worker struct {
	log  *slog.Logger
	part string

	mu      sync.Mutex
	started bool
	stopped bool
	ctx     context.Context //nolint:containedctx // of what runs; Stop ends it
	cancel  context.CancelFunc
	running sync.WaitGroup
	ended   chan struct{} // closed when all has returned after Stop
}

// NewWorker returns a worker for a part, which is named by a fixed word of the program.
// Nothing runs before Start or Go.
func NewWorker(log *slog.Logger, part string) *Worker {
	return &Worker{log: log, part: part, ended: make(chan struct{})}
}

// Start runs each loop in its own goroutine until it returns. Their context ends with ctx or
// with Stop. A loop that panics is restarted after a pause. Only the first Start does
// anything.
func (w *Worker) Start(ctx context.Context, loops ...func(context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started || w.stopped {
		return
	}
	w.started = true
	if w.ctx == nil {
		w.ctx, w.cancel = context.WithCancel(ctx)
	} else { // Go came before
		context.AfterFunc(ctx, w.cancel)
	}
	for _, loop := range loops {
		w.running.Go(func() { w.keepRunning(loop) })
	}
}

// Go runs f once in a goroutine that Stop waits for. Its context ends with Stop, or with the
// context given to Start. Go may be called before Start. After Stop it does nothing and
// returns false.
func (w *Worker) Go(f func(ctx context.Context) error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return false
	}
	if w.ctx == nil {
		w.ctx, w.cancel = context.WithCancel(context.Background())
	}
	ctx := w.ctx
	w.running.Go(func() { _ = Do(ctx, w.log, w.part, func() error { return f(ctx) }) })
	return true
}

func (w *Worker) keepRunning(loop func(context.Context)) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		began := time.Now()
		err := Do(w.ctx, w.log, w.part, func() error { loop(w.ctx); return nil })
		if err == nil {
			return
		}
		if time.Since(began) >= longestPause {
			pause = firstPause
		}
		if !Sleep(w.ctx, pause) {
			return
		}
	}
}

// Stop ends the context of everything that runs, and waits at most Patience for all of it to
// return. What continues is left behind and logged. Stop may be called several times,
// concurrently, and before Start.
func (w *Worker) Stop() {
	w.mu.Lock()
	if !w.stopped {
		w.stopped = true
		if w.cancel != nil {
			w.cancel()
		}
		go func() {
			w.running.Wait()
			close(w.ended)
		}()
	}
	w.mu.Unlock()
	select {
	case <-w.ended:
	case <-time.After(patience):
		w.log.Error("a part did not stop in time", "part", w.part)
	}
}

// Sleep waits for d and reports whether it did; false means that ctx ended.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
