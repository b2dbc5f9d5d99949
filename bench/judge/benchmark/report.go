package benchmark

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/internal/stats"
	"memoryd/internal/textsafe"
)

// Report is what a run found out, in the form of its JSON document.
type Report struct {
	// Judge says who judged, and Versions lists the judge versions of the
	// evaluations.
	Judge    string   `json:"judge"`
	Versions []string `json:"judge_versions"`
	// LeftOutExitCodes says whether calls were left out that only an exit code
	// labels as failed.
	LeftOutExitCodes bool `json:"left_out_exit_codes"`
	// MissingReplies counts requests for which no reply was recorded.
	MissingReplies int `json:"missing_replies"`
	// OtherInstructions counts replies that were recorded under instructions
	// other than those of this run.
	OtherInstructions int `json:"replies_to_other_instructions"`

	Sources       []Figures      `json:"sources"`
	All           Figures        `json:"all"`
	Disagreements []Disagreement `json:"disagreements,omitempty"`
}

// Figures are those of one recording, or of all together.
type Figures struct {
	Name string `json:"name"`
	// Calls were judged. Of these, Labelled are what the figures are about; the
	// others have no label or were left out.
	Calls           int `json:"calls"`
	Labelled        int `json:"labelled"`
	Unlabelled      int `json:"unlabelled"`
	LeftOut         int `json:"left_out"`
	WithoutVerdict  int `json:"without_verdict"`
	UnreadableLines int `json:"unreadable_lines"`

	Confusion Confusion `json:"confusion"`
	// Precision, Recall and F1 are of score 0.0 as a sign of label error.
	Precision Share    `json:"precision"`
	Recall    Share    `json:"recall"`
	F1        Estimate `json:"f1"`
	// Agreement is on the level, ErrorAgreement on error or not.
	Agreement      Share    `json:"agreement"`
	ErrorAgreement Share    `json:"error_agreement"`
	Kappa          Estimate `json:"kappa"`
	ErrorKappa     Estimate `json:"error_kappa"`
	Sure           Sure     `json:"sure"`
	Cost           Cost     `json:"cost"`
}

// Sure is about the calls for which the rules were sure, whoever judged.
type Sure struct {
	Coverage Share `json:"coverage"`
	// Right is how often they agree with the label on error or not, RightLevel
	// on the level.
	Right      Share     `json:"right"`
	RightLevel Share     `json:"right_level"`
	Confusion  Confusion `json:"confusion"`
}

// Confusion counts calls by label ("error", "partial", "ok"), then by score
// ("0.0", "0.5", "1.0", and "none" for calls without evaluation).
type Confusion map[string]map[string]int

// noScore is the column of calls without evaluation.
const noScore = "none"

func confusionOf(m *Matrix, unjudged *[levels]int) Confusion {
	c := Confusion{}
	for gold := range Level(levels) {
		row := map[string]int{}
		for score := range Level(levels) {
			row[score.score()] = m[gold][score]
		}
		if unjudged != nil {
			row[noScore] = unjudged[gold]
		}
		c[gold.String()] = row
	}
	return c
}

// Cost is what judging all calls cost, labelled or not.
type Cost struct {
	Calls int `json:"calls"`
	// Requests went to the model, re-asked ones included; the tokens are as its
	// server counted them.
	Requests         int64 `json:"requests"`
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	// CacheHits are calls that took the evaluation of an equal one, RuleHits those
	// that the rules decided, by rule in Rules.
	CacheHits     int64            `json:"cache_hits"`
	RuleHits      int64            `json:"rule_hits"`
	ModelVerdicts int64            `json:"model_verdicts"`
	Rules         map[string]int64 `json:"rules"`
	// Failures counts failed tries by reason.
	Failures map[string]int64 `json:"failures"`

	// TokensPerCall are prompt and completion; PlainTokensPerCall is what one
	// request for each call with a prompt of 576 tokens and the whole output
	// would cost, at four bytes a token, and ShareOfPlain the one by the other.
	TokensPerCall      float64 `json:"tokens_per_call"`
	PlainTokensPerCall float64 `json:"plain_tokens_per_call"`
	ShareOfPlain       float64 `json:"share_of_plain"`
	// SecondsPerCall is the mean time that judging a call took.
	SecondsPerCall float64 `json:"seconds_per_call"`
}

// Disagreement is a call whose score has another level than its label, or that
// got no evaluation. Its texts are excerpts, fit for a terminal.
type Disagreement struct {
	Source string `json:"source"`
	Line   int    `json:"line"`
	Tool   string `json:"tool"`
	Gold   string `json:"gold"`
	// Score is "0.0", "0.5", "1.0", or "none" where there is no evaluation.
	Score    string `json:"score"`
	JudgedBy string `json:"judged_by"`
	Rule     string `json:"rule"`
	// Sure says whether the rules were.
	Sure    bool   `json:"sure"`
	Summary string `json:"summary"`
	Input   string `json:"input"`
	Output  string `json:"output"`
}

