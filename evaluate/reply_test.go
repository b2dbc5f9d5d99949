package evaluate

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd/internal/textsafe"
)

func TestReadReply(t *testing.T) {
	const whole = `{"evaluation":"The query was specific.","failed_checks":[],"score":1.0,"summary":"Found ten results."}`
	for name, c := range map[string]struct {
		text    string
		score   float64
		repairs string
	}{
		"as asked":                    {whole, 1, ""},
		"with white space":            {"\n  " + whole + "\n\n", 1, ""},
		"byte order mark":             {"\uFEFF" + whole, 1, ""},
		"code block":                  {"```json\n" + whole + "\n```", 1, "fence"},
		"code block without language": {"```\n" + whole + "\n```", 1, "fence"},
		"prose around":                {"Here is my verdict:\n" + whole + "\nLet me know!", 1, "prose"},
		"prose with braces":           {"The set {a, b} is fine. " + whole, 1, "prose"},
		"thinking before":             {"<think>maybe {\"score\": 0}?</think>" + whole, 1, "think"},
		"closing think tag only":      {"it failed, {\"score\": 0}\n</think>\n" + whole, 1, "think"},
		"trailing comma":              {`{"score": 0.5, "summary": "x", "evaluation": "y",}`, 0.5, "loose"},
		"missing comma":               {"{\"score\": 0.5\n\"summary\": \"x\"\n\"evaluation\": \"y\"}", 0.5, "loose"},
		"single quotes":               {`{'score': 0.5, 'summary': 'it''s', 'evaluation': 'the tool's answer'}`, 0.5, "loose"},
		"typographic quotes":          {`{“score”: 0.5, “summary”: “x”}`, 0.5, "loose"},
		"bare names":                  {`{score: 0.5, summary: "x"}`, 0.5, "loose"},
		"python literals":             {`{"score": 0.5, "failed_checks": None, "summary": "x"}`, 0.5, "loose"},
		"comments":                    {"{\"score\": 0.5, // half\n \"summary\": \"x\" /* done */}", 0.5, "loose"},
		"line ends in strings":        {"{\"score\": 0.5, \"summary\": \"a\nb\"}", 0.5, "loose"},
		"unescaped quotes":            {`{"summary": "The "foo" call failed", "score": 0}`, 0, "loose"},
		"cut after the score":         {`{"score": 0.5, "summary": "The query was too gen`, 0.5, "cut"},
		"cut after a member":          {`{"evaluation": "y", "score": 0.5,`, 0.5, "cut"},
		"encoded twice":               {`"{\"score\": 0.5, \"summary\": \"it said \\\"no\\\"\"}"`, 0.5, "loose"},
		"escaped once too often":      {`{\"score\": 0.5, \"summary\": \"x\"}`, 0.5, "loose"},
		"semicolons":                  {`{"score": 0.5; "summary": "x"}`, 0.5, "loose"},
		"wrapped":                     {`{"result": ` + whole + `}`, 1, "shape"},
		"in an array":                 {`[` + whole + `]`, 1, "prose"},
		"in a batch of one":           {`{"verdicts": [` + whole + `]}`, 1, "shape"},
		"score as a string":           {`{"score": "0.5", "summary": "x"}`, 0.5, "shape"},
		"score as a word":             {`{"score": "partial", "summary": "x"}`, 0.5, "scale,shape"},
		"score with a remark":         {`{"score": "1.0 (success)", "summary": "x"}`, 1, "scale,shape"},
		"score out of ten":            {`{"score": 8, "summary": "x"}`, 1, "scale"},
		"score as a fraction":         {`{"score": "8/10", "summary": "x"}`, 1, "scale,shape"},
		"score as a bare fraction":    {`{"score": 4/10, "summary": "x"}`, 0.5, "loose,scale,shape"},
		"score as a percentage":       {`{"score": "80%", "summary": "x"}`, 1, "scale,shape"},
		"score out of a hundred":      {`{"score": 20, "summary": "x"}`, 0, "scale"},
		"score between levels":        {`{"score": 0.7, "summary": "x"}`, 0.5, "scale"},
		"score with a decimal comma":  {`{"score": "0,5", "summary": "x"}`, 0.5, "shape"},
		"minus zero":                  {`{"score": -0.0, "summary": "x"}`, 0, ""},
		"other spelling":              {`{"Score": 1, "Summary": "x"}`, 1, "shape"},
		"other name":                  {`{"rating": 1, "summary": "x"}`, 1, "shape"},
		"the same verdict twice":      {whole + "\n" + whole, 1, "prose"},
		"label":                       {"**Score:** 0.5\nThe query was too generic.", 0.5, "label"},
		"label as a fraction":         {"Score: 3/10. It failed.", 0.5, "label,scale"},
		"label in a sentence":         {"I would say the final score is 0.", 0, "label"},
		"label as a word":             {"Score: success", 1, "label,scale"},
		"label as a tag":              {"<score>0.5</score>", 0.5, "label"},
		"one number":                  {"0.5", 0.5, "label"},
		"one word":                    {"Failure.", 0, "label,scale"},
	} {
		t.Run(name, func(t *testing.T) {
			v, used, err := readReply(c.text, "NONCE")
			if err != nil {
				t.Fatalf("got error %v", err)
			}
			if v.score != c.score {
				t.Errorf("got score %v, want %v", v.score, c.score)
			}
			slices.Sort(used)
			want := strings.Split(c.repairs, ",")
			slices.Sort(want)
			if got := strings.Join(used, ","); got != strings.Join(want, ",") {
				t.Errorf("got rungs %q, want %q", got, c.repairs)
			}
		})
	}
}

