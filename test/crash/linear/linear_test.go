// Package linear checks that many clients see each store as one thing that does
// one operation after another, each between its question and its answer.
package linear

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/sqlite"

	"github.com/anishathalye/porcupine"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds the search for an order that explains a history.
const patience = 30 * time.Second

func openSQLite(t *testing.T) store.Store {
	cfg := configtest.Section[sqlite.Config]("store.sqlite")
	cfg.Dir, cfg.IdentityWindow, cfg.Readers = t.TempDir(), 4096, 2
	s, err := sqlite.Open(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Start(t.Context())
	return s
}

func backends() map[string]func(*testing.T) store.Store {
	return map[string]func(*testing.T) store.Store{
		"mem":    func(*testing.T) store.Store { return mem.New() },
		"sqlite": openSQLite,
	}
}

// firstSeed is new each time, or that of a failure.
func firstSeed(t *testing.T) uint64 {
	v := os.Getenv("MEMORYD_LINEAR_SEED")
	if v == "" {
		return uint64(rand.Uint32())
	}
	seed, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// check runs clients on a new store and searches for an order.
func check(t *testing.T, s store.Store, seed uint64) porcupine.CheckResult {
	t.Helper()
	ops := history(t, s, seed)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return porcupine.CheckOperationsTimeout(model(), ops, patience)
}

func TestStoresAreLinearizable(t *testing.T) {
	const seeds = 12
	for name, open := range backends() {
		t.Run(name, func(t *testing.T) {
			first := firstSeed(t)
			for seed := first; seed < first+seeds; seed++ {
				if got := check(t, open(t), seed); got != porcupine.Ok {
					t.Errorf("seed %d: %s", seed, got)
				}
			}
		})
	}
}

// TestTheCheckerSeesBrokenStores is the control: stores with one fault each have
// to be found out within a few histories.
func TestTheCheckerSeesBrokenStores(t *testing.T) {
	for name, damage := range faults() {
		t.Run(name, func(t *testing.T) {
			first := firstSeed(t)
			for seed := first; seed < first+20; seed++ {
				if check(t, damage(mem.New()), seed) == porcupine.Illegal {
					return
				}
			}
			t.Errorf("20 histories from seed %d look right", first)
		})
	}
}
