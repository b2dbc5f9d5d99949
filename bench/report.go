package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
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

// The lines of performance.md between which the results stand.
const (
	docsBegin = "<!-- bench: begin (written by go -C bench run . all -docs results) -->\n"
	docsEnd   = "<!-- bench: end -->\n"
)

// writeDocs renews the results in folder/performance.md and the plots beside it.
func (r *report) writeDocs(folder string) error {
	path := filepath.Join(folder, "performance.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	renewed, err := between(string(text), r.markdown())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range r.plots {
		if err := os.WriteFile(filepath.Join(folder, p.name), []byte(p.svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(renewed), 0o644)
}

var errNoMarkers = errors.New("the markers of the results are missing")

// between replaces what stands between the markers.
func between(text, results string) (string, error) {
	before, rest, ok := strings.Cut(text, docsBegin)
	_, after, ok2 := strings.Cut(rest, docsEnd)
	if !ok || !ok2 {
		return "", errNoMarkers
	}
	return before + docsBegin + results + docsEnd + after, nil
}

// markdown is the results for people.
func (r *report) markdown() string {
	var b strings.Builder
	kind := "A full run"
	if r.Quick {
		kind = "A quick run (small sizes, few rounds: wide spreads)"
	}
	fmt.Fprintf(&b, "%s on %s. Goals: %s.\n\n", kind, r.Machine, r.summary())
	b.WriteString(r.Machine.caveat())
	b.WriteString("| goal | limit | measured: median (range of the rounds) | |\n| --- | --- | --- | --- |\n")
	for _, g := range r.Goals {
		fmt.Fprintf(&b, "| %s: %s | %s | %s | %s |\n", g.Part, g.Text, g.limit(), g.Figure, g.Verdict)
	}
	for _, p := range parts() {
		r.section(&b, p)
	}
	return b.String()
}

// section is one part with its figures, notes and plots.
func (r *report) section(b *strings.Builder, p part) {
	var body strings.Builder
	for _, f := range r.Figures {
		if f.Part == p.name {
			fmt.Fprintf(&body, "| %s | %s |\n", f.Name, f.Figure)
		}
	}
	if body.Len() > 0 {
		table := "| figure | median (range) |\n| --- | --- |\n" + body.String()
		body.Reset()
		body.WriteString(table)
	}
	for _, n := range r.Notes {
		if n.Part == p.name {
			fmt.Fprintf(&body, "\n%s\n", n.Text)
		}
	}
	for _, n := range r.Failed {
		if n.Part == p.name {
			fmt.Fprintf(&body, "\nNot measured: %s\n", n.Text)
		}
	}
	for _, pl := range r.plots {
		if pl.part == p.name {
			fmt.Fprintf(&body, "\n![%s](%s)\n", pl.caption, pl.name)
		}
	}
	if body.Len() > 0 {
		fmt.Fprintf(b, "\n### %s: %s\n\n%s", p.name, p.about, body.String())
	}
}

// draw adds a plot.
func (b *bench) draw(part, name, caption string, c chart) {
	svg, err := c.svg()
	if err != nil {
		b.report.fail(part, err)
		return
	}
	b.report.plots = append(b.report.plots, picture{part, "performance-" + name + ".svg", caption, svg})
}
