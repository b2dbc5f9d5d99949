package evidence

import (
	"memoryd"
	"memoryd/guidelines/constraints"
	"memoryd/guidelines/rules"
)

// usually is the share of its answers that a tool gives as JSON when a text in their
// place is odd.
const usually = 0.5

// Rules finds the rules that the calls of a tool bear out, oldest first. Behind each
// stand the places of its calls among the observations.
func Rules(tool string, obs []Observation) []rules.Rule {
	var calls []rules.Call
	var places []int
	odd := Odd(obs)
	for i := range obs {
		ob := &obs[i]
		if ob.Evaluation.State != memoryd.Judged {
			continue
		}
		c := rules.Call{Input: ob.Input, Bad: !ob.Good(), Run: ob.Run, Named: ob.Named, Source: ob.Writer, Before: ob.Before, Sources: ob.Sources}
		switch {
		case c.Bad:
			c.Message = constraints.Unwrap(ob.Output)
		case odd(ob):
			c.Bad, c.Odd, c.Message = true, true, ob.Answer.Text
		}
		calls, places = append(calls, c), append(places, i)
	}
	found := rules.Find(tool, calls)
	for i := range found {
		for k, at := range found[i].Behind {
			found[i].Behind[k] = places[at]
			if obs[places[at]].Bad() {
				found[i].Failed++
			}
		}
	}
	return found
}

// Odd reports the good calls that were answered with a line of text by a tool that
// otherwise answers with JSON: whatever the line says, it is not what callers ask for.
func Odd(obs []Observation) func(ob *Observation) bool {
	all, json := 0, 0
	for i := range obs {
		if obs[i].Good() {
			all++
			if obs[i].Answer.JSON {
				json++
			}
		}
	}
	is := json >= 5 && float64(json) >= usually*float64(all)
	return func(ob *Observation) bool { return is && ob.Good() && ob.Answer.Text != "" }
}
