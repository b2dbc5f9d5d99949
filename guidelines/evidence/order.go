package evidence

import (
	"cmp"
	"slices"
	"strings"

	"memoryd/internal/stats"
)

// Order is a tool whose success earlier in the run went with fewer failures. Only
// the protecting direction is kept, and only of tools that a value comes from:
// otherwise it is mostly the harder tasks that call more tools.
type Order struct {
	Tool string `json:"tool"`
	// Table counts runs: those with a call after the tool, those without, and of each
	// those in which such a call failed.
	stats.Table
	P float64 `json:"p"`
	// Sole says that the runs with a call after the tool are of one party of several.
	Sole bool `json:"sole,omitempty"`
}

// orderLevel is the level of the test over runs, minOrderRuns how many are needed on
// each side.
const (
	orderLevel   = 0.01
	minOrderRuns = 3
)

// orders lists the tools that protect, the clearest first.
func (w *window) orders() []Order {
	var names []string
	for _, p := range w.provenance {
		for _, t := range p.Tools {
			if !slices.Contains(names, t.Tool) {
				names = append(names, t.Tool)
			}
		}
	}
	var found []Order
	for _, name := range names {
		type side struct{ calls, bad bool }
		runs := map[uint64]*[2]side{}
		by := backers{}
		for i := range w.obs {
			ob := &w.obs[i]
			if ob.Run == 0 || !ob.Named || !w.good(i) && !w.bad(i) {
				continue
			}
			if runs[ob.Run] == nil {
				runs[ob.Run] = &[2]side{}
			}
			s := &runs[ob.Run][0]
			if slices.Contains(ob.Before, name) {
				s = &runs[ob.Run][1]
				by.add(w.who.of[i])
			}
			s.calls, s.bad = true, s.bad || w.bad(i)
		}
		o := Order{Tool: name, Sole: w.who.sole(by)}
		add := func(n *int, is bool) {
			if is {
				*n++
			}
		}
		for _, r := range runs {
			add(&o.Without, r[0].calls)
			add(&o.WithoutBad, r[0].bad)
			add(&o.With, r[1].calls)
			add(&o.WithBad, r[1].bad)
		}
		if o.With < minOrderRuns || o.Without < minOrderRuns || o.WithoutBad*o.With <= o.WithBad*o.Without {
			continue
		}
		if o.P = stats.NewFisher(o.With + o.Without).P(o.Table); o.P < orderLevel {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b Order) int { return cmp.Or(cmp.Compare(a.P, b.P), strings.Compare(a.Tool, b.Tool)) })
	return found
}
