package replicas

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"memoryd/test/crash/daemon"
)

// version is one version of a guideline, as the native API lists it.
type version struct {
	Revision int64 `json:"revision"`
	BasedOn  int64 `json:"based_on"`
}

// versions gives the versions of a tool's guideline, the newest first.
func (f *fleet) versions(replica int, tool string) []version {
	f.t.Helper()
	r := f.at(replica).Get("/v1/workspaces/default/tools/" + tool + "/guidelines")
	var list struct {
		Versions []version `json:"versions"`
	}
	if err := json.Unmarshal(r.Body, &list); err != nil || r.Status != 200 {
		f.t.Fatalf("%v: %d %s", err, r.Status, r.Body)
	}
	return list.Versions
}

// TestSummariesOfOneToolOnAllReplicas writes guidelines of one tool on all
// replicas at once while calls come in: each version is one, none is written from
// less than the one before, and in the end all replicas show the newest.
func TestSummariesOfOneToolOnAllReplicas(t *testing.T) {
	rounds := daemon.Size(t, "MEMORYD_TEST_SUMMARIES", 5)
	f := launch(t, "log: {level: error}\nrevisions: {interval: 0s, versions: 100000}\n", "")
	if _, r, ok := send(f.at(0), "/add_tool_call_result", oneCall(99, 0)); !ok {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := 0
	for n := range replicasOf {
		for range 2 {
			wg.Go(func() {
				for range rounds {
					if _, r, ok := send(f.at(n), "/summary_tool_memory", map[string]any{"tool_names": "t", "force": true}); !ok {
						t.Errorf("a summary was refused: %d %s", r.Status, r.Body)
						return
					}
					mu.Lock()
					answers++
					mu.Unlock()
				}
			})
		}
		wg.Go(func() {
			for i := range 2 * rounds {
				if _, r, ok := send(f.at(n), "/add_tool_call_result", oneCall(n, i)); !ok {
					t.Errorf("a call was refused: %d %s", r.Status, r.Body)
					return
				}
			}
		})
	}
	wg.Wait()
	if _, r, ok := send(f.at(1), "/summary_tool_memory", map[string]any{"tool_names": "t", "force": true}); !ok {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	f.checkVersions(answers + 1)
	if t.Failed() {
		t.Log(f.logs())
	}
}

// checkVersions expects the revisions 1, 2, 3 and so on, at most so many, and the
// same newest guideline on all replicas.
func (f *fleet) checkVersions(most int) {
	t := f.t
	t.Helper()
	list := f.versions(0, "t")
	t.Logf("%d versions of %d summaries", len(list), most)
	if len(list) < 2 || len(list) > most {
		t.Errorf("%d versions of %d summaries", len(list), most)
	}
	for i, v := range list {
		if v.Revision != int64(len(list)-i) {
			t.Errorf("version %d is number %d of %d", v.Revision, len(list)-i, len(list))
		}
		if i > 0 && v.BasedOn > list[i-1].BasedOn {
			t.Errorf("version %d, based on %d, came after one based on %d", list[i-1].Revision, list[i-1].BasedOn, v.BasedOn)
		}
	}
	first := memory(f.at(0), "t", 0)
	if total := fmt.Sprint(first.Lifetime(), " calls"); first.Content == "" {
		t.Errorf("no guideline after %s", total)
	}
	for n := range replicasOf {
		if m := memory(f.at(n), "t", 0); m.Content != first.Content {
			t.Errorf("replica %d shows another guideline than the first", n)
		}
	}
}

// refreshed is what a replica logs that wrote guidelines in a round.
const refreshed = "guidelines refreshed"

// TestOneReplicaAtATimeGoesTheRounds lets all replicas go rounds as often as they
// can: one of them writes each tool's guideline, once.
func TestOneReplicaAtATimeGoesTheRounds(t *testing.T) {
	t.Parallel()
	const tools = 8
	f := launch(t, "log: {level: info}\nrevisions: {interval: 1s, first_after: 1}\n", "")
	for n := range tools {
		call := map[string]any{"tool_name": fmt.Sprint("tool-", n), "tool_call_results": []any{
			map[string]any{"output": "Found 10 results", "input": map[string]any{"n": n}},
		}}
		if _, r, ok := send(f.at(n), "/add_tool_call_result", call); !ok {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
	}
	eventually(t, func() string {
		for n := range tools {
			if m := memory(f.at(0), fmt.Sprint("tool-", n), 0); m == nil || m.Content == "" {
				return fmt.Sprintf("tool %d has no guideline\n%s", n, f.logs())
			}
		}
		return ""
	})
	var holders int
	eventually(t, func() string { // the line comes after what it tells of
		holders = 0
		for n := range replicasOf {
			if strings.Contains(f.at(n).Log(), refreshed) {
				holders++
			}
		}
		if holders == 0 {
			return "no replica says that it wrote guidelines"
		}
		return ""
	})
	if holders != 1 {
		t.Errorf("%d replicas wrote guidelines, want one\n%s", holders, f.logs())
	}
	for n := range tools {
		if list := f.versions(n, fmt.Sprint("tool-", n)); len(list) != 1 || list[0].Revision != 1 {
			t.Errorf("tool %d: versions %v, want one", n, list)
		}
	}
}
