package e2e

import (
	"os"
	"os/exec"
	"testing"
)

// The agent of examples/ makes a mistake in each task without a memory, and none with it.
func TestTheExampleAgentStopsFailingWithAMemory(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here")
	}
	s := start(t, t.TempDir(), nil)
	cmd := exec.CommandContext(t.Context(), "python3", "../../examples/agent.py")
	cmd.Env = append(os.Environ(), "MEMORYD_URL="+s.URL)
	out, err := cmd.CombinedOutput()
	want := "without memory: 4 of 4 tasks began with a failed call\nwith memory: 0 of 4 tasks began with a failed call\n"
	if err != nil || string(out) != want {
		t.Errorf("%v, want %q, got\n%s", err, want, out)
	}
}