// spending is what judging cost.
type spending struct {
	requests, prompt, completion int64
	cacheHits, modelVerdicts     int64
	rules, failures              map[string]int64
	plain                        int64
	took                         time.Duration
}

// plainPrompt is the prompt, in tokens, of the plain judge that a saving is
// measured against: one request for each call, with the whole output.
const plainPrompt = 576

// plainTokens is what the plain judge would pay for a call, at four bytes a
// token, its answer not counted.
func plainTokens(c *memoryd.Call) int64 { return plainPrompt + int64(len(c.Output)+3)/4 }

// spent takes in what was counted between two moments.
func (s *spending) spent(before, after evaluate.Stats) {
	s.requests += after.Requests - before.Requests
	s.prompt += after.PromptTokens - before.PromptTokens
	s.completion += after.CompletionTokens - before.CompletionTokens
	s.cacheHits += after.CacheHits - before.CacheHits
	s.modelVerdicts += after.ModelVerdicts - before.ModelVerdicts
	s.rules = sum(s.rules, difference(after.RuleVerdicts, before.RuleVerdicts))
	s.failures = sum(s.failures, difference(after.Failures, before.Failures))
}

func (s *spending) add(o *spending) {
	s.requests += o.requests
	s.prompt += o.prompt
	s.completion += o.completion
	s.cacheHits += o.cacheHits
	s.modelVerdicts += o.modelVerdicts
	s.rules = sum(s.rules, o.rules)
	s.failures = sum(s.failures, o.failures)
	s.plain += o.plain
	s.took += o.took
}

func sum(a, b map[string]int64) map[string]int64 {
	total := map[string]int64{}
	for _, m := range []map[string]int64{a, b} {
		for name, n := range m {
			total[name] += n
		}
	}
	return total
}

func difference(after, before map[string]int64) map[string]int64 {
	d := map[string]int64{}
	for name, n := range after {
		if n != before[name] {
			d[name] = n - before[name]
		}
	}
	return d
}

// figures gives the cost of judging the calls.
func (s *spending) figures(calls int) Cost {
	c := Cost{
		Calls: calls, Requests: s.requests, PromptTokens: s.prompt, CompletionTokens: s.completion,
		CacheHits: s.cacheHits, ModelVerdicts: s.modelVerdicts, Rules: s.rules, Failures: s.failures,
	}
	for _, n := range s.rules {
		c.RuleHits += n
	}
	if calls > 0 {
		c.TokensPerCall = float64(s.prompt+s.completion) / float64(calls)
		c.PlainTokensPerCall = float64(s.plain) / float64(calls)
		c.ShareOfPlain = c.TokensPerCall / c.PlainTokensPerCall
		c.SecondsPerCall = s.took.Seconds() / float64(calls)
	}
	return c
}

// Text writes the report as tables for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "judge: %s (version %s)\n", r.Judge, orDash(strings.Join(r.Versions, ", ")))
	fmt.Fprintf(&b, "calls: %d judged, %d of them measured; %d without label, %d left out, %d without verdict; %d lines unreadable\n",
		r.All.Calls, r.All.Labelled, r.All.Unlabelled, r.All.LeftOut, r.All.WithoutVerdict, r.All.UnreadableLines)
	if r.LeftOutExitCodes {
		b.WriteString("left out: calls with an empty output that only an exit code labels as failed\n")
	}
	if r.MissingReplies > 0 {
		fmt.Fprintf(&b, "no reply is recorded for %d requests\n", r.MissingReplies)
	}
	if r.OtherInstructions > 0 {
		fmt.Fprintf(&b, "%d replies were recorded under other instructions to the model\n", r.OtherInstructions)
	}
	rows := append([]Figures(nil), r.Sources...)
	if len(rows) != 1 {
		rows = append(rows, r.All)
	}
	confusionTable(&b, rows)
	errorTable(&b, rows)
	agreementTable(&b, rows)
	sureTable(&b, rows)
	costTable(&b, rows)
	listDisagreements(&b, r.Disagreements)
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes a heading, the columns' names and a row for each source.
func table(b *strings.Builder, heading string, columns []string, rows []Figures, cells func(*Figures) []string) {
	fmt.Fprintf(b, "\n%s\n", heading)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  source\t%s\n", strings.Join(columns, "\t"))
	for i := range rows {
		fmt.Fprintf(t, "  %s\t%s\n", textsafe.Line(rows[i].Name, showName), strings.Join(cells(&rows[i]), "\t"))
	}
	_ = t.Flush() // a Builder does not fail
}

