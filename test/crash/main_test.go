// Package crash kills the real program, fills its disk and damages its files,
// and looks whether it keeps its promises.
package crash

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"memoryd/test/crash/daemon"
)

// binary is the program under test, built once.
var binary daemon.Binary

func TestMain(m *testing.M) { os.Exit(daemon.Main(m, &binary)) }

// rounds is how often the program is killed; MEMORYD_KILL_ROUNDS changes it.
func rounds(t *testing.T, usual int) int {
	v := os.Getenv("MEMORYD_KILL_ROUNDS")
	if v == "" {
		return usual
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// dice gives random numbers, whose seed is logged.
func dice(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// configFile writes a configuration and returns its path.
func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// keeping is a configuration whose histories hold n calls.
func keeping(t *testing.T, n int) string {
	return configFile(t, "op: {parse_tool_call_result_op: {params: {max_history_tool_call_cnt: "+strconv.Itoa(n)+"}}}\n"+
		"log: {level: error}\n")
}
