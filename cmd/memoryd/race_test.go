//go:build race

package main

import "testing"

// raceEnabled tells that the race detector is built in.
const raceEnabled = true

// oneByOne skips a test that asks one thing after the other: the race detector sees in it what
// it sees in each test that starts a server, at ten times the price.
func oneByOne(t *testing.T) {
	t.Helper()
	t.Skip("asks one thing after the other: the race detector has nothing more to see")
}
