package rules_test

import (
	"strconv"
	"strings"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/evaluate/score"
)

// A result that says that there was nothing is half a success, one that counts what was
// found is a whole one.
func TestAnEmptyResultIsHalfASuccessInEveryWording(t *testing.T) {
	run(t, map[string]example{
		"advice behind it": {"web_search", q("a"), "No results found for the given query. Please try different keywords.", 0.5, "nothing-found"},
		"plain":            {"web_search", q("a"), "No results found.", 0.5, "nothing-found"},
		"a count":          {"web_search", q("a"), "0 results", 0.5, "nothing-found"},
		"a list":           {"web_search", q("a"), "[]", 0.5, "empty-result"},
		"some":             {"web_search", q("a"), "Found 10 relevant results", 1, "no-trouble"},
		"some, counted":    {"web_search", q("a"), "3 results", 1, "no-trouble"},
	})
}

// A failure that is as good as not is believed of a message and of what a command does, not
// of what was read.
func TestContentIsBelievedToTellOfAFailureLastOfAll(t *testing.T) {
	m, err := score.Decode(score.Encode([2]float64{0.405, -9}, new([2][1 << score.Bits]float64))) // .6 of everything
	if err != nil {
		t.Fatal(err)
	}
	j := rules.New().With(m)
	long := strings.Repeat("the bolts are in the box on the left\n", 9)
	for _, c := range []struct {
		tool, input, output string
		failed              bool
	}{
		{"stock", `{"id":7}`, "the bolts are in the box", true},
		{"stock", `{"id":7}`, `{"text":"the bolts are in the box"}`, true},
		{"stock", `{"id":7}`, `{"text":"ボルトは箱の中"}`, true},
		{"stock", `{"id":7}`, `{"bolt":"arn:stock:7/bolt-7","box":7}`, false}, // it says no sentence
		{"stock", `{"id":7}`, long, false},
		{"stock", `{"id":7}`, `{"box":7,"bolts":"` + strings.Repeat("on the left ", 30) + `"}`, false},
		{"bash", `{"command":"sort-stock --all"}`, "the bolts are in the box", true},
		{"bash", `{"command":"sort-stock --all"}`, long, true},
		{"bash", `{"command":"cat stock.txt"}`, "the bolts are in the box", false},
		{"bash", `{"command":"cat stock.txt"}`, long, false},
	} {
		v := j.Judge(&memoryd.Call{ToolRef: memoryd.ToolRef{Tool: c.tool}, Input: []byte(c.input), Output: c.output, Success: true}, nil)
		if failed := v.Score == memoryd.ScoreFailure; failed != c.failed {
			t.Errorf("%s %s => %.30q: %v by %s", c.tool, c.input, c.output, v.Score, v.Rule)
		}
	}
}

// Programs say first what they are about to do, so that a message of an error stands on any line.
// It is believed of what a tool did, not of what was read.
func TestALineThatBeginsAsAMessageOfAnErrorIsBelieved(t *testing.T) {
	m, err := score.Decode(score.Encode([2]float64{-0.405, -9}, new([2][1 << score.Bits]float64))) // .4 of everything
	if err != nil {
		t.Fatal(err)
	}
	j := rules.New().With(m)
	const begins, says = "counting the bolts in the box\n", "error: the box is locked\n"
	for _, c := range []struct {
		tool, input, output string
		failed              bool
	}{
		{"bash", `{"command":"sort-stock --all"}`, begins + says + begins, true},
		{"bash", `{"command":"sort-stock --all"}`, begins + "the box is locked\n" + begins, false},
		{"bash", `{"command":"sort-stock --all"}`, "[\n" + `"error: the box is locked"` + "\n]", false},
		{"bash", `{"command":"sort-stock --say 'error: the box is locked'"}`, begins + says + begins, false},
		{"bash", `{"command":"cat stock.txt"}`, begins + says + begins, false},
		{"read_file", `{"path":"stock.txt"}`, begins + says + begins, false},
		{"stock", `{"id":7}`, begins + says + begins, true},
	} {
		v := j.Judge(&memoryd.Call{ToolRef: memoryd.ToolRef{Tool: c.tool}, Input: []byte(c.input), Output: c.output, Success: true}, nil)
		if failed := v.Score == memoryd.ScoreFailure; failed != c.failed {
			t.Errorf("%s %s => %q: %v by %s", c.tool, c.input, c.output, v.Score, v.Rule)
		}
	}
}

func TestTheNameOfAFailureAloneNeedNotBeLikely(t *testing.T) {
	j := rules.New().With(constant(t, -0.4)) // .4 of everything
	for output, failed := range map[string]bool{"ROOM_NOT_AVAILABLE": true, "Refused!": true, "ROOM_BOOKED": false} {
		v := j.Judge(&memoryd.Call{ToolRef: memoryd.ToolRef{Tool: "book"}, Output: output, Success: true}, nil)
		if got := v.Score == memoryd.ScoreFailure; got != failed {
			t.Errorf("%s: %v by %s", output, v.Score, v.Rule)
		}
	}
}

