package main

import (
	"math"
	"slices"
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
