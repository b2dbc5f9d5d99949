package evidence

import (
	"maps"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/rules"
)

// Repair is what worked after a failure: another tool and then the same call again, or another value for a
// parameter.
type Repair struct {
	Message string `json:"message"` // the id of what the tool had answered
	// Tool was called in between, or Changed got another value.
	Tool    string `json:"tool,omitempty"`
	Changed string `json:"changed,omitempty"`
	// With counts the next calls of the tool in the run that were made so, Without those that were not.
	With    Retry `json:"with"`
	Without Retry `json:"without"`
	Runs    int   `json:"runs"`

	backing
}

// Limits on repairs.
const (
	leastTries    = 3
	repairsAtMost = 0.1 // how many of a message chance alone may bring about
)

// step is from a call that went wrong to the next one of the tool in its run.
type step struct {
	worked     bool
	ways       []Repair // what was done: one tool or parameter each
	run, party uint64
}

// repairsOf lists what runs did between a failure and the next call of the tool, where these calls worked
// more often than the others after the same message.
func repairsOf(obs []Observation, who *parties, messages []Message) (found []Repair) {
	said := map[memoryd.CallKey]string{}
	for i := range messages {
		for _, k := range messages[i].Keys {
			said[k] = messages[i].ID
		}
	}
	steps, last := map[string][]step{}, map[uint64]*Observation{}
	for i := range obs {
		ob := &obs[i]
		if !ob.Named || ob.Evaluation.State != memoryd.Judged {
			continue
		}
		if before := last[ob.Run]; before != nil && said[before.Key] != "" {
			id := said[before.Key]
			steps[id] = append(steps[id], step{ob.Good(), waysOf(before, ob), ob.Run, who.of[i]})
		}
		last[ob.Run] = ob
	}
	for i := range messages {
		if best := repairOf(steps[messages[i].ID]); best != nil && !who.sole(best.by) {
			best.Message = messages[i].ID
			found = append(found, *best)
		}
	}
	return found
}

// waysOf are what was done from one call to the next: tools, where the input stayed the same, else the
// parameters that changed.
func waysOf(before, ob *Observation) (ways []Repair) {
	at := map[string]string{}
	for _, l := range before.values() {
		at[l.Path] = l.Text
	}
	changed := map[string]bool{}
	for _, l := range ob.values() {
		if was, had := at[l.Path]; (!had || was != l.Text) && l.Path != "" {
			p, _, _ := strings.Cut(strings.ReplaceAll(l.Path, "[]", ""), ".")
			changed[p] = true
		}
		delete(at, l.Path)
	}
	for p := range at {
		p, _, _ = strings.Cut(strings.ReplaceAll(p, "[]", ""), ".")
		changed[p] = p != ""
	}
	for p := range changed {
		ways = append(ways, Repair{Changed: p})
	}
	for i, tool := range ob.Before {
		if ob.Between&(1<<i) != 0 && len(changed) == 0 {
			ways = append(ways, Repair{Tool: tool})
		}
	}
	return ways
}

// repairOf is the way that the steps after one message bear out most; nil where they bear out none.
func repairOf(steps []step) (best *Repair) {
	by := map[string]*Repair{}
	var all, changed Retry // what is sent again as it was is no test of what to change
	for i := range steps {
		s := &steps[i]
		if all.add(s.worked); len(s.ways) > 0 && s.ways[0].Changed != "" {
			changed.add(s.worked)
		}
		for _, w := range s.ways {
			key := w.Tool + "\x00" + w.Changed
			if by[key] == nil {
				by[key] = &w
			}
			by[key].With.add(s.worked)
			by[key].add(s.run, s.party)
		}
	}
	least := repairsAtMost
	for _, key := range slices.Sorted(maps.Keys(by)) {
		r, of := by[key], all
		if r.Changed != "" {
			of = changed
		}
		chance := rules.Chance(r.With.Succeeded, of.Succeeded, r.With.Tries-r.With.Succeeded, of.Tries-of.Succeeded) * float64(len(by))
		if r.With.Tries < leastTries || len(r.runs) < sharedRuns || 2*r.With.Succeeded < r.With.Tries || chance > least {
			continue
		}
		best, least = r, chance
		best.Runs, best.Without = len(r.runs), Retry{of.Tries - r.With.Tries, of.Succeeded - r.With.Succeeded}
	}
	return best
}

// add counts an attempt.
func (r *Retry) add(worked bool) {
	if r.Tries++; worked {
		r.Succeeded++
	}
}
