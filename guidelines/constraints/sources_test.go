package constraints

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoryd/internal/recordtest"
)

// TestMeasureThatNoGrammarSpeaksForOneSource leaves out each recording in turn: what of
// its failures is read by grammars that also read another recording, a message of a
// real library or of a foreign domain. A drop beyond a third were over-fitting.
func TestMeasureThatNoGrammarSpeaksForOneSource(t *testing.T) {
	read := map[string]map[string]int{} // grammar: source: failures
	note := func(source, text string) string {
		found := Read(text)
		if len(found) == 0 {
			return ""
		}
		name := found[0].Grammar
		if read[name] == nil {
			read[name] = map[string]int{}
		}
		read[name][source]++
		return name
	}
	raw, err := os.ReadFile("testdata/libraries.json")
	if err != nil {
		t.Fatal(err)
	}
	var libraries []struct{ Text string }
	if err := json.Unmarshal(raw, &libraries); err != nil {
		t.Fatal(err)
	}
	for _, l := range libraries {
		note("libraries", l.Text)
	}
	for text := range foreign {
		note("foreign", text)
	}
	failures := map[string]map[string]int{} // source: grammar
	for _, file := range recordtest.Files(t) {
		source := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "calls_"), ".jsonl.gz")
		failures[source] = map[string]int{}
		for _, r := range recordtest.Read(t, file) {
			if r.Gold == "error" && strings.TrimSpace(r.Output) != "" {
				failures[source][note(source, r.Output)]++
			}
		}
	}
	for source, by := range failures {
		all, some, elsewhere := 0, 0, 0
		var own []string
		for grammar, n := range by {
			all += n
			switch {
			case grammar == "" || grammar == "could not":
				continue
			case len(read[grammar]) > 1:
				elsewhere += n
			default:
				own = append(own, grammar)
			}
			some += n
		}
		t.Logf("%s: of %d failures %d are read, %d by grammars that read elsewhere too; its own: %v", source, all, some, elsewhere, own)
		if 3*elsewhere < 2*some {
			t.Errorf("%s: too much is read by grammars of its own", source)
		}
	}
}
