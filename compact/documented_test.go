package compact_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoryd/compact"
	"memoryd/compact/chat"

	"github.com/go-json-experiment/json/jsontext"
)

var update = flag.Bool("update", false, "write what the documentation shows")

// TestTheDocumentedSummaries holds the examples in docs/compaction.md to a recorded
// conversation (activegraph-tau2-bench, Apache-2.0) and a made-up one, and to what they give
// at 20 % of their size.
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
		excerpt(t, doc, name, ms)
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

// excerpt checks the conversation that a page shows before its summary: every line is one of
// the conversation's, in its order, and whole or cut with an ellipsis.
func excerpt(t *testing.T, doc, name string, ms []jsontext.Value) {
	t.Helper()
	_, block, _ := strings.Cut(doc, "<!-- before: "+name+" -->\n```\n")
	block, _, closed := strings.Cut(block, "\n```")
	shown := strings.Split(block, "\n")
	if !closed || len(shown) < 10 {
		t.Fatalf("%s: the page shows %d lines of the conversation", name, len(shown))
	}
	parsed, err := chat.ParseAll(ms)
	if err != nil {
		t.Fatal(err)
	}
	rest := shown
	match := func(line string) {
		if len(rest) == 0 {
			return
		}
		if begin, cut := strings.CutSuffix(rest[0], "…"); rest[0] == line || cut && strings.HasPrefix(line, begin) {
			rest = rest[1:]
		}
	}
	for i := range parsed {
		m := &parsed[i]
		for _, text := range m.Texts {
			match(m.Role + ": " + text)
		}
		for _, c := range m.Calls {
			match(m.Role + " calls " + c.Name + " " + c.Args)
		}
		for _, r := range m.Results {
			match(m.Role + ": " + r.Text)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%s: the conversation has no such line behind the ones before: %s", name, rest[0])
	}
}
