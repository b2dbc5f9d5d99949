package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync/atomic"
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
	lines chan []byte
	end   func() // Stop was called
	ended <-chan struct{}
	done  <-chan error

	bytes, dropped atomic.Int64
}

// startLog begins to write to out, in the form of the configuration.
func startLog(cfg config.Log, out io.Writer) *logWriter {
	ctx, end := context.WithCancel(context.Background())
	w := &logWriter{out: out, tell: newLogger(cfg, out), lines: make(chan []byte, logLines), end: end, ended: ctx.Done()}
	w.done = lifecycle.Go(context.Background(), w.tell, "log", w.run)
	return w
}

// Write accepts a line. It never waits and never fails.
func (w *logWriter) Write(line []byte) (int, error) {
	size := int64(len(line))
	if w.bytes.Add(size) <= logBytes {
		select {
		case w.lines <- bytes.Clone(line):
			return len(line), nil
		default:
		}
	}
	w.bytes.Add(-size)
	w.dropped.Add(1)
	return len(line), nil
}

// Stop writes the waiting lines, for at most logEnd.
func (w *logWriter) Stop() {
	w.end()
	select {
	case <-w.done:
	case <-time.After(logEnd):
	}
}

func (w *logWriter) run() error {
	for {
		select {
		case line := <-w.lines:
			w.write(line)
		case <-w.ended:
			for len(w.lines) > 0 {
				w.write(<-w.lines)
			}
			return nil
		}
	}
}

func (w *logWriter) write(line []byte) {
	_, _ = w.out.Write(line) // there is nowhere to tell
	w.bytes.Add(-int64(len(line)))
	if n := w.dropped.Swap(0); n > 0 {
		w.tell.Warn("dropped log lines: the reader of the log is too slow", "lines", n)
	}
}
