package sqlite_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/store"
	"memoryd/store/sqlite"
	"memoryd/store/storetest"
)

// The child of TestKilledStore is this test binary with these set.
const (
	killDir   = "MEMORYD_KILL_DIR"
	killRound = "MEMORYD_KILL_ROUND"
)

// killWriters is how many goroutines the child appends from.
const killWriters = 8

// killCall is the n-th call that a writer of a round makes. Odd ones go to a
// tool with a short history that all rounds share.
func killCall(round, writer, n int) (c memoryd.Call, keep int) {
	tool, keep := fmt.Sprint("round ", round), 1_000_000
	if n%2 == 1 {
		tool, keep = "ring", 7
	}
	c = memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "kill", Tool: tool},
		Output:  storetest.Noise(n * 37 % 3000), Hash: fmt.Sprint(round, writer, n),
		Evaluation: memoryd.PendingEvaluation(),
	}
	copy(c.Key[:], fmt.Sprintf("%04d-%02d-%07d", round, writer, n))
	return c, keep
}

func openKill(tb testing.TB, dir string) *sqlite.Store {
	cfg := configtest.Section[sqlite.Config]("store.sqlite")
	cfg.Dir, cfg.IdentityWindow, cfg.WALBytes = dir, 100_000, 1<<20
	s, err := sqlite.Open(tb.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	s.Start(tb.Context())
	return s
}

// TestKillChild is the body of the child: it appends until it is killed, and
// writes a line for each call that was acknowledged.
func TestKillChild(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("only run as the child of TestKilledStore")
	}
	round, err := strconv.Atoi(os.Getenv(killRound))
	if err != nil {
		t.Fatal(err)
	}
	s := openKill(t, dir)
	var wg sync.WaitGroup
	for w := range killWriters {
		wg.Go(func() {
			for n := 0; ; n++ {
				c, keep := killCall(round, w, n)
				if _, err := s.Append(t.Context(), store.Batch{Workspace: "kill", Keep: keep, Calls: []memoryd.Call{c}}); err != nil {
					panic(err)
				}
				fmt.Fprintf(os.Stdout, "acked %d %d\n", w, n)
				if n%5 == 0 {
					v := store.Verdict{ToolRef: c.ToolRef, Key: c.Key, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1}}
					if _, err := s.Settle(t.Context(), []store.Verdict{v}); err != nil {
						panic(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestKilledStore kills a process that appends, at a random moment, and looks
// whether every acknowledged call is there once. MEMORYD_KILL_ROUNDS sets how
// often.
func TestKilledStore(t *testing.T) {
	rounds := 5
	if v := os.Getenv("MEMORYD_KILL_ROUNDS"); v != "" {
		var err error
		if rounds, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	total := 0
	for round := range rounds {
		acked := killOnce(t, dir, round, rng.IntN(600))
		total += len(acked)
		checkAcked(t, dir, round, acked)
	}
	t.Logf("%d kills, %d calls acknowledged", rounds, total)
}

// killOnce runs the child, kills it after some acknowledgements, and gives all
// that it wrote.
func killOnce(t *testing.T, dir string, round, after int) (acked []memoryd.Call) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKillChild$")
	cmd.Env = append(os.Environ(), killDir+"="+dir, killRound+"="+strconv.Itoa(round))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var w, n int
		if _, err := fmt.Sscanf(line, "acked %d %d\n", &w, &n); err != nil {
			t.Fatalf("the child wrote %q", line)
		}
		c, _ := killCall(round, w, n)
		acked = append(acked, c)
		if len(acked) == after+1 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	return acked
}

// checkAcked opens what the killed child left.
func checkAcked(t *testing.T, dir string, round int, acked []memoryd.Call) {
	t.Helper()
	s := openKill(t, dir)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	own := memoryd.ToolRef{Workspace: "kill", Tool: fmt.Sprint("round ", round)}
	there := map[memoryd.CallKey]int{}
	for _, ref := range []memoryd.ToolRef{own, {Workspace: "kill", Tool: "ring"}} {
		checkTool(t, s, ref, there)
	}
	for _, c := range acked {
		if n := there[c.Key]; n > 1 || n == 0 && c.ToolRef == own {
			t.Errorf("round %d: call %s is there %d times", round, c.Key[:], n)
		}
		got, err := s.Append(t.Context(), store.Batch{Workspace: "kill", Keep: 1_000_000, Calls: []memoryd.Call{c}})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].New {
			t.Errorf("round %d: call %s was forgotten", round, c.Key[:])
		}
	}
}

// checkTool checks that history, samples and counters of a tool agree.
func checkTool(t *testing.T, s *sqlite.Store, ref memoryd.ToolRef, there map[memoryd.CallKey]int) {
	t.Helper()
	tool, err := s.Tool(t.Context(), ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return // killed before its first call
	}
	if err != nil {
		t.Fatal(err)
	}
	calls, err := s.History(t.Context(), ref, 0)
	if err != nil {
		t.Fatal(err)
	}
	pending, judged := int64(0), int64(0)
	for i, c := range calls {
		there[c.Key]++
		if c.Seq != tool.Lifetime-int64(len(calls)-i-1) {
			t.Errorf("%s: call %d has number %d of %d", ref.Tool, i, c.Seq, tool.Lifetime)
		}
		if c.Evaluation.State == memoryd.Pending {
			pending++
		} else {
			judged++
		}
	}
	if tool.Kept != len(calls) || tool.Pending != pending || tool.Revision < tool.Lifetime+judged {
		t.Errorf("%s: %+v beside %d calls, %d of them pending, %d judged", ref.Tool, tool, len(calls), pending, judged)
	}
}
