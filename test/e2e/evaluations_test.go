package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
	"memoryd/test/llmtest"
)

// judgingWorkers is how many requests the judge makes at once, and so how many
// calls can be in flight at a kill.
const judgingWorkers = 8

// parked makes the server answer at once and judge in the background.
func parked(t *testing.T) string {
	return configFile(t, fmt.Sprintf(`
llm: {default: {retries: 0, max_concurrency: %d}}
evaluate: {judge: llm, wait: 0s, lease: 1s}
op: {parse_tool_call_result_op: {params: {max_history_tool_call_cnt: 100000, evaluation_sleep_interval: 0}}}
`, judgingWorkers))
}

// payments records which calls the model was paid for, and by which life of the
// server, which shows by its key.
type payments struct {
	mu    sync.Mutex
	lives map[string][]string // by marker
}

var marker = regexp.MustCompile(`call-\d+-marker`)

// judge is a model that says which call it saw.
func (p *payments) judge(r llmtest.Request) llmtest.Reply {
	shown := marker.FindAllString(r.User, -1)
	id := shown[len(shown)-1] // behind the earlier verdicts of the tool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lives[id] = append(p.lives[id], r.Header.Get("Authorization"))
	return llmtest.JSON(map[string]any{
		"evaluation": "I saw " + id + ".", "failed_checks": []string{"input_format"}, "score": 0.5, "summary": id,
	}).After(5 * time.Millisecond)
}

// TestKill9InTheMiddleOfAThousandEvaluations kills the server again and again
// while it judges. In the end every call has its own verdict, once, and the model
// was not paid twice but for what was in flight at a kill.
func TestKill9InTheMiddleOfAThousandEvaluations(t *testing.T) {
	calls, kills := 1000, 5
	if testing.Short() {
		calls, kills = 200, 2
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &payments{lives: map[string][]string{}}
	url, dir, config := llmtest.New(p.judge).Start(t)+"/v1", t.TempDir(), parked(t)
	live := func(life int) *daemon.Process {
		return start(t, dir, []string{"OPENAI_BASE_URL=" + url, fmt.Sprintf("OPENAI_API_KEY=life%d", life)}, "--config", config)
	}
	sent := 0
	for life := range kills {
		s := live(life)
		target := calls * (life + 1) / kills
		// The last calls of each life are sent while the kill may strike.
		for ; sent < target-calls/kills/4; sent += perRequest {
			if !sendCalls(s, sent) {
				t.Fatalf("calls were not accepted\n%s", s.Log())
			}
		}
		var killer sync.WaitGroup
		killer.Go(func() {
			time.Sleep(time.Duration(rng.IntN(150)) * time.Millisecond) // the moment of the kill is the point
			s.Kill()
		})
		for sent < target && sendCalls(s, sent) { // what was not acknowledged is sent again in the next life
			sent += perRequest
		}
		killer.Wait()
	}
	s := live(kills)
	for ; sent < calls; sent += perRequest {
		if !sendCalls(s, sent) {
			t.Fatalf("calls were not accepted\n%s", s.Log())
		}
	}
	waitForJudged(t, s, calls)
	p.check(t, calls)
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.Log())
	}
}

// perRequest is how many calls are sent at once.
const perRequest = 10

// sendCalls adds calls from the number on and reports whether that was
// acknowledged.
func sendCalls(s *daemon.Process, from int) bool {
	items := make([]map[string]any, perRequest)
	for i := range items {
		items[i] = map[string]any{
			"input": map[string]any{"n": from + i}, "create_time": "2025-01-01 00:00:00",
			"output": fmt.Sprintf("The operation ended; see call-%d-marker, some of it might not have been done.", from+i),
		}
	}
	body, _ := json.Marshal(map[string]any{"tool_name": "t", "tool_call_results": items, "include_history": false})
	r, err := s.Send("/add_tool_call_result", body)
	var a daemon.Answer
	return err == nil && json.Unmarshal(r.Body, &a) == nil && a.Success
}

// waitForJudged polls until every call is judged, and checks that each has the
// verdict that was meant for it.
func waitForJudged(t *testing.T, s *daemon.Process, calls int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		m := s.Post("/retrieve_tool_memory", map[string]any{"tool_names": "t"}).Metadata.MemoryList[0]
		if m.Metadata.Statistics["pending_calls"] == 0.0 {
			checkVerdicts(t, m, calls)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v of %d calls are still pending\n%s", m.Metadata.Statistics["pending_calls"], calls, s.Log())
		}
		time.Sleep(50 * time.Millisecond) // polling another process
	}
}

func checkVerdicts(t *testing.T, m daemon.Memory, calls int) {
	t.Helper()
	seen := map[string]int{}
	for _, c := range m.Calls {
		id := marker.FindString(c.Output)
		seen[id]++
		if by, _ := c.Metadata["judged_by"].(string); c.Score != 0.5 || c.Summary != id || !strings.Contains(c.Evaluation, "I saw "+id+".") || !strings.HasPrefix(by, "llm:") && by != "cache" {
			t.Errorf("%s: score %v by %q, summary %q, evaluation %q", id, c.Score, by, c.Summary, c.Evaluation)
		}
	}
	if len(m.Calls) != calls || len(seen) != calls || m.Metadata.Statistics["lifetime_calls"] != float64(calls) {
		t.Errorf("%d calls, %d different, counted %v; want %d", len(m.Calls), len(seen), m.Metadata.Statistics["lifetime_calls"], calls)
	}
}

