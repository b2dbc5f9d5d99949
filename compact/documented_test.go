package compact_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoryd/compact"

	"github.com/go-json-experiment/json/jsontext"
)

var update = flag.Bool("update", false, "write what the documentation shows")

// TestTheDocumentedSummaries holds the summaries in docs/compaction.md to what a
// recorded conversation (activegraph-tau2-bench, Apache-2.0) and a made-up one give at
// 20 % of their size.
func TestTheDocumentedSummaries(t *testing.T) {
	documented(t, filepath.Join("..", "docs", "compaction.md"), "cancel-and-total", "coding-in-german")
}

func documented(t *testing.T, page string, names ...string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var ms []jsontext.Value
		if err := json.Unmarshal(raw, &ms); err != nil {
			t.Fatal(err)
		}
		c := newCompactor(t)
		dry := run(t, c, compact.Request{Messages: ms, Force: true, DryRun: true, MaxInputTokens: 1 << 20})
		res := run(t, c, compact.Request{Messages: ms, Force: true, MaxInputTokens: dry.Report.TokensBefore / 5})
		check(t, c, compact.Request{Messages: ms}, res)
		_, summary, _ := strings.Cut(res.Summary, "\n") // the first line has an id
		mark := "<!-- summary: " + name + " -->\n```\n"
		before, rest, found := strings.Cut(doc, mark)
		shown, after, closed := strings.Cut(rest, "```")
		if !found || !closed {
			t.Fatalf("%s has no block %q", page, mark)
		}
		if shown == summary+"\n" {
			continue
		}
		doc = before + mark + summary + "\n```" + after
		if !*update {
			t.Errorf("%s shows another summary of %s (-update writes it):\n%s", page, name, summary)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
