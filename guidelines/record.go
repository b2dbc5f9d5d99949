package guidelines

import (
	"encoding/json"
	"slices"
	"strings"

	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
)

// record is what a model says of one recommendation: with no condition it chooses the
// recommendation on its first cause, the most important first; with one it proposes a
// condition under which calls fail, which is looked up in the calls. It words nothing.
type record struct {
	When     *predicate `json:"when"`
	Evidence []string   `json:"evidence"`
}

// predicate is a property of an input that can be looked up in the calls.
type predicate struct {
	Parameter string `json:"parameter"`
	Predicate string `json:"predicate"`
	Value     any    `json:"value"`
}

// Reason says why a record of a model was dropped.
type Reason string

// The reasons.
const (
	DroppedEvidence  Reason = "unknown_evidence"  // it cites nothing, or what it was not shown
	DroppedNumber    Reason = "ungrounded_number" // a bound that no call and no message gave
	DroppedName      Reason = "unknown_name"      // a parameter that no call gave
	DroppedPredicate Reason = "unknown_predicate" // a condition that cannot be looked up
	DroppedCalls     Reason = "calls_disagree"    // the calls do not bear it out
	DroppedDuplicate Reason = "duplicate"         // it stands there already
)

// Review counts what became of a model's answer.
type Review struct {
	Kept    int
	Dropped map[Reason]int
}

// Limits on the records of a model.
const (
	maxRecords = 8
	// harmless is the share of good calls that a condition may hold for which a
	// record warns of.
	harmless = 0.05
)

// recordsOf reads an answer: JSON with items, in a code fence or not.
func recordsOf(answer string) ([]record, bool) {
	from, to := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	if from < 0 || to < from {
		return nil, false
	}
	var doc struct {
		Items []record `json:"items"`
	}
	if json.Unmarshal([]byte(answer[from:to+1]), &doc) != nil || doc.Items == nil {
		return nil, false
	}
	return doc.Items[:min(len(doc.Items), maxRecords)], true
}

// reviewer runs the records of a model over the calls.
type reviewer struct {
	f      *findings
	author string
	inputs []constraints.Input
}

// review keeps the records that the calls bear out: the causes that were chosen, by
// their place in the answer, and the conditions that hold.
func (r *reviewer) review(records []record) (chosen map[string]int, added []practice, review Review) {
	review.Dropped = map[Reason]int{}
	chosen = map[string]int{}
	for place, rec := range records {
		causes := r.cited(rec.Evidence)
		var reason Reason
		var p practice
		switch {
		case len(causes) == 0:
			reason = DroppedEvidence
		case rec.When != nil:
			p, reason = r.conditional(rec.When, causes)
			if slices.ContainsFunc(added, func(o practice) bool { return o.do == p.do }) {
				reason = DroppedDuplicate
			}
		case chosen[causes[0].ID] != 0:
			reason = DroppedDuplicate
		case !r.f.advised[causes[0].ID]:
			reason = DroppedCalls // there is nothing to choose
		}
		if reason != "" {
			review.Dropped[reason]++
			continue
		}
		review.Kept++
		if rec.When != nil {
			added = append(added, p)
			continue
		}
		chosen[causes[0].ID] = place + 1
	}
	return chosen, added, review
}

// cited are the causes of the evidence that a record cites; nil when one is unknown.
func (r *reviewer) cited(ids []string) []*evidence.Cause {
	var causes []*evidence.Cause
	for _, id := range ids {
		at := slices.IndexFunc(r.f.evidence.Causes, func(c evidence.Cause) bool { return c.ID == id })
		if at < 0 {
			return nil
		}
		causes = append(causes, &r.f.evidence.Causes[at])
	}
	return causes
}

