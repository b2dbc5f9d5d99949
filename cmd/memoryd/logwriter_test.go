package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"memoryd/config"
)

// stuck is a reader that takes nothing until it is let.
type stuck struct {
	let chan struct{}
	mu  sync.Mutex
	got bytes.Buffer
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.let
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.Write(b)
}

func TestTheLogWaitsForNobodyAndCountsWhatItDrops(t *testing.T) {
	out := &stuck{let: make(chan struct{})}
	w := startLog(config.Log{Level: "info"}, out)
	for range 3 * logLines {
		if n, err := w.Write([]byte("a line\n")); n != 7 || err != nil {
			t.Fatal(n, err)
		}
	}
	close(out.let)
	w.Stop()
	written, dropped := strings.Count(out.got.String(), "a line"), 3*logLines
	if written < logLines || !strings.Contains(out.got.String(), "dropped log lines") {
		t.Errorf("%d of %d written\n%.300s", written, dropped, out.got.String()[max(0, out.got.Len()-300):])
	}
	if n, err := w.Write([]byte("afterwards")); n == 0 || err != nil {
		t.Error("a line after the end is an error")
	}
}
