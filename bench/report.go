package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"
)

// report is everything that a run found.
type report struct {
	Quick   bool         `json:"quick"`
	Machine Machine      `json:"machine"`
	Goals   []Goal       `json:"goals"`
	Figures []partFigure `json:"figures"`
	Notes   []partNote   `json:"notes,omitempty"`
	Took    []took       `json:"seconds"`
	Failed  []partNote   `json:"failed,omitempty"`
	plots   []picture    // in the order in which they were drawn
}

type partFigure struct {
	Part string `json:"part"`
	Figure
}

type partNote struct {
	Part string `json:"part"`
	Text string `json:"text"`
}

type took struct {
	Part    string  `json:"part"`
	Seconds float64 `json:"seconds"`
}

// picture is a drawing with its file name and what it shows.
type picture struct{ part, name, caption, svg string }

func newReport(quick bool) *report { return &report{Quick: quick} }

// figure records a quantity and says it at once.
func (b *bench) figure(part, name, unit string, values []float64) Figure {
	f := figure(name, unit, values)
	b.report.Figures = append(b.report.Figures, partFigure{part, f})
	fmt.Fprintf(b.out, "   %-58s %s\n", name, f)
	return f
}

// note records a sentence.
func (b *bench) note(part, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.report.Notes = append(b.report.Notes, partNote{part, text})
	fmt.Fprintf(b.out, "   %s\n", text)
}

// atMost and atLeast record a goal; that of atLeast is for ratios.
func (b *bench) atMost(part, text string, limit float64, unit string, values []float64) {
	b.goal(Goal{Part: part, Text: text, Limit: limit, Figure: figure(text, unit, values)})
}

func (b *bench) atLeast(part, text string, limit float64, ratios []float64) {
	b.goal(Goal{Part: part, Text: text, Limit: limit, AtLeast: true, Figure: figure(text, "x", ratios)})
}

func (b *bench) goal(g Goal) {
	g.judge()
	b.report.Goals = append(b.report.Goals, g)
	fmt.Fprintf(b.out, " > %-58s %s  goal %s: %s\n", g.Text, g.Figure, g.limit(), g.Verdict)
}

func (g Goal) limit() string {
	sign := "<="
	if g.AtLeast {
		sign = ">="
	}
	return sign + " " + number(g.Limit) + unitSuffix(g.Figure.Unit)
}

// String is the median with its range.
func (f Figure) String() string {
	if f.Rounds == 0 {
		return "-"
	}
	if f.Rounds == 1 {
		return number(f.Median) + unitSuffix(f.Unit)
	}
	return fmt.Sprintf("%s%s (%s to %s)", number(f.Median), unitSuffix(f.Unit), number(f.Low), number(f.High))
}

func unitSuffix(unit string) string {
	if unit == "" || unit == "x" {
		return unit
	}
	return " " + unit
}

// number writes three significant digits, thousands with a comma.
func number(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case math.Abs(v) >= 100:
		text := fmt.Sprintf("%.0f", v)
		for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
			text = text[:i] + "," + text[i:]
		}
		return text
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	if v != 0 && math.Abs(v) < 0.01 {
		return fmt.Sprintf("%.1g", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// fail notes that a part could not be measured.
func (r *report) fail(part string, err error) {
	r.Failed = append(r.Failed, partNote{part, err.Error()})
}

// failure is the error of a run in which a part failed.
func (r *report) failure() error {
	var errs []error
	for _, f := range r.Failed {
		errs = append(errs, fmt.Errorf("%s: %s", f.Part, f.Text))
	}
	return errors.Join(errs...)
}

// print writes the goals as a table.
func (r *report) print(w io.Writer) {
	if len(r.Goals) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "goal\tlimit\tmeasured\t")
	for _, g := range r.Goals {
		fmt.Fprintf(t, "%s: %s\t%s\t%s\t%s\n", g.Part, g.Text, g.limit(), g.Figure, g.Verdict)
	}
	_ = t.Flush()
}

// writeJSON leaves the results for other programs. Numbers that could not be
// measured are left out, because JSON has no word for them.
func (r *report) writeJSON(path string) error {
	clean := *r
	clean.Figures, clean.Goals = nil, nil
	for _, f := range r.Figures {
		if !math.IsNaN(f.Median) {
			clean.Figures = append(clean.Figures, f)
		}
	}
	for _, g := range r.Goals {
		if math.IsNaN(g.Figure.Median) {
			g.Figure = Figure{Name: g.Figure.Name, Unit: g.Figure.Unit}
		}
		clean.Goals = append(clean.Goals, g)
	}
	data, err := json.MarshalIndent(clean, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// summary counts the verdicts.
func (r *report) summary() string {
	counts := map[string]int{}
	for _, g := range r.Goals {
		counts[g.Verdict]++
	}
	var parts []string
	for _, v := range []string{goalOK, goalOpen, goalMiss, goalNone} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	return strings.Join(parts, ", ")
}
