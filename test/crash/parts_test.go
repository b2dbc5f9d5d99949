package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// partOf starts a server on a store that holds a part: it refuses, serves with --incomplete,
// and says so in /readyz.
func partOf(t *testing.T, dir, what string) *daemon.Process {
	t.Helper()
	if p := binary.Try(t, dir, nil); p.Ready != "" {
		t.Fatalf("a server is %s on a part", p.Ready)
	} else if !strings.Contains(p.Log(), "a part of the "+what) || !strings.Contains(p.Log(), "--incomplete") {
		t.Fatalf("the server says %s", p.Log())
	}
	p := binary.Start(t, dir, nil, "--incomplete")
	if r := p.Get("/readyz"); r.Status != http.StatusOK || !strings.Contains(string(r.Body), `"degraded"`) || !strings.Contains(string(r.Body), "store.whole") {
		t.Errorf("/readyz says %d %s", r.Status, r.Body)
	}
	return p
}

// whole starts a server on a store that holds no part.
func whole(t *testing.T, dir string) {
	t.Helper()
	p := binary.Start(t, dir, nil)
	if r := p.Get("/readyz"); strings.Contains(string(r.Body), "store.whole") {
		t.Errorf("/readyz says %s", r.Body)
	}
	p.Stop()
}

func tools(p *daemon.Process, workspace string) int {
	var list struct {
		Tools []struct {
			Calls int `json:"total_calls"`
		} `json:"tools"`
	}
	_ = json.Unmarshal(p.Get("/v1/workspaces/"+workspace+"/tools?limit=1000").Body, &list)
	return len(list.Tools)
}

// What was copied when the server died was served as if it were all.
func TestAKilledCopyIsServedAsAPartUntilItIsCompleted(t *testing.T) {
	const n = 60
	rng, dir := daemon.Dice(t), t.TempDir()
	p := binary.Start(t, dir, nil)
	for tool := range n {
		var calls []map[string]any
		for i := range 30 {
			calls = append(calls, map[string]any{"output": strings.Repeat(fmt.Sprint(i, " "), 400), "create_time": "2025-01-01 00:00:00"})
		}
		p.Post("/add_tool_call_result", map[string]any{"workspace_id": "from", "tool_name": fmt.Sprint("tool", tool), "tool_call_results": calls, "include_history": false})
	}
	order := map[string]any{"workspace_id": "to", "action": "copy", "src_workspace_id": "from"}
	body, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	for try := range int64(40) { // until a kill comes in the midst of it, later and later on a slow machine
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = p.Send("/vector_store", body)
		}()
		time.Sleep(time.Duration(rng.Int64N(int64(120*time.Millisecond) * (1 + try/6)))) // the moment of the kill is what is random
		p.Kill()
		<-done
		if p = binary.Try(t, dir, nil); p.Ready != "" { // before it or after it
			continue
		}
		p = partOf(t, dir, "copy")
		if got := tools(p, "to"); got == n {
			t.Logf("all %d tools came before the kill", got)
		}
		p.Post("/vector_store", order)
		if got := tools(p, "to"); got != n {
			t.Errorf("completed, there are %d tools of %d", got, n)
		}
		if r := p.Get("/readyz"); !strings.Contains(string(r.Body), `"ready"`) {
			t.Errorf("completed, /readyz says %s", r.Body)
		}
		p.Stop()
		whole(t, dir)
		return
	}
	t.Error("no kill left a part: the test shows nothing")
}
