package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// TestAKilledRestoreIsNeverServedAsWhole kills a restore at random moments: what it left
// is refused by the server and by every command, and the same command completes it. A
// part was served as if it were all before (defect O1).
func TestAKilledRestoreIsNeverServedAsWhole(t *testing.T) {
	rng := daemon.Dice(t)
	from, file := t.TempDir(), filepath.Join(t.TempDir(), "all.jsonl")
	s := binary.Start(t, from, nil)
	for tool := range 80 {
		var calls []map[string]any
		for i := range 20 {
			calls = append(calls, map[string]any{"output": fmt.Sprint("output ", i), "input": map[string]any{"n": i}, "create_time": "2025-01-01 00:00:00"})
		}
		s.Post("/add_tool_call_result", map[string]any{"tool_name": fmt.Sprint("tool", tool), "tool_call_results": calls, "include_history": false})
	}
	s.Stop()
	if code, _, stderr := binary.Run(t, "", "export", file, "--data", from); code != 0 {
		t.Fatal(stderr)
	}
	content := func(name string) string { // without the first line, which says when, and the hash of the last;
		// each store has a key of its own
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		return strings.Join(lines[1:max(1, len(lines)-1)], "\n")
	}
	parts := 0
	for round := range daemon.Size(t, "MEMORYD_KILL_ROUNDS", 6) {
		dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy.jsonl")
		restore := []string{"restore", file, "--data", dir}
		for try := range int64(30) { // until a kill comes in the midst of it, later and later on a slow machine
			cmd := exec.Command(string(binary), restore...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(40*time.Millisecond + time.Duration(rng.Int64N(int64(160*time.Millisecond)*(1+try/4)))) // the moment of the kill is what is random
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			code, _, stderr := binary.Run(t, "", "export", copied, "--data", dir)
			if code == 0 {
				if content(copied) != content(file) {
					if tools := strings.Count(content(copied), `"tool":`); tools > 0 {
						t.Fatalf("round %d: a part was exported as whole, with %d tools", round, tools)
					}
				} else if err := os.RemoveAll(dir); err != nil { // it was whole: once more
					t.Fatal(err)
				}
				continue
			}
			if !strings.Contains(stderr, "restore that was interrupted") {
				if strings.Contains(stderr, "there is no store") {
					continue
				}
				t.Fatal(stderr)
			}
			parts++
			if p := binary.Try(t, dir, nil); p.Ready != "" {
				t.Fatalf("a server is %s on a part", p.Ready)
			} else if !strings.Contains(p.Log(), "restore that was interrupted: run memoryd restore") {
				t.Errorf("the server says %s", p.Log())
			}
			if code, out, _ := binary.Run(t, "", "check", "--data", dir); code == 0 {
				t.Errorf("check says %s", out)
			}
			break
		}
		if code, _, stderr := binary.Run(t, "", restore...); code != 0 && !strings.Contains(stderr, "already exists") {
			t.Fatalf("the same command: %s", stderr)
		}
		if code, _, stderr := binary.Run(t, "", "export", copied, "--data", dir); code != 0 || content(copied) != content(file) {
			t.Errorf("round %d: completed, it is not the same: %s", round, stderr)
		}
	}
	t.Logf("%d parts", parts)
	if parts == 0 {
		t.Error("no kill left a part: the test shows nothing")
	}
}
