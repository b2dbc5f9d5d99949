package chat

import "fmt"

// Unit is kept or removed as a whole.
type Unit struct {
	// Index lists the messages, ascending. Other units can be in between if a result came
	// late.
	Index []int
	// Calls reports that the unit has tool calls; Tools names them in order.
	Calls bool
	Tools []string
	// Pending reports that a call has no result yet.
	Pending bool
	// Orphan reports that a result answers no earlier call. Such a unit is not allowed in a
	// valid conversation.
	Orphan bool
}

// First and Last are the places of the unit's first and last message.
func (u *Unit) First() int { return u.Index[0] }

// Last returns the place of the unit's last message.
func (u *Unit) Last() int { return u.Index[len(u.Index)-1] }

// Units splits a conversation into units, ordered by their first message. Each
// message is in exactly one.
//
// A result belongs to the newest earlier message that made a call with its id and still waits
// for the result. Ids may repeat in a conversation, as those of recorded agents do. A second
// result for an answered call stays with that call. Thinking in a message of its own belongs
// to the assistant message after it.
func Units(ms []Message) []Unit {
	p := pairing{root: make([]int, len(ms)), open: map[string][]int{}, owner: map[string]int{}}
	for i := range ms {
		p.root[i] = i
	}
	orphan := make([]bool, len(ms))
	for i := range ms {
		for _, r := range ms[i].Results {
			if !p.answer(i, r) {
				orphan[i] = true
			}
		}
		for _, c := range ms[i].Calls {
			k := callKey(c)
			p.open[k] = append(p.open[k], i)
			p.owner[k] = i
		}
		if i > 0 && ms[i-1].reasoningOnly() && ms[i].Kind == Assistant {
			p.join(i, i-1)
		}
	}
	p.joinPending()
	return p.units(ms, orphan)
}

// pairing joins messages into units: root is a union-find forest whose roots
// are the first messages.
type pairing struct {
	root  []int
	open  map[string][]int // messages whose call of this key waits, oldest first
	owner map[string]int   // the newest message with a call of this key
}

func callKey(c Call) string {
	if c.Legacy {
		return "f:" + c.Name
	}
	return "i:" + c.ID
}

// key is that of the call which a result answers.
func (o Output) key() string { return callKey(Call{ID: o.ID, Name: o.Name, Legacy: o.Legacy}) }

// Answered reports whether r is a result of the call.
func (c Call) Answered(r Output) bool { return callKey(c) == r.key() }

// answer joins message i with the call that r answers.
func (p *pairing) answer(i int, r Output) bool {
	k := r.key()
	if waiting := p.open[k]; len(waiting) > 0 {
		p.join(i, waiting[len(waiting)-1])
		p.open[k] = waiting[:len(waiting)-1]
		return true
	}
	if owner, ok := p.owner[k]; ok {
		p.join(i, owner)
		return true
	}
	return false
}

// joinPending joins a waiting call with every other call of its id, so that
// nothing that could be taken for its result is removed while it stays.
func (p *pairing) joinPending() {
	for k, waiting := range p.open {
		for _, i := range waiting {
			p.join(i, p.owner[k])
		}
	}
}

func (p *pairing) find(i int) int {
	for p.root[i] != i {
		p.root[i] = p.root[p.root[i]]
		i = p.root[i]
	}
	return i
}

func (p *pairing) join(a, b int) {
	a, b = p.find(a), p.find(b)
	p.root[max(a, b)] = min(a, b)
}

func (p *pairing) units(ms []Message, orphan []bool) []Unit {
	var us []Unit
	at := make(map[int]int, len(ms))
	for i := range ms {
		r := p.find(i)
		k, ok := at[r]
		if !ok {
			k = len(us)
			at[r] = k
			us = append(us, Unit{})
		}
		u := &us[k]
		u.Index = append(u.Index, i)
		u.Orphan = u.Orphan || orphan[i]
		for _, c := range ms[i].Calls {
			u.Calls = true
			u.Tools = append(u.Tools, c.Name)
		}
	}
	for _, waiting := range p.open {
		for _, i := range waiting {
			us[at[p.find(i)]].Pending = true
		}
	}
	return us
}

// Fault is a reason why a strict provider rejects a conversation.
type Fault string

// The faults.
const (
	OrphanResult Fault = "orphan_result" // a result without a call before it
	Unanswered   Fault = "unanswered"    // a call without all its results, with messages after it
	Detached     Fault = "detached"      // another message is between a call and its results
	NotUserFirst Fault = "not_user_first"
)

// Problem is a fault and the message that has it.
type Problem struct {
	Fault Fault
	Index int
	// ID is the tool call's id, if there is one.
	ID string
}

// String describes the problem in words.
func (p Problem) String() string { return fmt.Sprintf("message %d: %s %q", p.Index, p.Fault, p.ID) }

// Check lists what a strict provider would reject. A call at the very end that still waits
// for its result is not a fault.
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
			k := r.key()
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

// Introduced lists the problems of after that before did not have: compaction must never add
// one. It compares problems by fault and id; an orphan result always counts as a problem of
// after.
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