func TestReadReplyRefusesRatherThanGuesses(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"nothing":                      {"", errNoScoreFound},
		"prose":                        {"I think the call went rather well.", errNoScoreFound},
		"a refusal":                    {"I'm sorry, but I can't help with that.", errNoScoreFound},
		"html":                         {"<html><body>502 Bad Gateway</body></html>", errNoScoreFound},
		"no score":                     {`{"summary": "x", "evaluation": "y"}`, errNoScoreFound},
		"empty object":                 {`{}`, errNoScoreFound},
		"score null":                   {`{"score": null}`, errNotANumber},
		"score NaN":                    {`{"score": NaN}`, errNotANumber},
		"score infinite":               {`{"score": Infinity}`, errNotANumber},
		"score is a list":              {`{"score": [1, 0]}`, errNoScore},
		"score true":                   {`{"score": true}`, errNotANumber},
		"score negative":               {`{"score": -1}`, errOddScore},
		"score between two scales":     {`{"score": 1.5}`, errOddScore},
		"score beyond all scales":      {`{"score": 1000}`, errOddScore},
		"score huge":                   {`{"score": 1e999}`, errNotANumber},
		"fraction above one":           {`{"score": "12/10"}`, errOddScore},
		"fraction of nothing":          {`{"score": "1/0"}`, errOddScore},
		"two objects":                  {`{"score": 1, "summary": "a"} {"score": 0, "summary": "b"}`, errAmbiguous},
		"two objects, one broken":      {`{"score": 1} {"score": -7}`, errAmbiguous},
		"two scores in an object":      {`{"score": 1, "score": 0}`, errTwoScores},
		"two labels":                   {"Score: 1.0 for success. Score: 0.0 for parameters.", errAmbiguous},
		"the scale explained":          {"The score is 1.0 for success, 0.5 for partial, 0.0 for failure.", errNoScoreFound},
		"the nonce":                    {`{"score": 1, "summary": "NONCE"}`, errEcho},
		"not text":                     {"{\"score\": 1, \"summary\": \"\xff\"}", errNotText},
		"cut inside the score":         {`{"summary": "x", "score": 0`, errNoScoreFound},
		"cut inside the score's text":  {`{"summary": "x", "score": "0.`, errNoScore},
		"cut before the score":         {`{"evaluation": "The query`, errNoScoreFound},
		"thinking without end":         {"<think>the score could be {\"score\": 1}", errNoScoreFound},
		"far too long":                 {`{"score": 1, "summary": "` + strings.Repeat("x", maxReply) + `"}`, errTooLongReply},
		"braces without end":           {strings.Repeat("{", 10_000), errNoScoreFound},
		"brackets without end":         {`{"score":` + strings.Repeat("[", 10_000), errNoScoreFound},
		"a quoted output with a score": {"The output was {\"score\": 1.0}. My verdict: {\"score\": 0, \"summary\": \"x\"}", errAmbiguous},
	} {
		t.Run(name, func(t *testing.T) {
			v, _, err := readReply(c.text, "NONCE")
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, error %v, want error %v", v, err, c.want)
			}
		})
	}
}

func TestReplyTextsAreCleanedAndCapped(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	v, _, err := readReply(`{"score": 1, "summary": "a\u0000b\nc\u200bd \u202eé\ud800", "evaluation": "`+long+`"}`, "NONCE")
	if err != nil {
		t.Fatal(err)
	}
	if want := "a b cd é\uFFFD"; v.summary != want {
		t.Errorf("got summary %q, want %q", v.summary, want)
	}
	if n := utf8.RuneCountInString(v.evaluation); n > maxEvaluation || !strings.HasSuffix(v.evaluation, "…") {
		t.Errorf("got an evaluation of %d characters that ends in %q", n, v.evaluation[len(v.evaluation)-5:])
	}
}

func TestReplyNamesFailedChecks(t *testing.T) {
	v, _, err := readReply(`{"score": 0, "failed_checks": ["input_format", "Valid_Inputs", "drop_tables", "input_format", 7], "summary": "x", "evaluation": "y"}`, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(v.failedChecks, " "), "input_format valid_inputs"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	v, _, err = readReply(`{"score": 0, "checks": {"right_tool": 1, "input_format": 0, "advances_task": false}}`, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(v.failedChecks, ","), "input_format,advances_task"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzReadReply(f *testing.F) {
	for _, s := range []string{
		`{"evaluation":"e","failed_checks":["input_format"],"score":0.5,"summary":"s"}`,
		"```json\n{\"score\": 1,}\n```", `{'score': '8/10', 'summary': 'it's'}`, `{"score": 0.5, "summary": "cut`,
		"<think>{\"score\":0}</think>{\"score\":1}", "Score: 0.5", `{"a":{"b":[{"score":1}]}}`, "{\"score\":\"\\ud83d\\ude00\"}",
		"{\"s\\u00core\": 1}", "{“score”: ‘1’}", "{score=1;}", "[{\"id\":\"c1\",\"score\":1},{\"id\":\"c2\",\"score\":0}]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, _, err := readReply(s, "NONCE")
		if err == nil {
			checkAnswer(t, v)
		}
		if strings.Contains(s, "NONCE") && err == nil {
			t.Error("an answer with the nonce was read")
		}
	})
}

func checkAnswer(t *testing.T, v answer) {
	t.Helper()
	if v.score != 0 && v.score != 0.5 && v.score != 1 {
		t.Errorf("got score %v", v.score)
	}
	for _, s := range []string{v.summary, v.evaluation, strings.Join(v.failedChecks, " ")} {
		if !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxEvaluation || strings.ContainsFunc(s, textsafe.Invisible) {
			t.Errorf("got text %q", s)
		}
	}
	if utf8.RuneCountInString(v.summary) > maxSummary || strings.Contains(v.summary, "\n") {
		t.Errorf("got summary %q", v.summary)
	}
}
