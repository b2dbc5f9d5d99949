// Package replicas runs several processes of the real program on one Qdrant, as a
// team would, and looks whether they lose, double or mix up anything: while many
// write, while replicas and the server are killed, and while the server is away.
//
// The server is the one that MEMORYD_TEST_QDRANT names (host:port of its gRPC),
// else package qdranttest's behind a port of the loopback. MEMORYD_TEST_QDRANT_BINARY
// names a Qdrant program that the tests may start and kill.
package replicas

import (
	"os"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// binary is the program under test, built once.
var binary daemon.Binary

func TestMain(m *testing.M) { os.Exit(daemon.Main(m, &binary)) }

// patience is how long a test waits for what happens by itself.
const patience = time.Minute

// poll is how long a test waits before it looks again.
const poll = 50 * time.Millisecond

// tick waits a moment.
func tick() { <-time.After(poll) }

// eventually looks until there is nothing to complain about.
func eventually(t *testing.T, complaint func() string) {
	t.Helper()
	for end := time.Now().Add(patience); ; tick() {
		c := complaint()
		if c == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %v: %s", patience, c)
		}
	}
}
