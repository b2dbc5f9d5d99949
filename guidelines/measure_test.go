package guidelines_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
	"memoryd/internal/recordtest"
)

// recorded reads the calls of one tool from a recording, or of all tools for "",
// judged by their labels: that is for measuring only, the product never sees
// them. What has no label counts as good.
func recorded(t *testing.T, file, tool string) []memoryd.Call {
	t.Helper()
	score := map[string]float64{"error": memoryd.ScoreFailure, "partial": memoryd.ScorePartial}
	var calls []memoryd.Call
	for _, r := range recordtest.Read(t, recordtest.File(t, file)) {
		if tool != "" && r.Tool != tool {
			continue
		}
		s, known := score[r.Gold]
		if !known {
			s = memoryd.ScoreSuccess
		}
		r.Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: s}
		calls = append(calls, r.Call)
	}
	return calls
}

// address finds a whole address, which no line of a guideline holds.
var address = regexp.MustCompile(`://\w`)

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
			content, _, err := written(t, guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), nil), memoryd.Tool{ToolRef: calls[0].ToolRef}, calls, 20)
			if err != nil {
				t.Fatal(err)
			}
			own, _, _ := strings.Cut(content, "\n## What the tool answered\n") // what follows is quoted
			if n := len(strings.Fields(own)); n > 240 || address.MatchString(own) || !strings.Contains(content, "- **Success Rate**: ") {
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
				found := evidence.Mine(calls[0].Tool, evidence.Merge(nil, calls), calls).Rules
				// What hosts document of an answer holds for whoever hears it.
				if slices.ContainsFunc(found, func(r rules.Rule) bool { return !r.Heard() }) {
					published++
				}
			}
		}
	}
	t.Logf("%d of %d shuffled histories publish a rule", published, rounds)
	if 20*published > rounds {
		t.Errorf("more than 5 %%")
	}
}
