package main

import (
	"math"
	"testing"
)

func TestTheMemoryThatThereIsBoundsTheBodiesUnderWay(t *testing.T) {
	const mb = 1 << 20
	for bound, want := range map[int64]int64{
		math.MaxInt64: 256 * mb, 8192 * mb: 256 * mb, 1536 * mb: 1376 * mb / 6, 512 * mb: 352 * mb / 6, 64 * mb: 16 * mb, 0: 16 * mb,
	} {
		if got := inFlightWithin(bound, 256*mb, 16*mb); got != want {
			t.Errorf("of %d MB: %d, want %d", bound/mb, got/mb, want/mb)
		}
	}
	t.Setenv("GOMEMLIMIT", "512MiB")
	defer limitMemory(1)()
	if got := memoryBound(); got <= 0 {
		t.Errorf("bound %d", got)
	}
}
