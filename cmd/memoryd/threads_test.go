package main

import (
	"runtime"
	"testing"

	"memoryd/config"
)

// What computes leaves half of the runtime's threads to probes and refusals, unless only a part
// of the processors may be used.
func TestWhatComputesLeavesThreadsToOthers(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	n := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	spareThreads()
	if threads, slots := runtime.GOMAXPROCS(0), slotsFor(config.BackendSQLite, processors()); threads != 2*n || slots != n {
		t.Errorf("%d threads, %d slots on %d processors", threads, slots, n)
	}
	for name, set := range map[string]string{"a share": "", "as asked for": "2"} {
		t.Setenv("GOMAXPROCS", set)
		runtime.GOMAXPROCS(1)
		if spareThreads(); n > 1 && runtime.GOMAXPROCS(0) != 1 || processors() != 1 {
			t.Errorf("%s: %d threads, %d processors", name, runtime.GOMAXPROCS(0), processors())
		}
	}
}
