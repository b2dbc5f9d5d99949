package preflight

import (
	"cmp"
	"math"
	"slices"
)

// Rule is a property of a planned call that its run and the history show, and that is
// associated with failure.
type Rule uint8

// The rules. A call meets at most one of the three rules on consecutive failures, and none where it repeats one.
const (
	RepeatsFailure Rule = iota // this input already failed in this run
	OnlyFailed                 // this input failed whenever it was tried
	NeverWorked                // the tool failed three times or more and never worked
	FailedThrice               // the tool failed three times in a row in this run
	FailedTwice
	FailedOnce
	Rules
)

// name is what a warning calls a rule.
func (r Rule) name() string {
	return [Rules]string{
		"repeats_failure", "only_failed", "never_worked", "failed_thrice", "failed_twice", "failed_once",
	}[r]
}

// rules is a set of them.
type rules uint16

func (s rules) has(r Rule) bool { return s&(1<<r) != 0 }

func (s *rules) put(r Rule) { *s |= 1 << r }

// list gives them in order.
func (s rules) list() (list []Rule) {
	for r := range Rules {
		if s.has(r) {
			list = append(list, r)
		}
	}
	return list
}

// Count counts the outcomes of judged calls that met a rule.
type Count struct {
	Calls, Failed int
}

func (c *Count) add(failed bool) {
	if c.Calls++; failed {
		c.Failed++
	}
}

// rate is the share of failures, half a call each way added.
func (c Count) rate() float64 { return (float64(c.Failed) + 0.5) / (float64(c.Calls) + 1) }

// allFailed reports calls of which none worked.
func (c Count) allFailed() bool { return c.Calls > 0 && c.Failed == c.Calls }

// Rates count the outcomes of the calls that met each rule.
type Rates [Rules]Count

// startRates are where the rate of a rule starts: that of the public recordings that
// docs/guidelines.md names. Each recording counts for at most 20 calls: otherwise one of shells alone would decide.
// After failures in a row, that is the rate of all calls of the tool: whether its failures come together, its own calls show.
var startRates = Rates{RepeatsFailure: {130, 129}, OnlyFailed: {34, 34}, NeverWorked: {29, 26}}

// startCalls is for how many calls of a tool the start counts.
const startCalls = 4

// of is the rate of a rule, shrunk towards the start (beta-binomial), and the number of
// calls that it counts for; base is the rate of all calls of the tool.
func (r *Rates) of(rule Rule, base float64) (rate, weight float64) {
	c, start := r[rule], base
	if rule < FailedThrice {
		start = startRates[rule].rate()
	}
	weight = float64(c.Calls) + startCalls
	return (float64(c.Failed) + startCalls*start) / weight, weight
}

// replay goes through a history as it happened and notes which rules each call
// met, from what was known before it.
type replay struct {
	runs   map[uint64]*runState
	inputs map[uint64]Count
	tool   Count
}

// runState is what a run has shown of a tool.
type runState struct {
	last   map[uint64]bool // by input, whether it failed when it was tried last
	streak int             // how many calls failed in a row, up to the newest
}

func newReplay() *replay {
	return &replay{runs: map[uint64]*runState{}, inputs: map[uint64]Count{}}
}

func (p *replay) run(id uint64) *runState {
	s := p.runs[id]
	if s == nil {
		s = &runState{last: map[uint64]bool{}}
		p.runs[id] = s
	}
	return s
}

// met lists the rules that a call meets before it is made: repeats says that its input failed in
// the run when it was tried last, streak how many calls failed in a row before it, tries are the
// calls with this input, and tool are all calls of the tool.
func met(repeats bool, streak int, tries, tool Count) (set rules) {
	switch {
	case repeats:
		set.put(RepeatsFailure)
	case streak == 0:
	case streak >= 3:
		set.put(FailedThrice)
	case streak == 2:
		set.put(FailedTwice)
	default:
		set.put(FailedOnce)
	}
	if tries.allFailed() {
		set.put(OnlyFailed)
	}
	if tool.allFailed() && tool.Calls >= 3 {
		set.put(NeverWorked)
	}
	return set
}

// next gives the rules that a call met, and takes its outcome in.
func (p *replay) next(c *learned) rules {
	run := p.run(c.run)
	tries := p.inputs[c.identity]
	set := met(run.last[c.identity], run.streak, tries, p.tool)
	if !c.judged {
		return set
	}
	run.last[c.identity] = c.failed()
	tries.add(c.failed())
	p.inputs[c.identity] = tries
	p.tool.add(c.failed())
	if run.streak++; !c.failed() {
		run.streak = 0
	}
	return set
}

// watch says which rules a tool's warnings go by: as many as together warn of at
// most a share of its good calls, the surest first.
//
// good counts, by the set of rules that they met, the good calls of the history.
func watch(tool *Rates, good map[rules]int, base, falseAlarms float64) (watched rules) {
	if falseAlarms <= 0 {
		return 0
	}
	order := make([]Rule, 0, Rules)
	rates := [Rules]float64{}
	for r := range Rules {
		rate, _ := tool.of(r, base)
		rates[r] = rate
		if logit(clip(rate))-logit(clip(base)) >= clearLift {
			order = append(order, r)
		}
	}
	slices.SortStableFunc(order, func(a, b Rule) int { return cmp.Compare(rates[b], rates[a]) })
	all := 0
	for _, n := range good {
		all += n
	}
	for _, r := range order {
		with := watched
		with.put(r)
		alarms := 0
		for set, n := range good {
			if set&with != 0 {
				alarms += n
			}
		}
		if (float64(alarms)+falseAlarms)/float64(all+1) <= falseAlarms {
			watched = with
		}
	}
	return watched
}

// clearLift is by how much the log odds of failure must rise for a warning: to
// three times the odds.
var clearLift = math.Log(3)

func clip(p float64) float64 { return min(max(p, 1e-4), 1-1e-4) }
