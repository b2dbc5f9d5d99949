package benchmark

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"memoryd"
	"memoryd/internal/stats"
	"memoryd/internal/textsafe"
)

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
