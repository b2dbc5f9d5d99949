package guidelines_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
	content, author, err := written(t, guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), nil), toolOf(calls), calls, 20)
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

func TestNoSectionOfAGuidelineIsEmpty(t *testing.T) {
	for name, calls := range scenarios(t) {
		got := write(t, calls)
		var headings []string
		for section := range strings.SplitSeq("\n"+got, "\n## ") {
			head, text, _ := strings.Cut(section, "\n")
			if head != "" {
				headings = append(headings, head)
			}
			if head != "" && strings.TrimSpace(text) == "" {
				t.Errorf("%s: %q is empty", name, head)
			}
		}
		want := "Core Function|Success Patterns|Common Issues|Best Practices|Statistics"
		if name == "nothing" || name == "pending" {
			want = "Core Function|Success Patterns|Common Issues|Statistics"
		}
		if got := strings.Join(slices.DeleteFunc(headings, func(h string) bool { return h == "What the tool answered" }), "|"); got != want {
			t.Errorf("%s has the sections %q", name, headings)
		}
		body, _, _ := strings.Cut(got, "## What the tool answered")
		if n := len(strings.Fields(body)); n > 240 {
			t.Errorf("%s has %d words", name, n)
		}
	}
}

// The scenario that users know from the documentation: the guideline names the
// unsupported language with its counts, and what the tool said of the query.
func TestTheWebSearchGuidelineNamesWhatWentWrong(t *testing.T) {
	got := write(t, webSearch(t, 15))
	for _, want := range []string{
		"Do not give `language` as \"unknown\"; \"en\" worked: otherwise 15 of 15 only half succeeded", "Query too generic, limited results",
		"- **Success Rate**: 100.00%", "- **Average Score**: 0.750", "- **Average Time Cost**: 2.900s", "- **Average Token Cost**: 115.0",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// Nothing to be found is no half success to whoever reads of it.
func TestCallsThatFoundNothingAreSaidToHaveFoundNothing(t *testing.T) {
	calls := webSearch(t, 15)
	for _, odd := range []bool{true, false} {
		for i := range calls {
			if e := &calls[i].Evaluation; e.Partial() {
				e.Rule = []string{"empty-result", "empty-output"}[i/2%2]
				if odd && i < len(calls)/2 {
					e.Rule = "nothing-found"
				}
			}
		}
		found := strings.Count(write(t, calls), "found nothing")
		if want := map[bool]int{true: 0, false: 2}[odd]; found != want {
			t.Errorf("with a half success of another kind: %v; it says %d times that calls found nothing, want %d", odd, found, want)
		}
	}
}

// A tool that mostly finds nothing is as it is: what its few finds have in common is no advice.
func TestFindingNothingIsNoFailureWhereItIsUsual(t *testing.T) {
	for _, empty := range []int{30, 10} {
		var calls []memoryd.Call
		for i := range 36 {
			team, rows, score := "search", `{"rows":[]}`, 0.5
			if i%36 >= empty {
				team, rows, score = "support", `{"rows":[1]}`, 1
			}
			c := call(t, "list_spans", i, object{"project": fmt.Sprintf("%s-%d", team, i)}, rows, score, 0.1, 10)
			if score < 1 {
				c.Evaluation.Rule = "empty-result"
			}
			calls = append(calls, c)
		}
		got := write(t, calls)
		usual := strings.Contains(got, "- 30 of 36 judged calls found nothing.") && !strings.Contains(got, "otherwise") && !strings.Contains(got, "went wrong")
		advised := strings.Contains(got, "otherwise 10 of 10 found nothing")
		if usual != (empty == 30) || advised != (empty == 10) {
			t.Errorf("%d of 36 found nothing:\n%s", empty, got)
		}
	}
}

func TestNothingHostileReachesAGuideline(t *testing.T) {
	got := write(t, hostile(t))
	ours := got
	if before, fenced, found := strings.Cut(got, "\n## What the tool answered\n"); found {
		_, after, _ := strings.Cut(fenced, "\n```\n")
		ours = before + after
	}
	for _, bad := range []string{"ignore all", "previous instructions", "rm -rf", "system:", "!["} { // sentences stand in the fence alone
		if strings.Contains(strings.ToLower(ours), bad) {
			t.Errorf("%q got through:\n%s", bad, got)
		}
	}
	lower := strings.ToLower(got)
	for _, bad := range []string{
		"http", "evil.example", "akia", "hunter2", "\u200b", "\u202e", "\U000e0041", "\x00",
		"<img", "<script",
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
	if _, err := guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), nil).Compose(ctx, memoryd.Tool{}, nil, 20, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
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

// written is the text that a composer writes, and its author.
func written(t *testing.T, x composer, tool memoryd.Tool, calls []memoryd.Call, recent int) (content, author string, err error) {
	t.Helper()
	d, err := x.Compose(t.Context(), tool, calls, recent, nil)
	if err != nil {
		return "", "", err
	}
	return d.Render(), d.Author, nil
}

// Names and types that only failed calls gave are not told as what the tool takes; without a good call all are.
func TestCoreFunctionTellsTheNamesAndTypesOfGoodCalls(t *testing.T) {
	var calls []memoryd.Call
	for i := range 30 {
		in, score := object{"lines": i % 5}, 1.0
		if i%3 != 0 {
			in, score = object{"lines": "many", "path": "a"}, 0
		}
		calls = append(calls, call(t, "tail", i, in, "answer", score, 1, 10))
	}
	head := func(calls []memoryd.Call) string {
		head, _, _ := strings.Cut(write(t, calls), "\nIt returns")
		return head
	}
	if got := head(calls); !strings.HasSuffix(got, "In 10 good calls `tail` took `lines` (integer, 0 to 4).") {
		t.Errorf("got %q", got)
	}
	bad := slices.DeleteFunc(calls, func(c memoryd.Call) bool { return c.Evaluation.Score == 1 })
	if got := head(bad); !strings.Contains(got, "In 20 calls `tail` took") || !strings.Contains(got, "`path`") {
		t.Errorf("without a good one: %q", got)
	}
}

// TestCoreFunctionShowsOnlyWhatWorkedAndNoRuleRefuses: values and ranges are those of calls
// that scored 1, and none of them is what a rule below advises against.
func TestCoreFunctionShowsOnlyWhatWorkedAndNoRuleRefuses(t *testing.T) {
	var calls []memoryd.Call
	for i := range 80 {
		in, score := object{"tier": []string{"gold", "plain"}[i%2], "size": 10 + i%20, "depth": 1 + i%9}, 1.0
		switch {
		case i%4 == 1:
			in["tier"] = "harbor"
			if i != 5 {
				score = 0
			}
		case i%8 == 3:
			in["size"], score = 900, 0.5
		case i == 6:
			in["depth"], score = 700, 0.5
		}
		calls = append(calls, call(t, "ship", i, in, "answer", score, 1, 10))
	}
	got := write(t, calls)
	head, rules, _ := strings.Cut(got, "\n## ")
	if !strings.Contains(rules, "Do not give `tier` as \"harbor\"") {
		t.Fatalf("no rule refuses the value:\n%s", got)
	}
	for _, wrong := range []string{"harbor", "900", "700"} {
		if strings.Contains(head, wrong) {
			t.Errorf("%q stands in Core Function:\n%s", wrong, got)
		}
	}
	for _, right := range []string{"gold", "plain", "10 to 29", "1 to 9"} {
		if !strings.Contains(head, right) {
			t.Errorf("%q does not stand in Core Function:\n%s", right, got)
		}
	}
}
