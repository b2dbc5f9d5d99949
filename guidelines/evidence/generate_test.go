package evidence_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memoryd"
)

// call makes a judged call number i of a tool.
func call(tb testing.TB, i int, input any, output string, score, seconds float64, tokens int64) memoryd.Call {
	tb.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		tb.Fatal(err)
	}
	c := memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Seq: int64(i + 1), Input: raw, Output: output, Success: score > 0,
		TimeCost: seconds, TokenCost: tokens, Time: time.Date(2025, 1, 1, 0, 0, i, 0, time.UTC),
		Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: score, JudgedBy: memoryd.JudgedByRules},
	}
	c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: raw, Output: output, CreateTime: c.Time.String()}.Key()
	return c
}

type object = map[string]any

// planted is a tool with known pitfalls.
type planted struct {
	name string
	make func(tb testing.TB, r *rand.Rand, i int) memoryd.Call
	// pitfalls are the facts that truly matter, by path; any condition on another
	// path is false.
	pitfalls []string
}

func words(r *rand.Rand, n int) string {
	vocabulary := strings.Fields("alpha beta gamma delta river stone cloud market train engine paper window garden metal silver")
	w := make([]string, n)
	for i := range w {
		w[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	return strings.Join(w, " ")
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func plantedTools() []planted {
	return []planted{
		{"search", func(tb testing.TB, r *rand.Rand, i int) memoryd.Call {
			in := object{"query": words(r, 1+r.IntN(5)), "max_results": pick(r, 5, 10, 20, 100), "language": pick(r, "en", "en", "de", "fr", "unknown"), "safe": r.IntN(2) == 0}
			switch {
			case in["language"] == "unknown":
				return call(tb, i, in, "Warning: language 'unknown' not supported", 0.5, 2+r.Float64(), 80)
			case in["max_results"] == 100:
				return call(tb, i, in, fmt.Sprintf("Error: request timed out after %d s", 30+r.IntN(9)), 0, 30+r.Float64(), 80)
			}
			return call(tb, i, in, "Found results", 1, 2+r.Float64(), 150)
		}, []string{"language", "max_results"}},
		{"database", func(tb testing.TB, r *rand.Rand, i int) memoryd.Call {
			in := object{"table": pick(r, "users", "orders", "items", "invalid_table"), "limit": pick(r, 10, 50, 100, 1000), "columns": []string{"id", words(r, 1)}, "sort": pick(r, "asc", "desc")}
			switch {
			case in["table"] == "invalid_table":
				return call(tb, i, in, "ERROR: relation \"invalid_table\" does not exist", 0, 0.2+r.Float64()/10, 20)
			case in["limit"] == 1000:
				return call(tb, i, in, "1000 rows", 1, 9+r.Float64(), 900)
			}
			return call(tb, i, in, "rows", 1, 0.5+r.Float64()/5, 90)
		}, []string{"table", "limit"}},
		{"file", func(tb testing.TB, r *rand.Rand, i int) memoryd.Call {
			in := object{"path": fmt.Sprintf("/data/%s.txt", words(r, 1)), "root": pick(r, "data", "in", "missing"), "mode": pick(r, "read", "append")}
			if r.IntN(3) > 0 {
				in["encoding"] = "utf-8"
			}
			switch {
			case in["root"] == "missing":
				return call(tb, i, in, fmt.Sprintf("FileNotFoundError: [Errno 2] No such file or directory: '%s'", in["path"]), 0, 0.1, 10)
			case in["encoding"] == nil:
				return call(tb, i, in, "Warning: encoding missing, guessed latin-1", 0.5, 0.1, 10)
			}
			return call(tb, i, in, "ok", 1, 0.1, 10)
		}, []string{"root", "encoding"}},
	}
}

func generate(tb testing.TB, p planted, seed uint64, n int) []memoryd.Call {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 99))
	calls := make([]memoryd.Call, n)
	for i := range calls {
		calls[i] = p.make(tb, r, i)
	}
	return calls
}
