// Package lifecycle starts and stops goroutines, and keeps their panics from ending the
// process. It is the only package of the program with a go statement (a test in internal/arch
// enforces that):
//
//   - [Worker] runs the loops of a part from Start to Stop;
//   - [Group] runs goroutines that one caller waits for;
//   - [Go] runs one function beside its caller;
//   - [Do] is the edge that all of these have in common.
//
// A recovered panic is logged with its stack, counted by part (see [PanicCounter]), and
// returned to the waiting caller as a [*PanicError]. What Go cannot recover, such as a
// concurrent write to a map, still ends the process.
package lifecycle

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"sync"
)

// PanicError is the error that a panic becomes for the waiting caller. It has no kind, so a
// client sees an internal error and nothing of its text.
type PanicError struct {
	// Part is the part of the program that panicked.
	Part string
	// Value is what was passed to panic.
	Value any
	// Stack is the stack of the goroutine at the panic.
	Stack []byte
}

// Error returns the part and the value of the panic, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("%s: panic: %v", e.Part, e.Value) }

// Unwrap returns the error that was passed to panic, if it was one.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Do calls f. A panic in it is logged, counted under part, and returned as a *PanicError; log
// may be nil. The part becomes the label of a metric, so it must be a fixed word of the
// program, never text from outside. A panic with http.ErrAbortHandler passes through, because
// a handler cuts its connection with it.
func Do(ctx context.Context, log *slog.Logger, part string, f func() error) (err error) {
	defer func() {
		v := recover()
		if v == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
			panic(v)
		}
		if v != nil {
			if log == nil {
				log = slog.New(slog.DiscardHandler)
			}
			p := &PanicError{Part: part, Value: v, Stack: debug.Stack()}
			log.ErrorContext(ctx, "recovered from a panic; the work in progress was lost", slog.Any("panic", caught{p}))
			err = p
		}
	}()
	return f()
}

// Go runs f in a goroutine and handles panics as [Do] does. It sends the error of f, which
// may be nil, to the buffered channel and closes it. The caller must wait for f before it
// stops anything that f uses.
func Go(ctx context.Context, log *slog.Logger, part string, f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer close(done)
		done <- Do(ctx, log, part, f)
	}()
	return done
}

// caught is what a log record says of a panic. Only this package can make one, so
// each panic is counted once, however often its error is logged after that.
type caught struct{ *PanicError }

// LogValue implements slog.LogValuer.
func (c caught) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("part", c.Part),
		slog.String("value", fmt.Sprint(c.Value)),
		slog.String("stack", string(c.Stack)),
	)
}

// PanicCounter counts panics by part. Every part already has a logger, so the counter reads
// the log: it counts exactly the panics that are logged. The zero value is ready to use, and
// its methods are safe for concurrent use.
type PanicCounter struct {
	mu     sync.Mutex
	byPart map[string]int64
}

// Counts returns the number of panics of each part that had one.
func (c *PanicCounter) Counts() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.byPart)
}

// Handler forwards records to next and counts those that report a panic, even if next ignores
// errors.
func (c *PanicCounter) Handler(next slog.Handler) slog.Handler { return countingHandler{next, c} }

type countingHandler struct {
	slog.Handler
	counter *PanicCounter
}

func (h countingHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError || h.Handler.Enabled(ctx, level)
}

func (h countingHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if p, ok := a.Value.Any().(caught); ok {
			h.counter.mu.Lock()
			defer h.counter.mu.Unlock()
			if h.counter.byPart == nil {
				h.counter.byPart = map[string]int64{}
			}
			h.counter.byPart[p.Part]++
		}
		return true
	})
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h countingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return countingHandler{h.Handler.WithAttrs(attrs), h.counter}
}

func (h countingHandler) WithGroup(name string) slog.Handler {
	return countingHandler{h.Handler.WithGroup(name), h.counter}
}
