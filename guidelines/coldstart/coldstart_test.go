package coldstart_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/coldstart"
)

// lender is a tool with a limit that must not be passed.
func lender(t *testing.T, name string) coldstart.Tool {
	t.Helper()
	ref := memoryd.ToolRef{Workspace: "w", Tool: name}
	var calls []memoryd.Call
	failed := 0
	for i := range 60 {
		c := memoryd.Call{
			ToolRef: ref, Seq: int64(i + 1), Success: true, TokenCost: -1, Output: "rows", Key: memoryd.CallKey{byte(i + 1)},
			Input:      json.RawMessage(fmt.Sprintf(`{"query":"topic %d","limit":%d}`, i, 5+5*(i%2))),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
		}
		if i%3 == 0 {
			c.Input, c.Output, c.Evaluation.Score = json.RawMessage(fmt.Sprintf(`{"query":"topic %d","limit":1000}`, i)), "Error: limit too large", 0
			failed++
		}
		calls = append(calls, c)
	}
	d, err := guidelines.NewRules(guidelines.DefaultConfig()).Compose(t.Context(), memoryd.Tool{ToolRef: ref}, calls, 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	return coldstart.Tool{ToolRef: ref, Parameters: []string{"query", "limit"}, Judged: len(calls), Failed: failed, Document: d}
}

func TestALikeToolLends(t *testing.T) {
	young := coldstart.Tool{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "db__find"}, Parameters: []string{"limit", "query"}, Judged: 2}
	loan := coldstart.Borrow(young, []coldstart.Tool{lender(t, "db__search"), lender(t, "other__search"), young})
	if len(loan.From) != 2 || loan.From[0].Tool != "db__search" || loan.From[0].Likeness != 1 || loan.From[1].Likeness >= 1 {
		t.Fatalf("lenders %+v", loan.From)
	}
	if loan.Prior == nil || loan.Prior.Risk < 0.3 || loan.Prior.Risk > 0.4 || loan.Prior.Weight > 10 || loan.Prior.Weight < 5 {
		t.Errorf("prior %+v", loan.Prior)
	}
	if len(loan.Items) == 0 {
		t.Fatal("no item")
	}
	for _, it := range loan.Items {
		if !strings.Contains(it.Text, "(borrowed from `") || !strings.Contains(it.Text, "`limit`") || !strings.HasPrefix(it.ID, "borrowed-") {
			t.Errorf("item %+v", it)
		}
	}
}

func TestWhoDoesNotBorrow(t *testing.T) {
	rich := lender(t, "db__search")
	young := func(change func(*coldstart.Tool)) coldstart.Tool {
		y := coldstart.Tool{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "db__find"}, Parameters: []string{"limit", "query"}}
		change(&y)
		return y
	}
	for name, tool := range map[string]coldstart.Tool{
		"calls of its own":  young(func(y *coldstart.Tool) { y.Judged = 20 }),
		"no parameters":     young(func(y *coldstart.Tool) { y.Parameters = nil }),
		"other parameters":  young(func(y *coldstart.Tool) { y.Parameters = []string{"path", "mode"} }),
		"another workspace": young(func(y *coldstart.Tool) { y.Workspace = "v" }),
	} {
		if loan := coldstart.Borrow(tool, []coldstart.Tool{rich}); loan.Prior != nil || len(loan.From)+len(loan.Items) > 0 {
			t.Errorf("%s: %+v", name, loan)
		}
	}
}

func TestServers(t *testing.T) {
	for tool, want := range map[string]string{"db__find": "db", "a.b": "a", "a/b": "a", "a:b": "a", "find": "", "__x": "", "x.": ""} {
		if got := coldstart.ServerOf(tool); got != want {
			t.Errorf("%q: %q", tool, got)
		}
	}
}
