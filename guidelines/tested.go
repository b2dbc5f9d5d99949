package guidelines

import (
	"slices"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// tested puts the rules that calls bear out before the recommendations that messages
// give, and drops those that are about the same calls.
func (f *findings) tested(all []practice) []practice {
	explained := map[memoryd.CallKey]bool{}
	var out []practice
	for _, r := range evidence.Rules(f.tool.Tool, f.obs) {
		p := practice{
			do: r.Line, counts: r.Found(),
			calls: r.Calls, runs: r.Runs, slot: "rule " + r.ID(), tested: true, keys: map[memoryd.CallKey]bool{},
		}
		for _, at := range r.Behind {
			key := f.obs[at].Key
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
