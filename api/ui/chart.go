package ui

import (
	"fmt"
	"strings"

	"memoryd/ops"
)

// chart is the failure rate over time as a drawing, and as a table for readers of screens.
type chart struct {
	Width, Height int
	Line          string // the points of the rate
	Dots          []dot
	Marks         []mark // where guidelines were written
	Top, Label    string
	First, Last   string
	Rows          []ops.Period
}

type dot struct {
	X, Y int
	Text string
}

type mark struct {
	X     int
	Title string
}

// The size of the drawing in its own units.
const (
	chartWidth  = 720
	chartHeight = 160
)

// chartOf draws periods; nil where there are fewer than two.
func chartOf(periods []ops.Period) *chart {
	if len(periods) < 2 {
		return nil
	}
	c := &chart{Width: chartWidth, Height: chartHeight, Rows: periods}
	most := 0.05
	for _, p := range periods {
		most = max(most, rate(p))
	}
	top := 1.0
	for _, t := range []float64{0.5, 0.25, 0.1} {
		if most <= t {
			top = t
		}
	}
	c.Top = percent(top)
	layout := "2 Jan 2006"
	if step := periods[1].From.Sub(periods[0].From).Hours(); step < 24 {
		layout = "2 Jan 15:04"
	}
	c.First, c.Last = periods[0].From.Format(layout), periods[len(periods)-1].From.Format(layout)
	var points []string
	for i, p := range periods {
		x := i * chartWidth / (len(periods) - 1)
		if p.Written > 0 {
			c.Marks = append(c.Marks, mark{x, p.From.Format(layout) + ": " + plural(p.Written, "guideline", "guidelines") + " written"})
		}
		if p.Calls == 0 {
			continue
		}
		y := chartHeight - int(rate(p)/top*chartHeight)
		points = append(points, fmt.Sprintf("%d,%d", x, y))
		c.Dots = append(c.Dots, dot{x, y, fmt.Sprintf("%s: %d of %d failed", p.From.Format(layout), p.Failed, p.Calls)})
	}
	c.Line = strings.Join(points, " ")
	c.Label = fmt.Sprintf("Failure rate from %s to %s; the table below has the figures", c.First, c.Last)
	return c
}

func rate(p ops.Period) float64 {
	if p.Calls == 0 {
		return 0
	}
	return float64(p.Failed) / float64(p.Calls)
}
