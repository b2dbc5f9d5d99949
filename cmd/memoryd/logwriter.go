package main

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"memoryd/config"
	"memoryd/internal/lifecycle"
)

// Bounds of what the log may hold back, and how long its end waits for a slow reader.
const (
	logLines = 4096
	logBytes = 4 << 20
	logEnd   = time.Second
)

// logWriter writes the log in the background, so that a pipe that nobody reads delays
// nobody. What has no room is dropped, counted, and told once there is room again.
type logWriter struct {
	out   io.Writer
	tell  *slog.Logger // writes to out at once
	ready chan struct{}
	done  <-chan error

	mu      sync.Mutex
	waiting [][]byte
	bytes   int
	dropped int
	ended   bool
}

// startLog begins to write to out, in the form of the configuration.
func startLog(cfg config.Log, out io.Writer) *logWriter {
	w := &logWriter{out: out, tell: newLogger(cfg, out), ready: make(chan struct{}, 1)}
	w.done = lifecycle.Go(context.Background(), w.tell, "log", w.run)
	return w
}

// Write accepts a line. It never waits and never fails.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	if w.ended || len(w.waiting) == logLines || w.bytes+len(line) > logBytes {
		w.dropped++
	} else {
		w.waiting = append(w.waiting, append([]byte(nil), line...))
		w.bytes += len(line)
	}
	w.mu.Unlock()
	w.wake()
	return len(line), nil
}

func (w *logWriter) wake() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// Stop writes the waiting lines, for at most logEnd.
func (w *logWriter) Stop() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.wake()
	select {
	case <-w.done:
	case <-time.After(logEnd):
	}
}

func (w *logWriter) run() error {
	for range w.ready {
		for {
			w.mu.Lock()
			lines, dropped, ended := w.waiting, w.dropped, w.ended
			w.waiting, w.bytes, w.dropped = nil, 0, 0
			w.mu.Unlock()
			for _, line := range lines {
				_, _ = w.out.Write(line) // there is nowhere to tell
			}
			if dropped > 0 {
				w.tell.Warn("dropped log lines: the reader of the log is too slow", "lines", dropped)
			}
			if len(lines) == 0 && ended {
				return nil
			}
			if len(lines) == 0 {
				break
			}
		}
	}
	return nil
}
