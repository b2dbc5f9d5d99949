// Package powerloss pulls the plug. It runs the embedded store on a disk that
// remembers what was flushed, leaves of the rest what a power cut may leave, and
// looks whether the store keeps its promises on it.
package powerloss

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// front is the process's VFS: SQLite has one list of them for the whole process.
var front *vfs

func TestMain(m *testing.M) {
	var err error
	if front, err = register(newDisks()); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// How many power cuts one life of a store is cut by, and how many lives follow
// each other on one disk.
const (
	cutsPerLife = 25
	livesOfDisk = 4
)

// points is how many power cuts the test makes.
func points(t *testing.T, usual int) int {
	v := os.Getenv("MEMORYD_POWERLOSS_POINTS")
	if v == "" {
		return usual
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// firstSeed is a new one each time, or that of a failure: the operations and the
// cuts are then the same, but not how the clients' commits mix.
func firstSeed(t *testing.T) uint64 {
	seed := uint64(rand.Uint32())
	if v := os.Getenv("MEMORYD_POWERLOSS_SEED"); v != "" {
		var err error
		if seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return seed
}

// TestNothingAcknowledgedIsLostWhenThePowerGoes cuts the power at random moments
// of the lives of stores: while they are made, written, worked off and closed,
// and while they recover from the cut before. MEMORYD_POWERLOSS_POINTS sets how
// often, MEMORYD_POWERLOSS_SEED repeats a failure.
func TestNothingAcknowledgedIsLostWhenThePowerGoes(t *testing.T) {
	wanted, seed := points(t, 300), firstSeed(t)
	done, events := 0, 0
	for ; done < wanted; seed++ {
		w := newWorld(t, front.disks, seed)
		if seed%4 == 0 {
			w.files = version1(t)
		}
		for range livesOfDisk {
			n := min(cutsPerLife, wanted-done)
			events += w.cuts(n)
			done += n
		}
	}
	t.Logf("%d power cuts in %d disk events", done, events)
}

// cuts lets the store live once, cuts the power n times and goes on with what
// one of the cuts left. It tells how many events there were.
func (w *world) cuts(n int) (events int) {
	begin, d, err := w.live(w.t.Context())
	if err != nil {
		w.t.Fatalf("the store failed on a disk that works: %v\nMEMORYD_POWERLOSS_SEED=%d", err, w.seed)
	}
	moments := make([]int, n)
	for i := range moments {
		moments[i] = w.rng.IntN(len(d.events) + 1)
	}
	slices.Sort(moments)
	next := w.rng.IntN(max(n, 1)) // the cut after which it goes on
	var files map[string][]byte
	var kept []int
	at := 0
	for i, moment := range moments {
		for ; at < moment; at++ {
			begin.apply(d.events[at])
		}
		fate := newFate(w.rng)
		left := begin.crash(fate)
		there, err := w.look(w.t.Context(), left, moment)
		if err != nil {
			w.t.Fatalf("power cut after event %d of %d (%v): %v\nMEMORYD_POWERLOSS_SEED=%d", moment, len(d.events), fate, err, w.seed)
		}
		if i == next {
			files, kept = left, there
		}
	}
	if kept == nil {
		return len(d.events)
	}
	w.files = files
	for i, c := range w.clients {
		c.resume(kept[i])
	}
	return len(d.events)
}
