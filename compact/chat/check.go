package chat

import "fmt"

// Fault is a way in which a strict provider refuses a conversation.
type Fault string

// The faults.
const (
	OrphanResult Fault = "orphan_result" // a result without a call before it
	Unanswered   Fault = "unanswered"    // a call without all its results, with messages after it
	Detached     Fault = "detached"      // something stands between a call and its results
	NotUserFirst Fault = "not_user_first"
)

// Problem is one fault and the message it is found at.
type Problem struct {
	Fault Fault
	Index int
	// ID is the tool call's id, where there is one.
	ID string
}

// String describes the problem in words.
func (p Problem) String() string { return fmt.Sprintf("message %d: %s %q", p.Index, p.Fault, p.ID) }

// Check lists what a strict provider would refuse. A call at the very end that
// still waits for its result is no fault.
func Check(ms []Message) []Problem {
	var ps []Problem
	waiting := map[string]int{} // key of call to how many results it still needs
	owner, need := -1, 0
	flush := func() {
		if need > 0 {
			for i := owner; i < len(ms) && (i == owner || ms[i].Item); i++ {
				for _, c := range ms[i].Calls {
					if k := callKey(c); waiting[k] > 0 {
						delete(waiting, k)
						ps = append(ps, Problem{Unanswered, i, c.ID})
					}
				}
			}
		}
		clear(waiting)
		owner, need = -1, 0
	}
	seen, first := map[string]bool{}, true
	for i := range ms {
		m := &ms[i]
		if m.Kind != System && first {
			first = false
			if m.Role != "user" || len(m.Results) > 0 {
				ps = append(ps, Problem{NotUserFirst, i, ""})
			}
		}
		if len(m.Results) == 0 && !m.Item {
			flush()
		}
		for _, r := range m.Results {
			k := callKey(Call{ID: r.ID, Name: r.Name, Legacy: r.Legacy})
			switch {
			case waiting[k] > 0:
				waiting[k]--
				need--
			case seen[k]:
				ps = append(ps, Problem{Detached, i, r.ID})
			default:
				ps = append(ps, Problem{OrphanResult, i, r.ID})
			}
		}
		for _, c := range m.Calls {
			if owner != i && (!m.Item || owner < 0) { // items in a row are parallel calls
				flush()
			}
			if owner < 0 {
				owner = i
			}
			seen[callKey(c)] = true
			waiting[callKey(c)]++
			need++
		}
	}
	return ps
}

// Introduced lists the problems of after that before did not have: compaction
// must never add one. Problems are compared by fault and id; an orphan result is
// a problem of after in any case.
func Introduced(before, after []Message) []Problem {
	old := map[Problem]int{}
	for _, p := range Check(before) {
		old[Problem{Fault: p.Fault, ID: p.ID}]++
	}
	var ps []Problem
	for _, p := range Check(after) {
		k := Problem{Fault: p.Fault, ID: p.ID}
		if p.Fault != OrphanResult && old[k] > 0 {
			old[k]--
			continue
		}
		ps = append(ps, p)
	}
	return ps
}
