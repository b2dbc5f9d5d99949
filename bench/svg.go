package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// The size of a plot and its margins, in pixels.
const (
	plotWidth, plotHeight   = 720.0, 320.0
	marginLeft, marginRight = 64.0, 20.0
	marginTop, marginBottom = 36.0, 48.0
	innerWidth              = plotWidth - marginLeft - marginRight
	innerHeight             = plotHeight - marginTop - marginBottom
)

// colours stay apart for most eyes, in print as well (Okabe and Ito, 2008).
func colours() []string {
	return []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"}
}

// bar is one bar of a chart: a median with its range.
type bar struct {
	label string
	f     Figure
}

// bars draws horizontal bars from zero, the range as a line.
func bars(title, unit string, list []bar) string {
	const height, gap, left = 26.0, 12.0, 250.0
	top := 0.0
	for _, b := range list {
		top = math.Max(top, b.f.High)
	}
	total := marginTop + float64(len(list))*(height+gap) + 24
	var s strings.Builder
	begin(&s, title, total)
	scale := (plotWidth - left - 120) / math.Max(top, 1e-12)
	for i, b := range list {
		y := marginTop + float64(i)*(height+gap)
		text(&s, left-8, y+height*0.68, "end", b.label)
		fmt.Fprintf(&s, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.0f" fill="%s"/>`+"\n", left, y, b.f.Median*scale, height, colours()[i%6])
		fmt.Fprintf(&s, `<path d="M%.1f %.1fH%.1f" stroke="#222" stroke-width="2"/>`+"\n", left+b.f.Low*scale, y+height/2, left+b.f.High*scale)
		text(&s, left+b.f.High*scale+8, y+height*0.68, "start", number(b.f.Median)+unitSuffix(unit))
	}
	s.WriteString("</svg>\n")
	return s.String()
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

// at places v between 0 and 1.
func (a axis) at(v, low, high float64) float64 {
	if a.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if high == low {
		return 0
	}
	return (v - low) / (high - low)
}

// lines draws series over common axes. A logarithmic axis takes positive values.
func lines(title string, x, y axis, list []series) string {
	xLow, xHigh := bounds(list, x, func(s series) []float64 { return s.x })
	yLow, yHigh := bounds(list, y, func(s series) []float64 { return s.y })
	var s strings.Builder
	begin(&s, title, plotHeight)
	for _, v := range ticks(x, xLow, xHigh) {
		at := marginLeft + innerWidth*x.at(v, xLow, xHigh)
		fmt.Fprintf(&s, `<path d="M%.1f %.1fV%.1f" stroke="#ddd"/>`+"\n", at, marginTop, marginTop+innerHeight)
		text(&s, at, marginTop+innerHeight+16, "middle", number(v))
	}
	for _, v := range ticks(y, yLow, yHigh) {
		at := marginTop + innerHeight*(1-y.at(v, yLow, yHigh))
		fmt.Fprintf(&s, `<path d="M%.1f %.1fH%.1f" stroke="#ddd"/>`+"\n", marginLeft, at, marginLeft+innerWidth)
		text(&s, marginLeft-6, at+4, "end", number(v))
	}
	text(&s, marginLeft+innerWidth/2, plotHeight-8, "middle", x.label)
	text(&s, 8, marginTop-10, "start", y.label)
	for i, line := range list {
		colour := colours()[i%6]
		var path strings.Builder
		for j := range line.x {
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(j, 1)], marginLeft+innerWidth*x.at(line.x[j], xLow, xHigh),
				marginTop+innerHeight*(1-y.at(line.y[j], yLow, yHigh)))
		}
		fmt.Fprintf(&s, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", path.String(), colour)
		fmt.Fprintf(&s, `<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n", marginLeft+10, marginTop+16+16*float64(i), colour, html.EscapeString(line.label))
	}
	s.WriteString("</svg>\n")
	return s.String()
}

func begin(s *strings.Builder, title string, height float64) {
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12">`+"\n", plotWidth, height)
	fmt.Fprintf(s, `<rect width="%.0f" height="%.0f" fill="#fff"/>`+"\n", plotWidth, height)
	fmt.Fprintf(s, `<text x="%.0f" y="18" text-anchor="middle" font-size="14" font-weight="bold">%s</text>`+"\n", plotWidth/2, html.EscapeString(title))
}

func text(s *strings.Builder, x, y float64, anchor, what string) {
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(what))
}

// bounds are the lowest and highest values; a linear axis begins at zero.
func bounds(list []series, a axis, of func(series) []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range list {
		if v := of(s); len(v) > 0 {
			low, high = math.Min(low, slices.Min(v)), math.Max(high, slices.Max(v))
		}
	}
	switch {
	case math.IsInf(low, 1):
		return 0, 1
	case !a.log:
		return math.Min(0, low), math.Max(high, math.Min(0, low)+1e-9)
	case high <= low:
		return low, low * 10
	}
	return low, high
}

// ticks are round values between low and high.
func ticks(a axis, low, high float64) []float64 {
	var out []float64
	if a.log {
		for decade := math.Pow(10, math.Floor(math.Log10(low))); decade <= high; decade *= 10 {
			for _, m := range []float64{1, 2, 5} {
				if v := m * decade; v >= low && v <= high && (m == 1 || high/low < 1000) {
					out = append(out, v)
				}
			}
		}
		return out
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, m := range []float64{5, 2} {
		if (high-low)/(m*step) >= 3 {
			step *= m
			break
		}
	}
	for v := math.Ceil(low/step) * step; v <= high+step/1e6; v += step {
		out = append(out, v)
	}
	return out
}
