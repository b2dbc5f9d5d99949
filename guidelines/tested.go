package guidelines

import (
	"slices"

	"memoryd"
	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
)

// compared is what the search for rules looks at of observations.
func compared(obs []evidence.Observation) (calls []rules.Call, places []int) {
	for i := range obs {
		ob := &obs[i]
		if ob.Evaluation.State != memoryd.Judged {
			continue
		}
		c := rules.Call{Input: ob.Input, Bad: !ob.Good(), Run: ob.Run, Source: ob.Writer, Before: ob.Before}
		if c.Bad {
			c.Message = constraints.Unwrap(ob.Output)
		}
		calls, places = append(calls, c), append(places, i)
	}
	return calls, places
}

// tested puts the rules that calls bear out before the recommendations that messages
// give, and drops those that are about the same calls.
func (f *findings) tested(all []practice) []practice {
	calls, places := compared(f.obs)
	explained := map[memoryd.CallKey]bool{}
	var out []practice
	for _, r := range rules.Find(calls) {
		p := practice{
			do: r.Line, counts: "otherwise " + ofN(r.Calls, r.Calls+r.Good) + " went wrong" + inRuns(r.Runs),
			calls: r.Calls, runs: r.Runs, slot: "rule " + r.ID(), tested: true, keys: map[memoryd.CallKey]bool{},
		}
		for _, at := range r.Behind {
			key := f.obs[places[at]].Key
			p.keys[key], explained[key] = true, true
		}
		for i := range f.evidence.Causes {
			c := &f.evidence.Causes[i]
			if slices.ContainsFunc(c.Calls, func(k memoryd.CallKey) bool { return p.keys[k] }) {
				p.ids = append(p.ids, c.ID)
			}
		}
		if len(p.ids) == 0 {
			p.ids = []string{statisticsGround}
		}
		out = append(out, p)
	}
	for _, p := range all {
		covered := 0
		for key := range p.keys {
			if explained[key] {
				covered++
			}
		}
		if len(p.keys) == 0 || 2*covered <= len(p.keys) {
			out = append(out, p)
		}
	}
	return out
}
