package evidence

import (
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
	odd, who := Odd(obs), partiesOf(obs)
	calls = make([]rules.Call, 0, len(obs))
	for i := range obs {
		ob := &obs[i]
		if ob.Evaluation.State != memoryd.Judged {
			continue
		}
		c := rules.Call{
			Key: ob.Key, Input: ob.Input, Leaves: ob.values(), Seen: ob.Seen, Bad: !ob.Good(), Failed: ob.Bad(), Empty: ob.Evaluation.FoundNothing(),
			Run: ob.Run, Named: ob.Named, Source: ob.Writer, Party: who.of[i], Shared: who.keyed, Seconds: ob.TimeCost, Tokens: ob.TokenCost,
		}
		switch {
		case c.Bad:
			c.Message = errortext.Unwrap(ob.Output)
		case odd(ob):
			c.Bad, c.Odd, c.Message = true, true, ob.Answer.Text
		}
		calls = append(calls, c)
	}
	return calls
}

// Planned is the call as it was about to be made. It may be asked for by several at a time.
func (ob *Observation) Planned() *rules.Planned {
	return rules.Plan(&rules.Call{Input: ob.Input, Leaves: ob.leaves, Seen: ob.Seen, Named: ob.Named})
}

// Odd reports the good calls that a tool answered with a line of text although it otherwise
// answers with JSON: whatever the line says, callers did not ask for it.
func Odd(obs []Observation) func(ob *Observation) bool {
	is := UsuallyJSON(obs)
	return func(ob *Observation) bool { return is && ob.Good() && ob.Answer.Text != "" }
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