func confusionTable(b *strings.Builder, rows []Figures) {
	var columns []string
	scores := []string{Error.score(), Partial.score(), OK.score(), noScore}
	for gold := range Level(levels) {
		columns = append(columns, "| "+gold.String()+": "+scores[0])
		columns = append(columns, scores[1:]...)
	}
	table(b, "confusion: calls by label, then by score", columns, rows, func(f *Figures) (cells []string) {
		for gold := range Level(levels) {
			for i, score := range scores {
				cell := fmt.Sprint(f.Confusion[gold.String()][score])
				if i == 0 {
					cell = "| " + cell
				}
				cells = append(cells, cell)
			}
		}
		return cells
	})
}

func errorTable(b *strings.Builder, rows []Figures) {
	table(b, "score 0.0 as a sign of label error", []string{"precision", "recall", "F1"}, rows, func(f *Figures) []string {
		return []string{share(f.Precision), share(f.Recall), figure(f.F1)}
	})
}

func agreementTable(b *strings.Builder, rows []Figures) {
	columns := []string{"on the level", "on error or not", "kappa, 3 levels", "kappa, error or not"}
	table(b, "agreement with the labels", columns, rows, func(f *Figures) []string {
		return []string{share(f.Agreement), share(f.ErrorAgreement), figure(f.Kappa), figure(f.ErrorKappa)}
	})
}

func sureTable(b *strings.Builder, rows []Figures) {
	columns := []string{"coverage", "right on error or not", "right on the level"}
	table(b, "where the rules are sure", columns, rows, func(f *Figures) []string {
		return []string{share(f.Sure.Coverage), share(f.Sure.Right), share(f.Sure.RightLevel)}
	})
}

func costTable(b *strings.Builder, rows []Figures) {
	columns := []string{"calls", "by rules", "by cache", "by model", "requests", "tokens", "a call", "of plain", "failed tries", "time a call"}
	table(b, "cost (plain: one request a call, 576 tokens and the whole output)", columns, rows, func(f *Figures) []string {
		c, failed := f.Cost, int64(0)
		for _, n := range c.Failures {
			failed += n
		}
		return []string{
			fmt.Sprint(c.Calls), fmt.Sprint(c.RuleHits), fmt.Sprint(c.CacheHits), fmt.Sprint(c.ModelVerdicts), fmt.Sprint(c.Requests),
			fmt.Sprint(c.PromptTokens + c.CompletionTokens), fmt.Sprintf("%.1f", c.TokensPerCall), fmt.Sprintf("%.3f", c.ShareOfPlain),
			fmt.Sprint(failed), fmt.Sprintf("%.3f ms", 1000*c.SecondsPerCall),
		}
	})
}

func listDisagreements(b *strings.Builder, list []Disagreement) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\nthe first %d disagreements\n", len(list))
	for _, d := range list {
		sure := "unsure"
		if d.Sure {
			sure = "sure"
		}
		fmt.Fprintf(b, "  %s:%d %s: label %s, score %s by %s, rule %s (rules %s)\n    summary  %s\n    input    %s\n    output   %s\n",
			textsafe.Line(d.Source, showName), d.Line, d.Tool, d.Gold, d.Score, orDash(d.JudgedBy), orDash(d.Rule), sure,
			orDash(d.Summary), orDash(d.Input), orDash(d.Output))
	}
}

func share(s Share) string {
	if s.Value == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f %s %d/%d", *s.Value, interval(s.CI95), s.K, s.N)
}

func figure(e Estimate) string {
	if e.Value == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f %s n=%d", *e.Value, interval(e.CI95), e.N)
}

func interval(i *stats.Interval) string { return fmt.Sprintf("[%.3f, %.3f]", i[0], i[1]) }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// How much of a call a disagreement shows, in characters.
const (
	showName = 80
	showText = 200
)

func disagreement(source string, e *entry, c *memoryd.Call, sure bool) Disagreement {
	d := Disagreement{
		Source: source, Line: e.line, Tool: textsafe.Line(c.Tool, showName), Gold: e.Gold.String(), Score: noScore,
		JudgedBy: textsafe.Line(c.Evaluation.JudgedBy, showName), Rule: textsafe.Line(c.Evaluation.Rule, showName), Sure: sure,
		Summary: textsafe.Line(c.Evaluation.Summary, showText),
		Input:   textsafe.Line(string(c.Input), showText), Output: textsafe.Line(c.Output, showText),
	}
	if c.Evaluation.State == memoryd.Judged {
		d.Score = LevelOf(c.Evaluation.Score).score()
	} else {
		d.Summary = textsafe.Line(c.Evaluation.LastError, showText)
	}
	return d
}
