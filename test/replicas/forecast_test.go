package replicas

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// TestAFailureOnOneReplicaIsForecastOnAllWithinASecond records failing calls through
// one process and asks the others about the same calls: with the run named, the last
// failure counts at once although each had its model of the tool before.
func TestAFailureOnOneReplicaIsForecastOnAllWithinASecond(t *testing.T) {
	const most = 20 * time.Second // on a machine that has much else to do; the figure is printed
	f := launch(t, "log: {level: error}\n", "")
	for n := range 30 {
		f.record(n, order("good", n), "done", "before")
	}
	worst := time.Duration(0)
	for round := range 3 {
		for from := range replicasOf {
			run, input := fmt.Sprintf("run %d %d", round, from), order("failed", 10*round+from)
			for at := range replicasOf {
				if risk, rules := f.ask(at, input, run); risk > 0.5 || len(rules) > 0 {
					t.Errorf("replica %d, before the failure: risk %.2f, warnings %v", at, risk, rules)
				}
			}
			f.record(from, input, "Error: order not found", run)
			for n := range 4 { // one failure among good calls
				f.record(n, order("good", 100*round+10*from+n), "done", fmt.Sprintf("good run %d %d %d", round, from, n))
			}
			for at := range replicasOf {
				began := time.Now()
				for {
					risk, rules := f.ask(at, input, run)
					if risk > 0.9 && len(rules) > 0 && rules[0] == "repeats_failure" {
						worst = max(worst, time.Since(began))
						break
					}
					if time.Since(began) > most {
						t.Fatalf("replica %d, %v after a failure on replica %d: risk %.2f, warnings %v\n%s", at, most, from, risk, rules, f.logs())
					}
					tick()
				}
				if _, rules := f.ask(at, input, "another run"); len(rules) > 0 && rules[0] == "repeats_failure" {
					t.Errorf("replica %d: another run is told of this one", at)
				}
			}
		}
	}
	t.Logf("at most %v after a failure every replica forecast it", worst.Round(time.Millisecond))
}

// order is an input that nothing but its value tells from others.
func order(kind string, n int) string {
	sum := sha256.Sum256(fmt.Append(nil, kind, n))
	return fmt.Sprintf(`{"order":"%x"}`, sum[:4])
}

// record adds one call of a run through a replica.
func (f *fleet) record(replica int, input, output, run string) {
	f.t.Helper()
	_, r, ok := send(f.at(replica), "/add_tool_call_result", map[string]any{"tool_name": "ship", "tool_call_results": []map[string]any{{
		"input": json.RawMessage(input), "output": output, "success": true, "metadata": map[string]any{"trajectory_id": run, "tool_call_id": run + input},
	}}})
	if !ok {
		f.t.Fatalf("%d %s", r.Status, r.Body)
	}
}

// ask asks a replica about a call; rules are what its warnings go by.
func (f *fleet) ask(replica int, input, run string) (risk float64, rules []string) {
	f.t.Helper()
	_, r, ok := send(f.at(replica), "/preflight_tool_call", map[string]any{"tool_name": "ship", "input": json.RawMessage(input), "trajectory_id": run})
	var forecast struct {
		Risk     float64
		Warnings []struct{ Evidence []string }
	}
	if !ok || json.Unmarshal(r.Body, &forecast) != nil {
		f.t.Fatalf("%d %s", r.Status, r.Body)
	}
	for _, w := range forecast.Warnings {
		rules = append(rules, w.Evidence...)
	}
	return forecast.Risk, rules
}
