package guidelines

import (
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/internal/recordtest"

	"memoryd/internal/textsafe"
)

// TestMeasureBenignMessages reports how many of the real error messages in the
// recordings pass the cleaning: the price of its strictness.
func TestMeasureBenignMessages(t *testing.T) {
	messages := map[string]bool{}
	for _, file := range recordtest.Files(t) {
		for _, m := range recordedMessages(t, file) {
			messages[m] = true
		}
	}
	withheld := 0
	for m := range messages {
		if family, bad := textsafe.SuspectInstruction(m); bad {
			withheld++
			t.Logf("withheld by %q: %s", family, m)
		}
	}
	t.Logf("%d of %d messages withheld", withheld, len(messages))
	if 20*withheld > len(messages) {
		t.Errorf("more than 5 %% of the messages are withheld")
	}
}

// recordedMessages lists the error templates of the failing calls in a file.
func recordedMessages(t *testing.T, file string) []string {
	t.Helper()
	byTool := map[string][]memoryd.Call{}
	for _, c := range recordtest.Read(t, file) {
		if c.Gold == "error" || c.Gold == "partial" {
			byTool[c.Tool] = append(byTool[c.Tool], memoryd.Call{Output: c.Output, Evaluation: memoryd.Evaluation{State: memoryd.Judged}})
		}
	}
	var messages []string
	for _, calls := range byTool {
		for _, c := range evidence.Mine(calls).Errors {
			messages = append(messages, c.Template)
		}
	}
	return messages
}
