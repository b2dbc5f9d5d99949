package daemon

import (
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

// Dice gives random numbers, whose seed is logged.
func Dice(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
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
