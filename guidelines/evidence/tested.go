package evidence

import (
	"cmp"

	"memoryd"
	"memoryd/guidelines/rules"
	"memoryd/internal/errortext"
)

// A line of text in place of an answer is odd where at least so many answers, and this share
// of them, are JSON: a tool whose refusals are taken for answers gives many lines.
const (
	leastJSON = 2
	usually   = 1.0 / 3
)

// Rules finds the rules that a tool's calls (oldest first) support, including proposed ones.
func Rules(tool string, obs []Observation, proposed ...rules.Proposal) []rules.Rule {
	return rules.Find(tool, judged(obs), proposed...)
}

// RulesAndHints finds the rules, and what is for warnings alone since too few calls show it to be a rule.
func RulesAndHints(tool string, obs []Observation) (found, hints []rules.Rule) {
	calls := judged(obs)
	found = rules.Find(tool, calls)
	return found, rules.Hints(tool, calls, found)
}

// judged lists the judged calls as they are compared.
func judged(obs []Observation) (calls []rules.Call) {
	went, who := wentWrong(obs), partiesOf(obs)
	calls = make([]rules.Call, 0, len(obs))
	for i := range obs {
		ob := &obs[i]
		how := went(ob)
		if how == asUsual {
			continue
		}
		c := rules.Call{
			Key: ob.Key, Input: ob.Input, Leaves: ob.values(), Seen: ob.Seen, Bad: how != well, Odd: how == oddly,
			Failed: ob.Bad(), Empty: ob.Evaluation.FoundNothing(), Run: ob.Run, Named: ob.Named,
			Source: ob.Writer, Party: who.of[i], Shared: who.keyed, Seconds: ob.TimeCost, Tokens: ob.TokenCost,
		}
		if c.Bad {
			c.Message = errortext.Unwrap(cmp.Or(ob.Output, ob.Answer.Text))
		}
		calls = append(calls, c)
	}
	return calls
}

// Planned is the call as it was about to be made. It may be asked for by several at a time.
func (ob *Observation) Planned() *rules.Planned {
	return rules.Plan(&rules.Call{Input: ob.Input, Leaves: ob.leaves, Seen: ob.Seen, Named: ob.Named})
}

// outcome is how a call of a tool went.
type outcome int

const (
	badly   outcome = iota // it failed or only half succeeded
	oddly                  // it was judged good, and answered with a line of text by a tool that answers with JSON: see Answer
	well                   // it went well
	asUsual                // it is not judged, or found nothing, as most calls of the tool do: it tells nothing
)

// mostlyEmpty is the share of the judged calls from which on finding nothing is usual.
const mostlyEmpty = 0.75

// UsuallyEmpty reports whether the tool mostly finds nothing.
func (e *Evidence) UsuallyEmpty() bool {
	return float64(e.Empty) >= mostlyEmpty*float64(max(1, e.Judged))
}

// wentWrong says how the calls of a tool went.
func wentWrong(obs []Observation) func(ob *Observation) outcome {
	var e Evidence
	for i := range obs {
		e.count(&obs[i])
	}
	isJSON, isEmpty := UsuallyJSON(obs), e.UsuallyEmpty()
	return func(ob *Observation) outcome {
		switch v := &ob.Evaluation; {
		case v.State != memoryd.Judged, isEmpty && v.FoundNothing():
			return asUsual
		case !v.Good():
			return badly
		case isJSON && ob.Answer.Text != "":
			return oddly
		}
		return well
	}
}

// UsuallyJSON reports whether a tool answers successful calls with JSON.
func UsuallyJSON(obs []Observation) bool {
	all, json := 0, 0
	for i := range obs {
		if obs[i].Good() {
			all++
			if obs[i].Answer.JSON {
				json++
			}
		}
	}
	return json >= leastJSON && float64(json) >= usually*float64(all)
}
