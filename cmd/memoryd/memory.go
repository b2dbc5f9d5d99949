package main

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// serveMemory is the memory of a server beside the bodies of its requests, which stand there
// twice while they are worked on: as they came and decoded.
const serveMemory = 320 << 20

// backgroundMemory is that of a server that a command started, beside the programs of one
// person. Learn on a gigabyte of transcripts then takes 42 to 46 s on two cores, 83 s at 192 MiB.
const backgroundMemory = 236 << 20

// memoryBound is how many bytes this process may use: the least of what GOMEMLIMIT, its
// control group and the limit of its address space (ulimit -v) leave. MaxInt64 is no bound.
func memoryBound() int64 {
	bound := freeAddresses()
	if limit, err := memlimit.FromCgroup(); err == nil && limit < uint64(bound) { //nolint:gosec // above 0
		bound = int64(limit) //nolint:gosec // below MaxInt64
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		bound = min(bound, debug.SetMemoryLimit(-1))
	}
	return bound
}

// inFlightWithin is what the bodies of requests may hold together where there is so much
// memory: a sixth of what a server that rests leaves of it, for each body stands there as it
// came, decoded, on its way into the store, and where a collection has not come by yet. One
// body always has room.
func inFlightWithin(bound, most, one int64) int64 {
	if bound == math.MaxInt64 {
		return most
	}
	return min(most, max(one, (bound-serveMemory/2)/6))
}

// limitMemory has the runtime collect more often rather than let the heap grow over a
// number of bytes, unless GOMEMLIMIT sets another limit. The limit is soft: what is needed
// is had. The function that it gives sets the limit back.
func limitMemory(bytes int64) (restore func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	old := debug.SetMemoryLimit(bytes)
	return func() { debug.SetMemoryLimit(old) }
}

// collectLess has the runtime collect once the heap has grown to five times what is live, up to
// the limit of limitMemory, unless GOGC says another share. Little of a server's heap is live
// (some 30 MiB), so at the runtime's own 100 % collections take a seventh of an add.
func collectLess() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	old := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(old) }
}
