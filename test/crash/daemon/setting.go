package daemon

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Size is how much a test does: usual, or what the environment variable says.
func Size(t testing.TB, variable string, usual int) int {
	t.Helper()
	v := os.Getenv(variable)
	if v == "" {
		return usual
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		t.Fatalf("%s: %q is not a number above 0", variable, v)
	}
	return n
}

// Dice gives random numbers: the same in each run, for a gate that passes must pass again.
// MEMORYD_TEST_SEED is another seed, or "random", which is logged.
func Dice(t testing.TB) *rand.Rand {
	t.Helper()
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.Name()))
	seed := h.Sum64()
	switch v := os.Getenv("MEMORYD_TEST_SEED"); v {
	case "":
	case "random":
		seed = rand.Uint64()
		t.Logf("MEMORYD_TEST_SEED=%d", seed)
	default:
		var err error
		if seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatalf("MEMORYD_TEST_SEED: %q is neither a number nor random", v)
		}
	}
	return rand.New(rand.NewPCG(seed, 0))
}

// ConfigFile writes a configuration and returns its path.
func ConfigFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
