package replicas

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
	"memoryd/test/llmtest"
)

// rounding is a configuration whose replicas go rounds as often as they can, with a
// model that writes the guidelines; what it says is not borne out by the calls, so
// that the rules write them.
const rounding = `
log: {level: info}
llm: {default: {retries: 0}}
evaluate: {judge: rules}
revisions: {interval: 1s, first_after: 1}
op: {summary_tool_memory_op: {params: {summary_sleep_interval: 0}}}
`

// toolName finds the tool that a request to the model is about.
var toolName = regexp.MustCompile(`tool-\d+`)

// TestAnotherReplicaGoesTheRoundsWhenTheirHolderDies kills the replica that goes
// the rounds in the middle of one. Another goes on when the lease has passed, and
// writes what is missing, once.
func TestAnotherReplicaGoesTheRoundsWhenTheirHolderDies(t *testing.T) {
	t.Parallel()
	const tools = 12
	w, name := serverWire(t)
	t.Logf("on %s", name)
	f := &fleet{t: t, wire: w, configs: []string{daemon.ConfigFile(t, storeOn(w, prefixOn(t, w), "")+rounding)}}
	var models []*llmtest.Server
	for range replicasOf { // a model for each, to see who goes the rounds
		m := llmtest.New(llmtest.Always(llmtest.Answer("This tool walks the dog at midnight.").After(300 * time.Millisecond)))
		models = append(models, m)
		f.own = append(f.own, []string{"OPENAI_BASE_URL=" + m.Start(t) + "/v1", "OPENAI_API_KEY=k"})
	}
	f.begin()
	for n := range tools {
		call := map[string]any{"tool_name": fmt.Sprint("tool-", n), "tool_call_results": []any{
			map[string]any{"output": "Found 10 results", "input": map[string]any{"n": n}},
		}}
		if _, r, ok := send(f.at(n), "/add_tool_call_result", call); !ok {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
	}
	holder := -1
	eventually(t, func() string {
		for n, m := range models {
			if m.Counts().Requests >= 3 {
				holder = n
				return ""
			}
		}
		return "nobody goes the rounds"
	})
	f.at(holder).Kill()
	died := time.Now()
	heir, waited := f.heir(models, holder, died)
	eventually(t, func() string {
		for n := range tools {
			if m := memory(f.at(heir), fmt.Sprint("tool-", n), 0); m == nil || m.Content == "" {
				return fmt.Sprintf("tool %d has no guideline\n%s", n, f.logs())
			}
		}
		return ""
	})
	t.Logf("another replica goes on %v after the death, all is written after %v", waited.Round(time.Millisecond), time.Since(died).Round(time.Millisecond))
	f.checkOnce(models, heir, tools)
	if t.Failed() {
		t.Log(f.logs())
	}
}

// heir waits for the replica that goes on when the holder of the lease is dead. At
// least half of a lease of ten seconds is left at the death.
func (f *fleet) heir(models []*llmtest.Server, holder int, died time.Time) (heir int, waited time.Duration) {
	f.t.Helper()
	heir = -1
	eventually(f.t, func() string {
		for n, m := range models {
			if n != holder && m.Counts().Requests > 0 {
				heir, waited = n, time.Since(died)
				return ""
			}
		}
		return "no other replica goes the rounds"
	})
	if waited < 2*time.Second { // it may have renewed late on a busy machine
		f.t.Errorf("another replica went the rounds %v after the death, while the lease lasted", waited)
	}
	return heir, waited
}

// checkOnce expects one version of each guideline, and that the model was asked
// twice about one tool at most: the one that was under way at the death.
func (f *fleet) checkOnce(models []*llmtest.Server, replica, tools int) {
	f.t.Helper()
	asked, twice := map[string]int{}, 0
	for _, m := range models {
		for _, r := range m.Requests() {
			asked[toolName.FindString(r.User)]++
		}
	}
	for n := range tools {
		name := fmt.Sprint("tool-", n)
		if list := f.versions(replica, name); len(list) != 1 || list[0].Revision != 1 {
			f.t.Errorf("%s: versions %v, want one", name, list)
		}
		if asked[name] > 1 {
			twice++
		}
	}
	if twice > 1 || len(asked) != tools {
		f.t.Errorf("the model was asked %v", asked)
	}
}
