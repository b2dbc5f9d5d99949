package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The lines of docs/performance.md between which the results stand.
const (
	docsBegin = "<!-- bench: begin (written by go -C bench run . all -docs ../docs) -->\n"
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
