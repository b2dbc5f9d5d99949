package guidelines_test

import (
	"flag"
	"os"
	"testing"

	"memoryd/guidelines"
	"memoryd/internal/configtest"
	"memoryd/internal/looptest"
	"memoryd/internal/recordtest"
)

// The bar of the room: on tools whose rules nobody knows, agents that obey the guideline
// and the forecast fail less than those that obey a list of the five most frequent
// messages and the plain contrast of failed and good calls together, also after a change of
// rules. bench loop prints the same with other seeds; these were used for nothing else.
func TestTheRivalsAreBeaten(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement: slow under the race detector, and one goroutine does it")
	}
	for _, tc := range []struct {
		name             string
		drift            bool
		whole, last      float64 // of what the rivals leave
		warned, wrongly  float64 // of calls that break a rule at least, of good ones at most
		right, brokeGood float64 // of suggestions
	}{
		{"rules that stay", false, 0.90, 0.50, 0.40, 0.03, 0.6, 0.01},
		{"rules that change", true, 0.95, 0.90, 0.40, 0.10, 0.4, 0.05},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var ours, rivals looptest.Result
			for seed := range uint64(3) {
				o := looptest.Options{Runs: 60, Tools: 8, Drift: tc.drift}
				ours.Add(looptest.Run(9100+seed, &looptest.Ours{Writer: guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), nil), FalseAlarms: 0.05}, o))
				rivals.Add(looptest.Run(9100+seed, &looptest.Rivals{List: true, Contrast: true}, o))
			}
			t.Logf("ours: %s\nlist and contrast: %s", &ours, &rivals)
			if ours.Whole() > tc.whole*rivals.Whole() || ours.Last() > tc.last*rivals.Last() {
				t.Error("the rivals are as good")
			}
			if float64(ours.WarnedBad) < tc.warned*float64(ours.Bad) || float64(ours.WarnedGood) > tc.wrongly*float64(ours.Good) {
				t.Error("the wrong calls are warned of")
			}
			if float64(ours.Right) < tc.right*float64(ours.Suggested) || float64(ours.BrokeGood) > tc.brokeGood*float64(ours.Suggested) {
				t.Error("the wrong calls are suggested")
			}
		})
	}
}

var firstLoop, loops = flag.Uint64("first-loop", 0, "of TestMeasureLoop"), flag.Uint64("loops", 3, "how many TestMeasureLoop runs")

// TestMeasureLoop prints the figures of other seeds, for the table of what each part is
// worth.
func TestMeasureLoop(t *testing.T) {
	if os.Getenv(recordtest.Env) == "" {
		t.Skip("measures only where the recordings are measured")
	}
	for _, drift := range []bool{false, true} {
		var r looptest.Result
		for seed := *firstLoop; seed < *firstLoop+*loops; seed++ {
			r.Add(looptest.Run(5200+seed, &looptest.Ours{Writer: guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), nil), FalseAlarms: 0.05}, looptest.Options{Runs: 60, Tools: 8, Drift: drift}))
		}
		name := map[bool]string{false: "loop ", true: "drift "}[drift]
		for _, f := range []struct {
			of    string
			value float64
		}{
			{"whole", r.Whole()},
			{"last", r.Last()},
			{"right", float64(r.Right)},
			{"broke good", float64(r.BrokeGood)},
			{"warned bad", float64(r.WarnedBad) / float64(max(1, r.Bad))},
			{"warned good", float64(r.WarnedGood) / float64(max(1, r.Good))},
		} {
			t.Logf("figure %s%s: %.4f", name, f.of, f.value)
		}
	}
}
