//go:build !race

package main

// raceEnabled tells that the race detector is built in.
const raceEnabled = false
