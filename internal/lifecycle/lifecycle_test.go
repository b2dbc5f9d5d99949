package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/lifecycle"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newLog gives a logger whose panics are counted, and what it wrote.
func newLog() (*slog.Logger, *lifecycle.PanicCounter, *bytes.Buffer) {
	var counter lifecycle.PanicCounter
	var text bytes.Buffer
	return slog.New(counter.Handler(slog.NewTextHandler(&text, nil))), &counter, &text
}

func wantPanics(t *testing.T, c *lifecycle.PanicCounter, part string, want int64) {
	t.Helper()
	if got := c.Counts()[part]; got != want {
		t.Errorf("%d panics of %s are counted, want %d", got, part, want)
	}
}

// explode is named so that a stack can be looked for it.
func explode() error { panic(io.ErrUnexpectedEOF) }

func TestAPanicIsReturnedLoggedWithItsStackAndCounted(t *testing.T) {
	log, counter, text := newLog()
	err := lifecycle.Do(t.Context(), log.With("x", 1).WithGroup("g"), "mining", explode)
	p, ok := errors.AsType[*lifecycle.PanicError](err)
	if !ok || p.Part != "mining" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v (%T)", err, err)
	}
	for _, want := range []string{"part=mining", "unexpected EOF", "lifecycle_test.explode", "level=ERROR"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the log lacks %q: %s", want, text)
		}
	}
	wantPanics(t, counter, "mining", 1)

	log.Error("request failed", "err", err) // whoever handles the error may log it
	wantPanics(t, counter, "mining", 1)
}

func TestAnErrorPassesAndIsNoPanic(t *testing.T) {
	log, counter, text := newLog()
	if err := lifecycle.Do(t.Context(), log, "mining", func() error { return io.EOF }); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if text.Len() > 0 || len(counter.Counts()) > 0 {
		t.Errorf("logged %q, counted %v", text, counter.Counts())
	}
}

func TestAHandlerCanStillCutItsConnection(t *testing.T) {
	log, counter, _ := newLog()
	defer func() {
		if v := recover(); v != http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
			t.Errorf("recovered %v", v)
		}
		if len(counter.Counts()) > 0 {
			t.Errorf("counted %v", counter.Counts())
		}
	}()
	_ = lifecycle.Do(t.Context(), log, "http", func() error { panic(http.ErrAbortHandler) })
}

func TestAPanicIsCountedWhereErrorsAreNotLogged(t *testing.T) {
	var counter lifecycle.PanicCounter
	log := slog.New(counter.Handler(slog.DiscardHandler))
	_ = lifecycle.Do(t.Context(), log, "judging", explode)
	wantPanics(t, &counter, "judging", 1)
}

func TestWhoeverWaitsForGoHearsOfItsPanic(t *testing.T) {
	log, counter, _ := newLog()
	if err := <-lifecycle.Go(t.Context(), log, "compaction", explode); err == nil {
		t.Error("no error")
	}
	if err := <-lifecycle.Go(t.Context(), log, "compaction", func() error { return nil }); err != nil {
		t.Error(err)
	}
	wantPanics(t, counter, "compaction", 1)
}

func TestAGroupTurnsAPanicIntoItsFirstError(t *testing.T) {
	log, counter, _ := newLog()
	g, ctx := lifecycle.NewGroup(t.Context(), log, "summarising", 2)
	g.Go(explode)
	g.Go(func() error { <-ctx.Done(); return nil }) // the panic ends what the others do
	if err := g.Wait(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	wantPanics(t, counter, "summarising", 1)
}

func TestALoopThatPanicsIsBegunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, counter, _ := newLog()
		w := lifecycle.NewWorker(log, "refreshing")
		var rounds atomic.Int64
		w.Start(t.Context(), func(ctx context.Context) {
			for lifecycle.Sleep(ctx, time.Hour) {
				if rounds.Add(1)%2 == 0 {
					panic("every second round")
				}
			}
		})
		time.Sleep(10*time.Hour + time.Minute)
		w.Stop()
		if rounds.Load() != 10 {
			t.Errorf("%d rounds in ten hours, want 10", rounds.Load())
		}
		wantPanics(t, counter, "refreshing", 5)
	})
}

func TestALoopThatPanicsAtOnceIsBegunLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, counter, _ := newLog()
		w := lifecycle.NewWorker(log, "refreshing")
		w.Start(t.Context(), func(context.Context) { panic("at once") })
		time.Sleep(time.Hour)
		w.Stop()
		// 1+2+4+8+16+32 seconds, then once a minute.
		if n := counter.Counts()["refreshing"]; n < 60 || n > 70 {
			t.Errorf("%d panics in an hour, want about 65", n)
		}
	})
}

func TestAWorkerThatIsStoppedFirstNeverStarts(t *testing.T) {
	log, _, _ := newLog()
	w := lifecycle.NewWorker(log, "refreshing")
	w.Stop()
	w.Stop()
	w.Start(t.Context(), func(context.Context) { t.Error("the loop ran") })
	if w.Go(func(context.Context) error { t.Error("the function ran"); return nil }) {
		t.Error("Go after Stop reports that it runs")
	}
}

func TestTheEndOfTheContextOfStartEndsTheLoopsAndWhatGoRuns(t *testing.T) {
	for name, goFirst := range map[string]bool{"Start before Go": false, "Go before Start": true} {
		t.Run(name, func(t *testing.T) {
			log, _, _ := newLog()
			w := lifecycle.NewWorker(log, "refreshing")
			ctx, cancel := context.WithCancel(t.Context())
			var ended sync.WaitGroup
			ended.Add(2)
			wait := func(ctx context.Context) error { <-ctx.Done(); ended.Done(); return nil }
			if goFirst {
				w.Go(wait)
			}
			w.Start(ctx, func(ctx context.Context) { _ = wait(ctx) })
			if !goFirst {
				w.Go(wait)
			}
			cancel()
			ended.Wait()
			w.Stop()
		})
	}
}

func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, _, text := newLog()
		w := lifecycle.NewWorker(log, "judging")
		release := make(chan struct{})
		w.Start(t.Context(), func(context.Context) { <-release })
		began := time.Now()
		w.Stop()
		if took := time.Since(began); took != lifecycle.Patience {
			t.Errorf("Stop took %v", took)
		}
		if !strings.Contains(text.String(), "part=judging") {
			t.Errorf("what was left behind is not logged: %s", text)
		}
		close(release)
	})
}

// Whatever the order of Start, Go and Stop, from many goroutines, nothing runs
// after a Stop has returned, and no goroutine is left (see TestMain).
func TestStartGoAndStopInAnyOrder(t *testing.T) {
	for range 300 {
		log, _, _ := newLog()
		w := lifecycle.NewWorker(log, "stress")
		var running, started atomic.Int64
		body := func(ctx context.Context) error {
			running.Add(1)
			defer running.Add(-1)
			<-ctx.Done()
			return nil
		}
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				w.Start(t.Context(), func(ctx context.Context) { started.Add(1); _ = body(ctx) })
			})
			wg.Go(func() { w.Go(body) })
			wg.Go(func() {
				if i > 0 {
					w.Stop()
					if n := running.Load(); n != 0 {
						t.Errorf("%d goroutines run after Stop", n)
					}
				}
			})
		}
		wg.Wait()
		w.Stop()
		if started.Load() > 1 {
			t.Fatalf("it started %d times", started.Load())
		}
	}
}
