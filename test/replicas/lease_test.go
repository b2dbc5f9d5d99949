package replicas

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"memoryd/test/llmtest"
)

// judging is a configuration whose model is asked for each call, by two requests
// at a time of each replica, and in which calls are taken over after four seconds.
const judging = `
log: {level: error}
llm: {default: {attempt_timeout: 30s, retries: 0, max_concurrency: 2}}
evaluate: {judge: llm, wait: 1s, lease: 4s}
op: {parse_tool_call_result_op: {params: {evaluation_sleep_interval: 0}}}
`

// workersOf is how many requests of one replica are under way at most.
const workersOf = 2

// entry finds the number of a call in what the model is shown.
var entry = regexp.MustCompile(`see entry (\d+),`)

// asked counts how often the model was asked for each call.
func asked(t *testing.T, requests []llmtest.Request) map[int]int {
	t.Helper()
	out := map[int]int{}
	for _, r := range requests {
		found := entry.FindAllStringSubmatch(r.User, -1)
		if found == nil {
			t.Fatalf("a request without a call: %.500q", r.User)
		}
		n, err := strconv.Atoi(found[len(found)-1][1]) // the call stands behind earlier ones that are shown
		if err != nil {
			t.Fatal(err)
		}
		out[n]++
	}
	return out
}

// unclear is an output that the rules are not sure of.
func unclear(n int) string {
	return fmt.Sprintf("The operation ended; see entry %d, some of it might not have been done as asked.", n)
}

// slowly makes a model that needs some time for its verdict.
func slowly(d time.Duration) *llmtest.Server {
	return llmtest.New(llmtest.Always(llmtest.JSON(map[string]any{
		"score": 0.5, "summary": "partly done", "evaluation": "the model's own words", "checks": []string{},
	}).After(d)))
}

// TestPendingCallsOfADeadReplicaAreJudgedByAnother kills a replica that has a
// queue of calls. The others take them after the lease, and the model is asked
// again only for what the dead one was being answered.
func TestPendingCallsOfADeadReplicaAreJudgedByAnother(t *testing.T) {
	t.Parallel()
	const calls = 24
	model := slowly(150 * time.Millisecond)
	f := launch(t, judging, "", "OPENAI_BASE_URL="+model.Start(t)+"/v1", "OPENAI_API_KEY=k")
	f.add(unclear, calls)
	eventually(t, func() string {
		if n := model.Counts().Served; n < 6 {
			return fmt.Sprintf("the model answered %d requests", n)
		}
		return ""
	})
	f.at(0).Kill()
	before := asked(t, model.Requests())
	known := f.judged(1)
	died := time.Now()
	var open int // calls that the dead replica had asked for in vain
	for n := range before {
		if !known[n] {
			open++
		}
	}
	if len(known) == 0 || len(known) == calls || open > workersOf {
		t.Errorf("%d verdicts at the kill, %d requests in vain", len(known), open)
	}
	eventually(t, func() string {
		if n := len(f.judged(2)); n < calls {
			return fmt.Sprintf("%d of %d calls are judged\n%s", n, calls, f.logs())
		}
		return ""
	})
	t.Logf("%d verdicts and %d requests under way at the kill, the others %v later", len(known), open, time.Since(died).Round(time.Millisecond))
	for n, times := range asked(t, model.Requests()) {
		if times > 1 && (known[n] || before[n] == 0 || times > 2) {
			t.Errorf("the model was asked %d times for call %d (judged at the kill: %v, asked until then: %d)", times, n, known[n], before[n])
		}
	}
}

// add sends calls to the first replica, which answers when they are durable.
func (f *fleet) add(output func(int) string, calls int) {
	f.t.Helper()
	var items []map[string]any
	for n := range calls {
		items = append(items, map[string]any{"output": output(n), "input": map[string]any{"n": n}})
	}
	a, r, ok := send(f.at(0), "/add_tool_call_result", map[string]any{"tool_name": "t", "tool_call_results": items, "async": true})
	if !ok || a.Metadata.Deduplication.Added != calls {
		f.t.Fatalf("%d of %d added: %d %s", a.Metadata.Deduplication.Added, calls, r.Status, r.Body)
	}
}

// judged gives the calls that have the model's verdict, as a replica sees them.
func (f *fleet) judged(replica int) map[int]bool {
	f.t.Helper()
	out := map[int]bool{}
	for _, c := range memory(f.at(replica), "t", 100).Calls {
		if c.Metadata["evaluation_state"] != "judged" {
			continue
		}
		found := entry.FindStringSubmatch(c.Output)
		if found == nil || c.Score != 0.5 || c.Summary != "partly done" {
			f.t.Fatalf("a verdict that nobody gave: %+v", c)
		}
		n, err := strconv.Atoi(found[1])
		if err != nil {
			f.t.Fatal(err)
		}
		out[n] = true
	}
	return out
}

// TestReplicasDoNotJudgeEachOthersCalls has each replica judge its own calls: the
// model is asked once for each, though all look for pending calls all the time.
func TestReplicasDoNotJudgeEachOthersCalls(t *testing.T) {
	t.Parallel()
	model := slowly(50 * time.Millisecond)
	f := launch(t, judging, "", "OPENAI_BASE_URL="+model.Start(t)+"/v1", "OPENAI_API_KEY=k")
	const each = 10
	for n := range replicasOf * each {
		item := map[string]any{"output": unclear(n), "input": map[string]any{"n": n}}
		if _, r, ok := send(f.at(n), "/add_tool_call_result", map[string]any{"tool_name": "t", "tool_call_results": []any{item}, "async": true}); !ok {
			t.Fatalf("call %d: %d %s", n, r.Status, r.Body)
		}
	}
	eventually(t, func() string {
		if n := len(f.judged(0)); n < replicasOf*each {
			return fmt.Sprintf("%d calls are judged\n%s", n, f.logs())
		}
		return ""
	})
	for n, times := range asked(t, model.Requests()) {
		if times != 1 {
			t.Errorf("the model was asked %d times for call %d", times, n)
		}
	}
}