func TestAScoreIsSureOnlyWhereItHardlyErrs(t *testing.T) {
	for odds, sure := range map[float64]bool{3: false, 5: true} { // .95 and .99 of everything
		v := rules.New().With(constant(t, odds)).Judge(&memoryd.Call{ToolRef: memoryd.ToolRef{Tool: "book"}, Output: "The room.", Success: true}, nil)
		if v.Score != memoryd.ScoreFailure || v.Sure != sure {
			t.Errorf("%v: %v, sure %v", odds, v.Score, v.Sure)
		}
	}
}

// constant is a score of the same logit for everything.
func constant(t *testing.T, logit float64) *score.Model {
	t.Helper()
	m, err := score.Decode(score.Encode([2]float64{logit, -9}, new([2][1 << score.Bits]float64)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Usages are full of words for what may go wrong.
func TestAUsageIsWhatWasWantedOnlyIfItWasAskedFor(t *testing.T) {
	for _, sure := range []float64{-3, 3} {
		j := rules.New().With(constant(t, sure)) // .05 and .95 of everything
		const usage = "usage: boxtool [-d depth] box\n  --fail  stop at the first error"
		for _, c := range []struct {
			tool, input, output string
			failed              bool
		}{
			{"bash", `{"command":"boxtool --help"}`, usage, false},
			{"boxtool", `{"query":"--help"}`, usage, false},
			{"boxtool_help", `{"topic":"boxes"}`, usage, false},
			{"bash", `{"command":"boxtool nuts"}`, usage, true},
			{"bash", `{"command":"boxtool --help"}`, "no such option: help\n" + usage, sure > 0},
			{"boxtool", `{"query":"nuts"}`, usage, true},
			{"box_fill", `{"with":"nuts"}`, "Of what size?\n\nusage: boxtool fill SIZE", true},
			{"read_page", `{"name":"boxes"}`, usage, sure > 0},
			{"box_fill", `{"with":"nuts"}`, "Usage: 45 % of 10 GB", sure > 0},
		} {
			v := j.Judge(&memoryd.Call{ToolRef: memoryd.ToolRef{Tool: c.tool}, Input: []byte(c.input), Output: c.output, Success: true}, nil)
			if failed := v.Score == memoryd.ScoreFailure; failed != c.failed {
				t.Errorf("%s %s => %q: %v by %s", c.tool, c.input, c.output, v.Score, v.Rule)
			}
		}
	}
}

// A program may say first what it reports.
func TestATraceBelowAHeadingIsThatOfAFailure(t *testing.T) {
	j := rules.New().With(constant(t, -1))
	const trace = "Traceback (most recent call last):\n  File \"box.py\", line 7, in main\n    open(path)\nFileNotFoundError: nuts.tar\n\nbox 1.2 on Linux"
	for _, c := range []struct {
		tool, output string
		score        float64
	}{
		{"box_import", "Local Exception\n" + trace, memoryd.ScoreFailure},
		{"read_log", "12:01 import\n" + trace, memoryd.ScoreSuccess},
		{"box_report", "12:01 started\n12:02 import\n12:02 failed, see below\n" + trace + "\n12:03 imported all the same", memoryd.ScoreSuccess},
	} {
		v := j.Judge(&memoryd.Call{ToolRef: memoryd.ToolRef{Tool: c.tool}, Input: []byte(`{"name":"boxes"}`), Output: c.output, Success: true}, nil)
		if v.Score != c.score {
			t.Errorf("%s => %q: %v by %s", c.tool, c.output, v.Score, v.Rule)
		}
	}
}

// A number is a status where its name or the words beside it say so.
func TestANumberAloneIsNoStatus(t *testing.T) {
	j := rules.New()
	score := func(output string) float64 {
		call := memoryd.Call{ToolRef: memoryd.ToolRef{Tool: "convert_number"}, Output: output, Success: true}
		return j.Judge(&call, nil).Score
	}
	for n := 100; n < 600; n++ {
		for _, output := range []string{strconv.Itoa(n), "$" + strconv.Itoa(n), strconv.Itoa(n) + ".0", strconv.Itoa(n) + "%"} {
			if score(output) != memoryd.ScoreSuccess {
				t.Errorf("%s is taken for a status", output)
			}
		}
	}
	for _, output := range []string{`{"status": 404}`, "404 Not Found", "HTTP 503", "Request failed with status code 500"} {
		if score(output) != memoryd.ScoreFailure {
			t.Errorf("%s is taken for no failure", output)
		}
	}
}

// A structure over several lines begins with a bracket, which shows nobody what went wrong.
func TestAStructureOverSeveralLinesIsQuotedByWhatItSays(t *testing.T) {
	e := example{tool: "approve", out: "{\n  \"status\": \"already_approved\",\n  \"message\": \"Task already approved.\"\n}"}
	v := rules.New().Judge(e.call(t), nil)
	if v.Score != 0 || !strings.Contains(v.Summary, "“Task already approved") {
		t.Errorf("%v: %s", v.Score, v.Summary)
	}
}
