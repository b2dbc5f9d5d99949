//go:build !race

package main

import "testing"

// raceEnabled tells that the race detector is built in.
const raceEnabled = false

// oneByOne skips a test that asks one thing after the other under the race detector.
func oneByOne(*testing.T) {}
