package evidence_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
)

// told observes calls of "query", each as run, text and answer; those whose answer begins with "no such" went wrong.
func told(o *evidence.Observer, calls [][3]string) (obs []evidence.Observation) {
	for i, c := range calls {
		input, _ := json.Marshal(map[string]string{"sql": c[1]})
		m := memoryd.Call{
			ToolRef: memoryd.ToolRef{Tool: "query"}, Key: memoryd.CallKey{byte(i), byte(i >> 8), 7}, Input: input, Output: c[2], Success: true,
			Metadata: fmt.Appendf(nil, `{"trajectory_id":%q}`, c[0]), Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess},
		}
		if strings.HasPrefix(c[2], "no such") {
			m.Evaluation.Score = memoryd.ScoreFailure
		}
		ob := o.Observe(&m)
		ob.Trim()
		obs = append(obs, ob)
	}
	return obs
}

// guesses are runs that each guess a table, look up what there is, and use that.
func guesses(table func(run int) string, message string) (calls [][3]string) {
	for i := range 20 {
		run := fmt.Sprint("run", i)
		there := fmt.Sprintf("sales%c", 'a'+i)
		calls = append(calls, [3]string{run, "SELECT * FROM " + table(i), fmt.Sprintf(message, table(i))},
			[3]string{run, "LIST", `{"tables":"id\n` + there + `"}`}, [3]string{run, "SELECT * FROM " + strings.ToUpper(there), `{"rows":3}`},
			[3]string{run, "SELECT * FROM " + there + " WHERE town = 'Lima'", `{"rows":1}`})
	}
	return calls
}

func lookUp(found []rules.Rule) *rules.Rule {
	for i := range found {
		if strings.HasPrefix(found[i].Line, "Look up") {
			return &found[i]
		}
	}
	return nil
}

func TestNamesThatNothingInTheRunShowedAreToBeLookedUp(t *testing.T) {
	o := evidence.NewObserver()
	r := lookUp(evidence.Rules("query", told(o, guesses(func(i int) string { return fmt.Sprintf("guess%c", 'a'+i) }, "no such table: %s"))))
	if r == nil || r.Line != "Look up names before you use them in `sql`" || r.Found() != "otherwise 20 of 20 went wrong (20 runs)" {
		t.Fatalf("%+v", r)
	}
	for i, tc := range []struct {
		before, sql, answer string
		want                bool
	}{
		{"LIST", "SELECT * FROM parcels", `{"tables":"id"}`, true},
		{"LIST", "SELECT * FROM parcels", `{"tables":"id\nparcels"}`, false},
		{"LIST", "select * from Parcels where town = 'Quito'", `id, parcels`, false},
		{"SELECT * FROM parcels", "SELECT * FROM parcels", "no such table: parcels", true},
		{"LIST", "SELECT 'parcels' FROM stores", "id, stores", false},
	} {
		run := fmt.Sprint("later", i)
		obs := told(o, [][3]string{{run, tc.before, tc.answer}, {run, tc.sql, ""}})
		if got := r.Holds(obs[1].Planned()); got != tc.want {
			t.Errorf("%q after %q: breaks it is %v", tc.sql, tc.answer, got)
		}
	}
}

func TestAWordThatFailsAgainAndAgainIsNoUnknownName(t *testing.T) {
	calls := guesses(func(int) string { return "guess" }, "no such table%.0s")
	if r := lookUp(evidence.Rules("query", told(evidence.NewObserver(), calls))); r != nil {
		t.Errorf("%+v", r)
	}
}
