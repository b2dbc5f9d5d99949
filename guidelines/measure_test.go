package guidelines_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/evidence"
)

// dataEnv names the folder of the recorded calls that the measuring tests read.
const dataEnv = "MEMORYD_DATA"

// recorded reads the calls of one tool from a recording, or of all tools, judged by its ground
// truth: that is for measuring only, the product never sees it.
func recorded(t *testing.T, file, tool string) []memoryd.Call {
	t.Helper()
	dir := os.Getenv(dataEnv)
	if dir == "" {
		t.Skipf("%s is not set: it names the folder of the recorded calls", dataEnv)
	}
	f, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 4<<20)
	var calls []memoryd.Call
	for lines.Scan() {
		if c, ok := recordedCall(t, lines.Bytes(), tool); ok {
			calls = append(calls, c)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

func recordedCall(t *testing.T, line []byte, tool string) (memoryd.Call, bool) {
	t.Helper()
	var r struct {
		Workspace string          `json:"workspace_id"`
		Tool      string          `json:"tool_name"`
		Input     json.RawMessage `json:"input"`
		Output    string          `json:"output"`
		Success   bool            `json:"success"`
		Time      float64         `json:"time_cost"`
		Tokens    int64           `json:"token_cost"`
		Created   string          `json:"create_time"`
		Metadata  json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	if tool != "" && r.Tool != tool {
		return memoryd.Call{}, false
	}
	var gold struct {
		Gold string `json:"gold"`
	}
	if err := json.Unmarshal(r.Metadata, &gold); err != nil {
		t.Fatal(err)
	}
	score := map[string]float64{"error": 0, "partial": 0.5}
	s, known := score[gold.Gold]
	if !known {
		s = 1
	}
	at, err := time.Parse(time.DateTime, r.Created)
	if err != nil {
		t.Fatal(err)
	}
	c := memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: r.Workspace, Tool: r.Tool}, Input: r.Input, Output: r.Output, Success: r.Success,
		TimeCost: r.Time, TokenCost: r.Tokens, CreateTime: r.Created, Time: at, Metadata: r.Metadata,
		Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: s},
	}
	c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime}.Key()
	return c, true
}

// TestMeasureRecordedTools prints guidelines of recorded tools for a person to
// judge, and holds them to what any guideline must keep.
func TestMeasureRecordedTools(t *testing.T) {
	for _, tc := range []struct{ file, tool string }{
		{"calls_taubench_airline.jsonl.gz", "book_reservation"},
		{"calls_taubench_airline.jsonl.gz", "update_reservation_flights"},
		{"calls_intercode.jsonl.gz", "execute_bash"},
		{"calls_livemcp.jsonl.gz", "fetch"},
		{"calls_taubench_airline.jsonl.gz", "calculate"},
		{"calls_apibank.jsonl.gz", "GetUserToken"},
		{"calls_tau2_activegraph.jsonl.gz", "get_reservation_details"},
		{"calls_sweagent.jsonl.gz", "edit"},
		{"calls_toolbench.jsonl.gz", "get_track_info_for_pridnestrovie_post"},
	} {
		for _, keep := range []int{100, 2000} {
			calls := recorded(t, tc.file, tc.tool)
			if keep == 2000 && len(calls) <= 100 {
				continue
			}
			calls = calls[max(0, len(calls)-keep):]
			start := time.Now()
			content, _, err := guidelines.NewRules(guidelines.DefaultConfig()).Write(t.Context(),
				memoryd.Tool{ToolRef: calls[0].ToolRef}, calls, 20)
			if err != nil {
				t.Fatal(err)
			}
			body, stats, _ := strings.Cut(content, "\n## Statistics\n")
			if n := len(strings.Fields(body)); n > 240 || strings.Contains(content, "://") || !strings.HasPrefix(stats, "- **Success Rate**: ") {
				t.Errorf("%s: %d words, or something that must not be there", tc.tool, n)
			}
			t.Logf("%s, %d calls, %v\n%s", tc.tool, len(calls), time.Since(start), content)
		}
	}
}

// TestMeasureShuffledRecordings deals the outcomes of each recorded tool to other
// calls of it: whatever is published then is false.
func TestMeasureShuffledRecordings(t *testing.T) {
	published, rounds := 0, 0
	for _, file := range []string{
		"calls_apibank.jsonl.gz", "calls_intercode.jsonl.gz", "calls_livemcp.jsonl.gz", "calls_sweagent.jsonl.gz",
		"calls_tau2_activegraph.jsonl.gz", "calls_taubench_airline.jsonl.gz", "calls_toolbench.jsonl.gz",
	} {
		byTool := map[string][]memoryd.Call{}
		for _, c := range recorded(t, file, "") {
			byTool[c.Tool] = append(byTool[c.Tool], c)
		}
		for _, calls := range byTool {
			if len(calls) < 20 || !slices.ContainsFunc(calls, func(c memoryd.Call) bool { return c.Evaluation.Score < 1 }) {
				continue
			}
			calls = calls[max(0, len(calls)-500):]
			for seed := range uint64(20) {
				r := rand.New(rand.NewPCG(seed, 5))
				r.Shuffle(len(calls), func(i, j int) {
					a, b := &calls[i], &calls[j]
					a.Output, b.Output = b.Output, a.Output
					a.Evaluation, b.Evaluation = b.Evaluation, a.Evaluation
					a.Success, b.Success = b.Success, a.Success
					a.TimeCost, b.TimeCost = b.TimeCost, a.TimeCost
					a.TokenCost, b.TokenCost = b.TokenCost, a.TokenCost
				})
				rounds++
				e := evidence.Mine(calls)
				if len(e.Conditions)+len(e.Costs) > 0 || slices.ContainsFunc(e.Errors, func(c evidence.ErrorCluster) bool { return c.When != nil }) {
					published++
				}
			}
		}
	}
	t.Logf("%d of %d shuffled histories publish a condition", published, rounds)
	if 20*published > rounds {
		t.Errorf("more than 5 %%")
	}
}
