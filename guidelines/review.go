package guidelines

import (
	"encoding/json"
	"slices"
	"strings"

	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
)

// record is what a model says of one recommendation: with no condition it chooses a rule,
// the most important first; with one it proposes a condition under which calls fail, which
// is tested on the calls like all others. It words nothing.
type record struct {
	When     *rules.Proposal `json:"when"`
	Evidence []string        `json:"evidence"`
}

// Reason is why a record of a model was dropped.
type Reason string

// The reasons.
const (
	DroppedEvidence  Reason = "unknown_evidence"  // it cites nothing, or evidence that the model did not get
	DroppedPredicate Reason = "unknown_predicate" // the condition cannot be tested
	DroppedCalls     Reason = "calls_disagree"    // the calls do not support it
	droppedDuplicate Reason = "duplicate"         // it is already there
)

// Review counts what happened to a model's answer.
type Review struct {
	Kept    int
	Dropped map[Reason]int
}

// maxRecords bounds the records of a model.
const maxRecords = 8

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

// review takes in the records that the calls bear out: the rules that were chosen, by
// their place in the answer, and the conditions that hold.
func (f *findings) review(records []record) Review {
	review := Review{Dropped: map[Reason]int{}}
	f.chosen, f.proposed = map[string]int{}, nil
	before := f.evidence.Rules
	for _, rec := range records {
		if rec.When != nil && rec.When.Known() && !slices.ContainsFunc(before, func(r rules.Rule) bool { return r.Is(rec.When) }) {
			f.proposed = append(f.proposed, *rec.When)
		}
	}
	if len(f.proposed) > 0 {
		f.evidence.Rules = evidence.Rules(f.tool.Tool, f.obs, f.proposed...)
	}
	for place, rec := range records {
		id, reason := f.reviewed(&rec)
		if reason == "" && f.chosen[id] != 0 {
			reason = droppedDuplicate
		}
		if reason != "" {
			review.Dropped[reason]++
			continue
		}
		review.Kept++
		f.chosen[id] = place + 1
	}
	return review
}

// reviewed is the rule that a record is about, or why there is none.
func (f *findings) reviewed(rec *record) (id string, _ Reason) {
	var at int
	switch {
	case rec.When == nil && len(rec.Evidence) > 0:
		if at = slices.IndexFunc(f.evidence.Rules, func(r rules.Rule) bool { return r.GroundID() == rec.Evidence[0] }); at < 0 {
			return "", DroppedEvidence
		}
	case rec.When == nil:
		return "", DroppedEvidence
	case !rec.When.Known():
		return "", DroppedPredicate
	default:
		if at = slices.IndexFunc(f.evidence.Rules, func(r rules.Rule) bool { return r.Is(rec.When) }); at < 0 {
			return "", DroppedCalls
		}
	}
	return f.evidence.Rules[at].GroundID(), ""
}
