package main

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is one measured quantity over all rounds: the median and the range.
type Figure struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Rounds int     `json:"rounds"`
}

func figure(name, unit string, values []float64) Figure {
	f := Figure{Name: name, Unit: unit, Median: math.NaN(), Low: math.NaN(), High: math.NaN(), Rounds: len(values)}
	if len(values) == 0 {
		return f
	}
	sorted := slices.Sorted(slices.Values(values))
	f.Low, f.High = sorted[0], sorted[len(sorted)-1]
	f.Median = median(sorted)
	return f
}

// median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// ratios divides round by round, so that a slow minute of the machine is in both
// and cancels.
func ratios(above, below []float64) []float64 {
	out := make([]float64, min(len(above), len(below)))
	for i := range out {
		out[i] = above[i] / below[i]
	}
	return out
}

// The verdicts on a goal. A goal is missed only when the whole range is outside;
// a range that holds the limit is open.
const (
	goalOK   = "ok"
	goalOpen = "open"
	goalMiss = "miss"
	goalNone = "not measured"
)

// Goal is a promise and what was measured of it.
type Goal struct {
	Part    string  `json:"part"`
	Text    string  `json:"goal"`
	Limit   float64 `json:"limit"`
	AtLeast bool    `json:"at_least"`
	Figure  Figure  `json:"measured"`
	Verdict string  `json:"verdict"`
	Note    string  `json:"note,omitempty"`
}

// judge sets the verdict: the median decides between ok and open.
func (g *Goal) judge() {
	f := g.Figure
	inside := func(v float64) bool {
		if g.AtLeast {
			return v >= g.Limit
		}
		return v <= g.Limit
	}
	switch {
	case f.Rounds == 0 || math.IsNaN(f.Median):
		g.Verdict = goalNone
	case inside(f.Median):
		g.Verdict = goalOK
	case inside(f.Low) || inside(f.High):
		g.Verdict = goalOpen
	default:
		g.Verdict = goalMiss
	}
}

// colours stay apart for most eyes, in print as well (Okabe and Ito, 2008).
func colours() []color.Color {
	return []color.Color{
		color.RGBA{0x00, 0x72, 0xB2, 255},
		color.RGBA{0xD5, 0x5E, 0x00, 255},
		color.RGBA{0x00, 0x9E, 0x73, 255},
		color.RGBA{0xCC, 0x79, 0xA7, 255},
		color.RGBA{0xE6, 0x9F, 0x00, 255},
		color.RGBA{0x56, 0xB4, 0xE9, 255},
	}
}

const plotWidth = 720 * vg.Inch / 96

// chart is a drawing, or why there is none.
type chart struct {
	plot   *plot.Plot
	height vg.Length
	err    error
}

// svg draws the chart.
func (c chart) svg() (string, error) {
	if c.err != nil {
		return "", c.err
	}
	canvas := vgsvg.New(plotWidth, c.height)
	c.plot.Draw(draw.New(canvas))
	var s strings.Builder
	_, err := canvas.WriteTo(&s)
	return s.String(), err
}

// bar is one bar of a chart: a median with its range.
type bar struct {
	label string
	f     Figure
}

// ranged are bars from zero with their ranges.
type ranged struct {
	plotter.XYs
	plotter.XErrors
}

// bars draws horizontal bars from zero, the first on top, the range as a line.
func bars(title, unit string, list []bar) chart {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.X.Min = title, unit, 0
	labels := make([]string, len(list))
	var ranges ranged
	for i, b := range list {
		at := len(list) - 1 - i
		labels[at] = b.label + ": " + number(b.f.Median) + unitSuffix(unit)
		one, err := plotter.NewBarChart(plotter.Values{b.f.Median}, vg.Points(16))
		if err != nil {
			return chart{err: err}
		}
		one.Horizontal, one.XMin, one.Color = true, float64(at), colours()[i%len(colours())]
		p.Add(one)
		ranges.XYs = append(ranges.XYs, plotter.XY{X: b.f.Median, Y: float64(at)})
		ranges.XErrors = append(ranges.XErrors, struct{ Low, High float64 }{b.f.Median - b.f.Low, b.f.High - b.f.Median})
	}
	if len(list) > 0 {
		lines, err := plotter.NewXErrorBars(ranges)
		if err != nil {
			return chart{err: err}
		}
		p.Add(lines)
	}
	p.NominalY(labels...)
	return chart{plot: p, height: vg.Points(60) + vg.Length(len(list))*vg.Points(26)}
}

// series is one line of a chart.
type series struct {
	label string
	x, y  []float64
}

// axis is how a chart counts.
type axis struct {
	label string
	log   bool
}

// set gives the axis its scale: a linear one begins at zero, a logarithmic one
// takes positive values.
func (a axis) set(to *plot.Axis) {
	to.Label.Text = a.label
	if a.log {
		to.Scale, to.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	} else {
		to.Min = 0
	}
}

// lines draws series over common axes.
func lines(title string, x, y axis, list []series) chart {
	p := plot.New()
	p.Title.Text, p.Legend.Top, p.Legend.Left = title, true, true
	p.Add(plotter.NewGrid())
	for i, s := range list {
		points := make(plotter.XYs, len(s.x))
		for j := range s.x {
			points[j] = plotter.XY{X: s.x[j], Y: s.y[j]}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return chart{err: err}
		}
		line.Color, line.Width = colours()[i%len(colours())], vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(s.label, line)
	}
	x.set(&p.X)
	y.set(&p.Y)
	return chart{plot: p, height: 320 * vg.Inch / 96}
}
