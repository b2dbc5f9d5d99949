package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// writers send calls at the same time, each to a tool of its own.
const writers = 8

// TestEveryAcknowledgedCallIsThereOnceAfterKill9 kills the server in the middle
// of a stream of adds, again and again. What was acknowledged has to be there
// once; what was in flight may be there, once.
func TestEveryAcknowledgedCallIsThereOnceAfterKill9(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	dir := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	acked := map[string]int{} // output -> writer
	sent := map[string]bool{}
	for round := range rounds {
		s := start(t, dir, nil, "--config", bigHistory(t))
		var mu sync.Mutex
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() { stream(s, round, w, &mu, acked, sent) })
		}
		time.Sleep(time.Duration(50+rng.IntN(300)) * time.Millisecond) // the moment of the kill is the point
		s.kill()
		wg.Wait()
	}
	if len(acked) < rounds*writers {
		t.Fatalf("only %d calls were acknowledged in %d rounds", len(acked), rounds)
	}
	t.Logf("%d calls acknowledged", len(acked))
	verify(t, start(t, dir, nil, "--config", bigHistory(t)), acked, sent)
}

// stream adds calls until the server is gone, two to a request.
func stream(s *server, round, writer int, mu *sync.Mutex, acked map[string]int, sent map[string]bool) {
	for i := 0; ; i++ {
		outputs := []string{fmt.Sprintf("%d/%d/%d/a", round, writer, i), fmt.Sprintf("%d/%d/%d/b", round, writer, i)}
		var items []map[string]any
		mu.Lock()
		for _, o := range outputs {
			sent[o] = true
			items = append(items, map[string]any{"input": map[string]any{"n": i}, "output": o, "create_time": "2025-01-01 00:00:00"})
		}
		mu.Unlock()
		body, _ := json.Marshal(map[string]any{"tool_name": toolOf(writer), "tool_call_results": items, "include_history": false})
		r, err := s.send("/add_tool_call_result", body)
		if err != nil {
			return
		}
		var a answer
		if json.Unmarshal(r.Body, &a) == nil && a.Success {
			mu.Lock()
			for _, o := range outputs {
				acked[o] = writer
			}
			mu.Unlock()
		}
	}
}

func toolOf(writer int) string { return fmt.Sprintf("tool-%d", writer) }

func verify(t *testing.T, s *server, acked map[string]int, sent map[string]bool) {
	t.Helper()
	times := map[string]int{}
	for w := range writers {
		a := s.post("/retrieve_tool_memory", map[string]any{"tool_names": []string{toolOf(w)}})
		m := a.Metadata.MemoryList[0]
		for _, c := range m.Calls {
			times[c.Output]++
			if !sent[c.Output] {
				t.Errorf("a call that nobody sent: %q", c.Output)
			}
		}
		if lifetime := int(m.Metadata.Statistics["lifetime_calls"].(float64)); lifetime != len(m.Calls) {
			t.Errorf("%s: %d calls are there, the counter says %d", toolOf(w), len(m.Calls), lifetime)
		}
	}
	for o := range acked {
		if times[o] != 1 {
			t.Errorf("acknowledged call %q is there %d times", o, times[o])
		}
	}
}