// check looks for calls that were paid for more often than the kills explain.
func (p *payments) check(t *testing.T, calls int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	again := map[string]int{} // by the life in which a call was asked about in vain
	total := 0
	for id, lives := range p.lives {
		for i := 1; i < len(lives); i++ {
			if lives[i] == lives[i-1] {
				t.Errorf("%s was paid for twice in %s", id, lives[i])
			}
			again[lives[i-1]]++
			total++
		}
	}
	for life, n := range again {
		if n > judgingWorkers {
			t.Errorf("%d calls of %q were paid for again; at most %d were in flight when it was killed", n, life, judgingWorkers)
		}
	}
	if len(p.lives) != calls {
		t.Errorf("the model saw %d calls, want %d", len(p.lives), calls)
	}
	t.Logf("%d calls, %d of them paid for again", calls, total)
}

// ledger is the part of a report on costs that the test looks at.
type ledger struct {
	Rows []struct {
		By           string `json:"by"`
		Requests     int    `json:"requests"`
		PromptTokens int    `json:"prompt_tokens"`
		Verdicts     int    `json:"verdicts"`
	} `json:"rows"`
	Budgets []struct {
		Used int64 `json:"used"`
	} `json:"budgets"`
}

// TestASpentBudgetParksCallsAlsoAfterKill9 gives the judge less than it needs.
func TestASpentBudgetParksCallsAlsoAfterKill9(t *testing.T) {
	const budget = 5
	today := time.Now().UTC().Day()
	p := &payments{lives: map[string][]string{}}
	model := llmtest.New(p.judge)
	env := []string{"OPENAI_BASE_URL=" + model.Start(t) + "/v1", "OPENAI_API_KEY=k"}
	dir, config := t.TempDir(), configFile(t, fmt.Sprintf(`
llm: {default: {retries: 0}}
evaluate: {judge: llm, wait: 1m}
usage: {requests_per_day: %d}
op: {parse_tool_call_result_op: {params: {evaluation_sleep_interval: 0}}}
`, budget))
	s := start(t, dir, env, "--config", config)
	for life := range 2 {
		if !sendCalls(s, life*perRequest) {
			t.Fatalf("calls were not accepted\n%s", s.Log())
		}
		var l ledger
		if err := json.Unmarshal(s.Get("/v1/spend").Body, &l); err != nil {
			t.Fatal(err)
		}
		requests, verdicts, tokens := 0, 0, 0
		for _, r := range l.Rows {
			if strings.HasPrefix(r.By, "llm:") {
				requests, verdicts, tokens = requests+r.Requests, verdicts+r.Verdicts, tokens+r.PromptTokens
			}
		}
		m := s.Post("/retrieve_tool_memory", map[string]any{"tool_names": "t"}).Metadata.MemoryList[0]
		pending := m.Metadata.Statistics["pending_calls"]
		if time.Now().UTC().Day() != today {
			t.Log("a new day began with a new budget; what was spent says nothing")
			return
		}
		seen := model.Counts()
		if seen.Requests != budget || requests != budget || verdicts != budget || tokens != seen.PromptTokens || len(l.Budgets) != 1 || l.Budgets[0].Used != budget {
			t.Errorf("life %d: the model saw %d requests of %d tokens, the ledger has %+v", life, seen.Requests, seen.PromptTokens, l)
		}
		if want := float64((life+1)*perRequest - budget); pending != want {
			t.Errorf("life %d: %v calls are pending, want %v", life, pending, want)
		}
		if !strings.Contains(s.Log(), "the budget for model requests is used up") {
			t.Errorf("life %d: nothing was said\n%s", life, s.Log())
		}
		waitForFlush(t, s)
		s.Kill()
		s = start(t, dir, env, "--config", config)
	}
}

// waitForFlush waits until the ledger was written anew: what it knows now is in the
// store then. Each flush ends with a look at the records of other processes.
func waitForFlush(t *testing.T, s *daemon.Process) {
	t.Helper()
	looks := func() (n int) {
		m := regexp.MustCompile(`(?m)^memoryd_store_calls_total\{method="list_records",outcome="ok"\} (\d+)$`).FindSubmatch(s.Get("/metrics").Body)
		if m == nil {
			t.Fatal("/metrics does not tell how often records are listed")
		}
		n, _ = strconv.Atoi(string(m[1]))
		return n
	}
	for enough, end := looks()+10, time.Now().Add(patience); looks() < enough; time.Sleep(20 * time.Millisecond) { // others list records too, if seldom
		if time.Now().After(end) {
			t.Fatalf("the ledger is not written\n%s", s.Log())
		}
	}
}
