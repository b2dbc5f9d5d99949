// Package e2e runs the real binary and speaks to it over HTTP, as a user's
// programs do.
package e2e

import (
	"os"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// patience is how long a test waits for what comes by itself: it ends sooner, unless
// something is broken.
const patience = 2 * time.Minute

// binary is the program under test, built once.
var binary daemon.Binary

// TestMain runs the tests, or plays the MCP server of one of them.
func TestMain(m *testing.M) {
	if os.Getenv("MEMORYD_TEST_BOOKING") != "" {
		playBooking(os.Stdin, os.Stdout)
		return
	}
	os.Exit(daemon.Main(m, &binary))
}

// start runs the server on a free port with its data in dir.
func start(t *testing.T, dir string, env []string, args ...string) *daemon.Process {
	t.Helper()
	return binary.Start(t, dir, env, args...)
}

// memoryd runs another command of the binary and returns its exit code and
// what it printed.
func memoryd(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return binary.Run(t, stdin, args...)
}
