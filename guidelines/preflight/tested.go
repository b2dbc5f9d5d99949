package preflight

import (
	"fmt"
	"hash/maphash"
	"slices"

	"memoryd"
	"memoryd/guidelines/constraints"
	tested "memoryd/guidelines/rules"
)

// testedRule names the warnings that go by a rule which calls bear out.
const testedRule = "tested_rule"

// warned is how many calls a rule must have failed for a planned one to be warned of.
const warned = 5

// test finds the rules that the calls of the tool bear out.
func (m *Model) test(calls []memoryd.Call) {
	seed := maphash.MakeSeed()
	hash := func(s string) uint64 { return maphash.String(seed, s) }
	var list []tested.Call
	var keys []memoryd.CallKey
	for i := range calls {
		c := &calls[i]
		if c.Evaluation.State != memoryd.Judged {
			continue
		}
		t := tested.Call{
			Input: c.Input, Bad: c.Evaluation.Score < memoryd.ScoreSuccess, Run: hash(c.Run()), Source: hash(c.Source()),
			Before: m.options.Observed[c.Key].Before,
		}
		if t.Bad {
			t.Message = constraints.Unwrap(c.Output)
		}
		list, keys = append(list, t), append(keys, c.Key)
	}
	m.tested = tested.Find(list)
	for i := range m.tested {
		var behind []memoryd.CallKey
		for _, at := range m.tested[i].Behind {
			behind = append(behind, keys[at])
		}
		m.testedKeys = append(m.testedKeys, behind)
	}
}

// broken are the warnings of the rules that a planned call breaks.
func (m *Model) broken(v *view) []Warning {
	var before []string
	for i := range v.RunCalls {
		if failed, known := outcome(&v.RunCalls[i]); known && !failed && !slices.Contains(before, v.RunCalls[i].Tool) {
			before = append(before, v.RunCalls[i].Tool)
		}
	}
	var out []Warning
	for i := range m.tested {
		r := &m.tested[i]
		if r.Calls < warned || !r.Holds(v.in.raw, before) {
			continue
		}
		out = append(out, Warning{
			Text: fmt.Sprintf("%s: otherwise %d of %d calls went wrong, in %d runs.", r.Line, r.Calls, r.Calls+r.Good, r.Runs), Rule: testedRule, Calls: m.testedKeys[i],
			Severity: severityOf(float64(r.Calls) / float64(r.Calls+r.Good+1)),
		})
	}
	return out
}
