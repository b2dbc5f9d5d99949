package preflight

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
)

// A rule that the calls of one tool bore out warns of calls of another one of the workspace that has the
// parameter, as far as good calls of that keep to it; one that does not is proof that it means something else.
func TestRulesOfAnotherToolWarnWhereGoodCallsKeepToThem(t *testing.T) {
	run := func(i int) string { return fmt.Sprintf("run-%d", i/2) }
	add := func(s store.Store, ref memoryd.ToolRef, from int, good bool, inputs ...string) {
		b := store.Batch{Workspace: ref.Workspace, Keep: 100}
		for i, in := range inputs {
			c := memoryd.Call{ToolRef: ref, Input: json.RawMessage(in), Output: "no such run", Metadata: json.RawMessage(`{"trajectory_id":"` + run(from+i) + `"}`)}
			c.Evaluation = memoryd.Evaluation{State: memoryd.Judged, JudgedBy: "rules"}
			if good {
				c.Output, c.Evaluation.Score = "done", 1
			}
			c.Key = memoryd.Identity{ToolRef: ref, Input: c.Input, CreateTime: fmt.Sprint(from + i)}.Key()
			b.Calls = append(b.Calls, c)
		}
		if _, err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	ids := func(form string, n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf(`{"run_id":"`+form+`"}`, 1000+37*i))
		}
		return out
	}
	taught, here := memoryd.ToolRef{Workspace: "w", Tool: "log_metric"}, memoryd.ToolRef{Workspace: "w", Tool: "get_run"}
	for name, tc := range map[string]struct {
		of    memoryd.ToolRef
		own   []string // good calls of the tool
		warns bool
	}{
		"kept to":              {here, ids("RN-%d", 3), true},
		"too few calls":        {here, ids("RN-%d", 2), false},
		"broken by a good one": {here, append(ids("RN-%d", 6), ids("model-%d", 1)...), false},
		"no such parameter":    {here, []string{`{"id":1}`, `{"id":2}`, `{"id":3}`, `{"id":4}`}, false},
		"another workspace":    {memoryd.ToolRef{Workspace: "v", Tool: "get_run"}, ids("RN-%d", 6), false},
	} {
		s := mem.New()
		c := cacheOver(s)
		add(s, taught, 0, true, ids("RN-%d", 20)...)
		add(s, taught, 40, false, ids("model-%d", 6)...)
		add(s, tc.of, 60, true, tc.own...)
		ask := func(of memoryd.ToolRef) []Warning {
			a, err := c.Assess(t.Context(), of, json.RawMessage(`{"run_id":"model-7"}`), Caller{})
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Suggestion) > 0 && of == tc.of {
				t.Errorf("%s: it suggests %s", name, a.Suggestion)
			}
			return a.Warnings
		}
		if w := ask(taught); len(w) != 1 || w[0].Line != "Give no `run_id` that begins with \"model-\"" {
			t.Fatalf("the tool that taught it: %+v", w)
		}
		switch w := ask(tc.of); {
		case tc.warns && (len(w) != 1 || w[0].Severity != Ask || !strings.Contains(w[0].Text, ": in `log_metric`, otherwise 6 of 6 went wrong")):
			t.Errorf("%s: %+v", name, w)
		case !tc.warns && len(w) > 0:
			t.Errorf("%s: it warns: %+v", name, w)
		}
		c.Stop()
	}
}
