// Package evidence computes what the kept calls of one tool show, before
// anybody puts it into words: which parameters there are, which conditions go
// with failure or with cost, which error messages come back, and what helped
// after a failure. It is deterministic, calls no model and believes no prose:
// it looks at inputs, outputs, scores, flags, times and tokens only.
//
// Each item carries the counts it was computed from and the keys of the calls
// behind it, so that every number can be computed again. Text in it (names,
// values, messages) comes from the calls and is untrusted: whoever publishes it
// must clean it first.
package evidence

import (
	"memoryd"
)

// Limits on what is looked at, so that the cost stays linear in the calls and a
// hostile input cannot blow it up.
const (
	maxDepth       = 8   // levels of an input
	maxElements    = 32  // elements of an array
	maxValues      = 256 // scalars of one input
	maxPaths       = 256 // parameter paths of a tool
	maxValueBytes  = 64  // longer texts are not compared as values
	maxCuts        = 7   // thresholds tried on one number
	minSupport     = 3   // calls on each side of a condition, and with the outcome
	minTrajectory  = 2   // distinct trajectories behind a condition, where they are known
	maxConditions  = 6   // published for one outcome and direction
	falseDiscovery = 0.05
)

// Evidence is what the calls of one tool show.
type Evidence struct {
	// Calls are all kept calls, Judged those with a verdict: Failed of them
	// scored 0, Partial 0.5 and Good 1.
	Calls   int `json:"calls"`
	Judged  int `json:"judged"`
	Failed  int `json:"failed"`
	Partial int `json:"partial"`
	Good    int `json:"good"`
	// Overstated counts calls that were flagged as successful and scored 0.
	Overstated int `json:"overstated"`
	// Trajectories counts the distinct trajectory ids that calls name.
	Trajectories int `json:"trajectories"`
	// Hypotheses counts the tests behind Conditions; their Q values
	// bound the false discovery rate over all of them together.
	Hypotheses int `json:"hypotheses"`
	// Rejected counts the conditions and costs that stood out but that a part of
	// the history speaks against.
	Rejected int `json:"rejected"`

	Parameters []Parameter    `json:"parameters"`
	Output     OutputProfile  `json:"output"`
	Conditions []Condition    `json:"conditions"`
	Costs      []CostPattern  `json:"costs"`
	Outliers   []Outliers     `json:"outliers"`
	Errors     []ErrorCluster `json:"errors"`
	// Runs counts the runs that the calls belong to, where these are known.
	Runs int `json:"runs,omitempty"`
	// Parties counts the API keys that recorded the calls, or, where it was one, the
	// agents that calls name.
	Parties int `json:"parties,omitempty"`
	// Causes are the rules that failed calls broke, those of most runs first.
	Causes []Cause `json:"causes,omitempty"`
	// Sources say where the values of parameters came from.
	Sources []Provenance `json:"sources,omitempty"`
	// Orders are tools that protect when they were called before, the clearest first.
	Orders   []Order   `json:"orders,omitempty"`
	Exemplar *Exemplar `json:"exemplar,omitempty"`
	Echoes   Echoes    `json:"echoes,omitzero"`
	// Unchanged counts the calls that sent a failed input of their run again as it
	// was, in UnchangedRuns runs.
	Unchanged     Retry `json:"unchanged"`
	UnchangedRuns int   `json:"unchanged_runs,omitempty"`
}

// Mine computes the evidence of calls, which belong to one tool and stand oldest
// first. It does not keep or change them.
func Mine(calls []memoryd.Call) Evidence {
	o := NewObserver()
	obs := make([]Observation, len(calls))
	for i := range calls {
		obs[i] = o.Observe(&calls[i])
	}
	return MineObserved(obs, calls)
}

// MineObserved is Mine for calls that were observed before, oldest first; recent are
// calls with their outputs, from which these are described. It notes in obs what it
// read of their bodies.
func MineObserved(obs []Observation, recent []memoryd.Call) Evidence {
	runs := runSet{}
	for i := range obs {
		if obs[i].Run != 0 {
			runs[obs[i].Run] = true
		}
	}
	m := newMiner(obs)
	e := Evidence{Calls: len(obs), Trajectories: m.trajectories, Runs: len(runs), Parties: m.who.known}
	for i := range obs {
		c := &obs[i].Call
		if c.Evaluation.State != memoryd.Judged {
			continue
		}
		e.Judged++
		switch {
		case c.Evaluation.Score >= memoryd.ScoreSuccess:
			e.Good++
		case c.Evaluation.Score > memoryd.ScoreFailure:
			e.Partial++
		default:
			e.Failed++
			if c.Success {
				e.Overstated++
			}
		}
	}
	well := newSet(len(obs))
	for i := range obs {
		if obs[i].Good() {
			well.add(i)
		}
	}
	e.Parameters = m.inputs.parameters(well, &m.who)
	e.Output = profileOutputs(recent)
	e.Outliers = outliers(obs)
	errors := clusterErrors(obs)
	e.Conditions, e.Costs, e.Hypotheses, e.Rejected = m.patterns()
	e.Errors = errors.items
	w := newWindow(obs)
	e.Sources, e.Orders, e.Exemplar, e.Echoes = w.provenance, w.orders(), w.exemplar(), w.echoes()
	e.Causes = w.causes(errors)
	e.Unchanged, e.UnchangedRuns = w.unchanged()
	return e
}

// miner holds what several parts of the mining look at.
type miner struct {
	calls  []Observation
	inputs *inputs
	// trajectory numbers the trajectory of each call from 1; 0 means unknown.
	trajectory   []int
	trajectories int
	who          parties
}

func newMiner(obs []Observation) *miner {
	m := &miner{calls: obs, inputs: readInputs(obs), trajectory: make([]int, len(obs)), who: partiesOf(obs)}
	number := map[uint64]int{}
	for i := range obs {
		id := obs[i].Run
		if !obs[i].Named {
			continue
		}
		if number[id] == 0 {
			number[id] = len(number) + 1
		}
		m.trajectory[i] = number[id]
	}
	m.trajectories = len(number)
	return m
}

// failed reports whether the call counts as a failure: by its verdict or, while
// there is none, by the caller's flag.
func failed(c *memoryd.Call) bool {
	if c.Evaluation.State == memoryd.Judged {
		return c.Evaluation.Score <= memoryd.ScoreFailure
	}
	return !c.Success
}

// wrong reports whether the call failed or was judged to have issues.
func wrong(c *memoryd.Call) bool {
	return failed(c) || c.Evaluation.State == memoryd.Judged && c.Evaluation.Score < memoryd.ScoreSuccess
}

// good reports whether a judge gave the full score.
func good(c *memoryd.Call) bool {
	return c.Evaluation.State == memoryd.Judged && c.Evaluation.Score >= memoryd.ScoreSuccess
}

func keysOf(calls []Observation, s set) []memoryd.CallKey {
	keys := make([]memoryd.CallKey, 0, s.count())
	s.each(func(i int) { keys = append(keys, calls[i].Key) })
	return keys
}