// conditional counts the calls that meet a condition: failed ones in two
// runs or more, hardly a good one, and more often failed than the others.
func (r *reviewer) conditional(when *predicate, causes []*evidence.Cause) (p practice, _ Reason) {
	path, known := r.f.Parameter(when.Parameter)
	if !known && !r.f.Sent(when.Parameter) {
		return practice{}, DroppedName
	}
	if !known {
		path = when.Parameter
	}
	do, ok := when.avoid(path)
	if !ok {
		return practice{}, DroppedPredicate
	}
	if bound, isNumber := when.Value.(float64); isNumber && !r.counted(path, bound, causes) {
		return practice{}, DroppedNumber
	}
	with, bad, good, goods := 0, 0, 0, 0
	runs := map[uint64]bool{}
	behind := make([]bool, len(r.f.obs))
	for i := range r.f.obs {
		ob := &r.f.obs[i]
		is := when.holds(path, r.input(i))
		if ob.Good() {
			goods++
			if is {
				good++
			}
		}
		if !is {
			continue
		}
		with++
		if ob.Bad() {
			bad++
			runs[ob.Run], behind[i] = true, true
		}
	}
	e := &r.f.evidence
	switch {
	case bad < quorumCalls || len(runs) < quorumRuns, evidence.Sole(r.f.obs, func(i int) bool { return behind[i] }), bad*e.Judged <= e.Failed*with:
		return practice{}, DroppedCalls
	case float64(good) > harmless*float64(goods):
		return practice{}, DroppedCalls
	}
	p = practice{
		do: do, counts: ofN(bad, with) + " failed" + inRuns(len(runs)), calls: bad, runs: len(runs), slot: "said", author: r.author,
		issues: causes[0].Failed < causes[0].Count, label: causes[0].Names(),
	}
	for _, c := range causes {
		p.ids = append(p.ids, c.ID)
	}
	return p, ""
}

func (r *reviewer) input(i int) constraints.Input {
	if r.inputs == nil {
		r.inputs = make([]constraints.Input, len(r.f.obs))
		for k := range r.f.obs {
			r.inputs[k] = constraints.InputOf(r.f.obs[k].Input)
		}
	}
	return r.inputs[i]
}

// counted reports whether a bound stands in a call, or in what was read of a cause.
func (r *reviewer) counted(path string, bound float64, causes []*evidence.Cause) bool {
	if slices.ContainsFunc(causes, func(c *evidence.Cause) bool { return c.Op != "" && c.Bound == bound }) {
		return true
	}
	for i := range r.f.obs {
		values, _ := r.input(i).At(path)
		if slices.Contains(values, any(bound)) {
			return true
		}
	}
	return false
}

// avoid words a condition under which calls fail, from its typed parts: what to do
// instead.
func (p *predicate) avoid(path string) (string, bool) {
	name := "`" + path + "`"
	switch p.Predicate {
	case "given":
		return "Leave out " + name, p.Value == nil || p.Value == ""
	case "missing":
		return "Give " + name, p.Value == nil || p.Value == ""
	case "above", "below":
		n, ok := p.Value.(float64)
		limit := map[string]string{"above": " or less", "below": " or more"}[p.Predicate]
		return "Keep " + name + " at " + number(n) + limit, ok
	case "is", "starts_with", "ends_with", "contains":
		s, ok := p.Value.(string)
		how := map[string]string{"is": "", "starts_with": "a value that starts with ", "ends_with": "a value that ends with ", "contains": "a value that contains "}[p.Predicate]
		return "Do not set " + name + " to " + how + "\"" + s + "\"", ok && constraints.Token(s)
	}
	return "", false
}

func (p *predicate) holds(path string, in constraints.Input) bool {
	values, _ := in.At(path)
	switch p.Predicate {
	case "given":
		return len(values) > 0
	case "missing":
		return len(values) == 0
	}
	return slices.ContainsFunc(values, func(v any) bool {
		n, isNumber := v.(float64)
		bound, _ := p.Value.(float64)
		s, isText := v.(string)
		want, _ := p.Value.(string)
		switch p.Predicate {
		case "above":
			return isNumber && n > bound
		case "below":
			return isNumber && n < bound
		case "is":
			return isText && s == want
		case "starts_with":
			return isText && strings.HasPrefix(s, want)
		case "ends_with":
			return isText && strings.HasSuffix(s, want)
		}
		return isText && strings.Contains(s, want)
	})
}
