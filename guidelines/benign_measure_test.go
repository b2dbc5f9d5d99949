package guidelines

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// TestMeasureBenignMessages reports how many of the real error messages in the
// recordings pass the cleaning: the price of its strictness.
func TestMeasureBenignMessages(t *testing.T) {
	dir := os.Getenv("MEMORYD_DATA")
	if dir == "" {
		t.Skip("MEMORYD_DATA is not set: it names the folder of the recorded calls")
	}
	files, err := filepath.Glob(filepath.Join(dir, "calls_*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in MEMORYD_DATA: %v", err)
	}
	messages := map[string]bool{}
	for _, file := range files {
		for _, m := range recordedMessages(t, file) {
			messages[m] = true
		}
	}
	withheld := 0
	for m := range messages {
		if bad, family := instructive(m); bad {
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
	f, err := os.Open(file)
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
	byTool := map[string][]memoryd.Call{}
	for lines.Scan() {
		var r struct {
			Tool     string `json:"tool_name"`
			Output   string `json:"output"`
			Metadata struct {
				Gold string `json:"gold"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Metadata.Gold == "error" || r.Metadata.Gold == "partial" {
			byTool[r.Tool] = append(byTool[r.Tool], memoryd.Call{Output: r.Output, Evaluation: memoryd.Evaluation{State: memoryd.Judged}})
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	var messages []string
	for _, calls := range byTool {
		for _, c := range evidence.Mine(calls).Errors {
			messages = append(messages, c.Template)
		}
	}
	return messages
}
