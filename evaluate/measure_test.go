package evaluate

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
)

// The cost per call that the saving is measured against: one request for each
// call with a prompt of 576 tokens, the whole call and an answer of 110.
const (
	plainPrompt = 576
	plainAnswer = 110
)

// tokens is a rough count: four bytes each.
func tokens(n int) int { return (n + 3) / 4 }

// The measurement of what rules, cache, batches and cuts save on recorded calls.
// It needs the folder with the recordings in MEMORYD_DATA.
func TestMeasureFrugality(t *testing.T) {
	dir := os.Getenv("MEMORYD_DATA")
	if dir == "" {
		t.Skip("MEMORYD_DATA names no folder with recorded calls")
	}
	files, err := filepath.Glob(filepath.Join(dir, "calls_*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in MEMORYD_DATA: %v", err)
	}
	var calls []memoryd.Call
	for _, f := range files {
		calls = append(calls, recorded(t, f)...)
	}
	plain := 0
	for _, c := range calls {
		plain += plainPrompt + tokens(len(c.Input)+len(c.Output)) + plainAnswer
	}
	for _, setup := range []struct {
		name, judge string
		batch       int
		most        float64 // share of the plain cost that must not be passed
	}{{"llm, cache only", JudgeLLM, 1, 0.75}, {"cascade", JudgeCascade, 1, 0.35}, {"cascade in batches", JudgeCascade, 4, 0.35}} {
		t.Run(setup.name, func(t *testing.T) {
			s, m := newShelf(), &scripted{}
			m.answer = func(_ context.Context, _ int, p memoryd.Prompt) (string, error) {
				return batchReply(t, p, func(shownCall) float64 { return 1 }), nil
			}
			d := testDesk(t, s, m, rules.New(rules.DefaultConfig()), func(c *Config) {
				c.Judge, c.BatchSize, c.Workers, c.QueueSize = setup.judge, setup.batch, 1, 100_000
			})
			all := append([]memoryd.Call(nil), calls...)
			for i := 0; i < len(all); i += 20 {
				part := all[i:min(i+20, len(all))]
				d.Prejudge(t.Context(), part)
				s.put(part...)
				if i == 0 {
					d.Start(t.Context())
				}
				d.Await(t.Context(), part)
			}
			d.Stop()
			spent := 0
			for _, p := range m.prompts {
				spent += tokens(len(p.System)+len(p.User)) + 45*max(1, len(blockOf(t, p).Calls))
			}
			st := d.Stats()
			ruled := int64(0)
			for _, n := range st.RuleVerdicts {
				ruled += n
			}
			share := float64(spent) / float64(plain)
			t.Logf("%d calls: %d by rules, %d from the cache, %d by the model in %d requests; %d tokens, %.3f of %d",
				len(all), ruled, st.CacheHits, st.ModelVerdicts, st.Requests, spent, share, plain)
			if share > setup.most {
				t.Errorf("%.3f of the plain cost, want at most %.2f", share, setup.most)
			}
		})
	}
}

// recorded reads a file of calls. The labels stay outside.
func recorded(t *testing.T, path string) []memoryd.Call {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var calls []memoryd.Call
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for n := 0; lines.Scan(); n++ {
		var row struct {
			Workspace string          `json:"workspace_id"`
			Tool      string          `json:"tool_name"`
			Input     json.RawMessage `json:"input"`
			Output    string          `json:"output"`
			Success   bool            `json:"success"`
			TimeCost  float64         `json:"time_cost"`
			TokenCost int64           `json:"token_cost"`
			Created   string          `json:"create_time"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s, line %d: %v", path, n+1, err)
		}
		c := memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: row.Workspace, Tool: row.Tool}, Input: row.Input, Output: row.Output,
			Success: row.Success, TimeCost: row.TimeCost, TokenCost: row.TokenCost, CreateTime: row.Created,
			Evaluation: memoryd.PendingEvaluation(),
		}
		c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime, Index: n}.Key()
		calls = append(calls, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}
