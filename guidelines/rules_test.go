package guidelines_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines"
)

var update = flag.Bool("update", false, "write the golden files")

func write(t *testing.T, calls []memoryd.Call) string {
	t.Helper()
	content, author, err := guidelines.NewRules(configtest.Section[guidelines.Config]("guidelines")).Write(t.Context(), toolOf(calls), calls, 20)
	if err != nil || author != guidelines.AuthorRules {
		t.Fatalf("author %q, error %v", author, err)
	}
	return content
}

func TestRulesWriteTheGoldenTexts(t *testing.T) {
	for name, calls := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			got := write(t, calls)
			file := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if again := write(t, calls); again != got {
				t.Error("the same calls gave another text")
			}
		})
	}
}

var sectionLine = regexp.MustCompile(`(?m)^## (.*)$`)

func TestEveryGuidelineHasTheFourSectionsAndTheStatistics(t *testing.T) {
	for name, calls := range scenarios(t) {
		got := write(t, calls)
		var headings []string
		for _, m := range sectionLine.FindAllStringSubmatch(got, -1) {
			headings = append(headings, m[1])
		}
		if got := strings.Join(slices.DeleteFunc(headings, func(h string) bool { return h == "What the tool answered" }), "|"); got != "Core Function|Success Patterns|Common Issues|Best Practices|Statistics" {
			t.Errorf("%s has the sections %q", name, headings)
		}
		body, _, _ := strings.Cut(got, "## What the tool answered")
		if n := len(strings.Fields(body)); n > 240 {
			t.Errorf("%s has %d words", name, n)
		}
	}
}

// The scenario that users know from the documentation: the guideline names the
// generic query, the unsupported language and the large max_results with their
// counts and times.
func TestTheWebSearchGuidelineNamesWhatWentWrong(t *testing.T) {
	got := write(t, webSearch(t, 15))
	for _, want := range []string{
		"`query` \"test\"", "`language` \"unknown\"", "`max_results` 100", "15 of 15 scored 0.5, otherwise 0 of 15",
		"3.5 s instead of 2.3 s", "query too generic", "not supported", "80 tokens instead of 150 tokens",
		"- **Success Rate**: 100.00%", "- **Average Score**: 0.750", "- **Average Time Cost**: 2.900s", "- **Average Token Cost**: 115.0",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestNothingHostileReachesAGuideline(t *testing.T) {
	got := write(t, hostile(t))
	lower := strings.ToLower(got)
	for _, bad := range []string{
		"ignore all", "previous instructions", "http", "evil.example", "akia", "hunter2", "\u200b", "\u202e", "\U000e0041", "\x00",
		"<img", "<script", "rm -rf", "system:", "![",
	} {
		if strings.Contains(lower, bad) {
			t.Errorf("%q got through:\n%s", bad, got)
		}
	}
	if strings.Count(got, "\n## Statistics\n") != 1 {
		t.Errorf("the tool's name forged a section:\n%s", got)
	}
}

func TestAnEndedContextWritesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := guidelines.NewRules(configtest.Section[guidelines.Config]("guidelines")).Write(ctx, memoryd.Tool{}, nil, 20); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestConfigNamesTheWrongSetting(t *testing.T) {
	if err := configtest.Section[guidelines.Config]("guidelines").Validate(); err != nil {
		t.Error(err)
	}
	for key, change := range map[string]func(*guidelines.Config){
		"max_words": func(c *guidelines.Config) { c.MaxWords = 10 },
		"min_calls": func(c *guidelines.Config) { c.MinCalls = 0 },
	} {
		c := configtest.Section[guidelines.Config]("guidelines")
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestASectionThatIsNotAskedForIsLeftOut(t *testing.T) {
	text := write(t, scenarios(t)["update_reservation_flights"])
	if !strings.Contains(text, "## What the tool answered\n") {
		t.Fatalf("nothing is quoted:\n%s", text)
	}
	got := guidelines.Select(text, []string{"Core Function", "Best Practices"})
	if strings.Contains(got, "What the tool answered") || strings.Contains(got, "```") || strings.Contains(got, "Statistics") || !strings.Contains(got, "## Best Practices\n1. ") {
		t.Errorf("got\n%s", got)
	}
	if guidelines.Select(text, nil) != text {
		t.Error("no names leave something out")
	}
}
