package guidelines_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/internal/recordtest"
)

// foresight is what the guideline of a tool's first half tells of the failures of
// its second.
type foresight struct {
	tool            string
	failures        int
	named, remedied int
	baseline        int
	words           int
	text            string
	missed          []string
}

var (
	digits  = regexp.MustCompile(`\d+`)
	letters = regexp.MustCompile(`[a-z]+`)

	lineWords = map[string][]string{}
)

// wordsOf are the words of a line, read once.
func wordsOf(s string) []string {
	if _, read := lineWords[s]; !read {
		lineWords[s] = letters.FindAllString(digits.ReplaceAllString(strings.ToLower(s), " "), -1)
	}
	return lineWords[s]
}

// overlap is the share of a message's first twelve words that a line holds.
func overlap(message, line string) float64 {
	m := wordsOf(message)
	m = m[:min(len(m), 12)]
	have := wordsOf(line)
	n := 0
	for _, w := range m {
		if slices.Contains(have, w) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(m)))
}

func anyLine(message string, lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return overlap(message, l) >= 0.6 })
}

// foresee learns from the first half of a tool's calls and scores the second.
func foresee(t *testing.T, calls []memoryd.Call) foresight {
	half := len(calls) / 2
	d, err := guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), nil).Compose(t.Context(), memoryd.Tool{ToolRef: calls[0].ToolRef}, calls[:half], 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(d.Render(), "## Statistics")
	best := text[max(0, strings.Index(text, "## Best Practices")):] // with the tool's words, as measure/foresight.py counts
	r := foresight{tool: calls[0].Tool, words: len(strings.Fields(text)), text: text}
	lines, advice := strings.Split(text, "\n"), strings.Split(strings.TrimSpace(best), "\n")
	seen := map[string]int{}
	for i := range calls[:half] {
		if calls[i].Evaluation.Score == memoryd.ScoreFailure {
			w := wordsOf(calls[i].Output)
			seen[strings.Join(w[:min(len(w), 12)], " ")]++
		}
	}
	var top []string
	for m := range seen {
		top = append(top, m)
	}
	slices.SortFunc(top, func(a, b string) int { return seen[b] - seen[a] })
	top = top[:min(len(top), 5)]
	for i := half; i < len(calls); i++ {
		c := &calls[i]
		if c.Evaluation.Score != memoryd.ScoreFailure {
			continue
		}
		r.failures++
		add := func(n *int, is bool) {
			if is {
				*n++
			}
		}
		named := anyLine(c.Output, lines)
		add(&r.named, named)
		add(&r.remedied, anyLine(c.Output, advice))
		add(&r.baseline, anyLine(c.Output, top))
		if !named {
			r.missed = append(r.missed, c.Output[:min(len(c.Output), 120)])
		}
	}
	return r
}

// TestMeasureForesight learns on the first half of each recorded tool and asks of
// the later failures whether the guideline names their message, gives a remedy
// beside it, and gives one for their cause.
func TestMeasureForesight(t *testing.T) {
	var all []foresight
	var words []int
	for _, file := range recordtest.Files(t) {
		if only := os.Getenv("MEMORYD_TEST_SOURCE"); !strings.Contains(file, only) {
			continue
		}
		byTool := map[string][]memoryd.Call{}
		var order []string
		for i, c := range recorded(t, filepath.Base(file), "") {
			c.Key = memoryd.CallKey{byte(i), byte(i >> 8), 1}
			if byTool[c.Tool] == nil {
				order = append(order, c.Tool)
			}
			byTool[c.Tool] = append(byTool[c.Tool], c)
		}
		for _, tool := range order {
			if len(byTool[tool]) >= 20 {
				f := foresee(t, byTool[tool])
				all, words = append(all, f), append(words, f.words)
			}
		}
	}
	var named, remedied, base float64
	tools, total := 0, foresight{}
	for _, f := range all {
		total.failures, total.named, total.remedied, total.baseline = total.failures+f.failures, total.named+f.named, total.remedied+f.remedied, total.baseline+f.baseline
		if f.failures < 3 {
			continue
		}
		n := float64(f.failures)
		tools++
		named, remedied, base = named+float64(f.named)/n, remedied+float64(f.remedied)/n, base+float64(f.baseline)/n
		t.Logf("%s: %d later failures, named %d, remedy %d, five messages %d\n%s", f.tool, f.failures, f.named, f.remedied, f.baseline, f.text)
		if testing.Verbose() {
			for _, m := range f.missed[:min(len(f.missed), 400)] {
				t.Logf("   missed %q", m)
			}
		}
	}
	slices.Sort(words)
	n, all1 := float64(max(1, tools)), float64(max(1, total.failures))
	t.Logf("mean over %d tools: named %.3f, remedy %.3f, five messages %.3f", tools, named/n, remedied/n, base/n)
	t.Logf("total of %d failures: named %.3f, remedy %.3f, five messages %.3f; median words %d", total.failures,
		float64(total.named)/all1, float64(total.remedied)/all1, float64(total.baseline)/all1, words[len(words)/2])
	if named < base || total.named < total.baseline {
		t.Errorf("five messages name more than the guidelines do")
	}
}
