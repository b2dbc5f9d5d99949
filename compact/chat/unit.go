package chat

import (
	"fmt"
	"slices"
)

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
	c := checker{ms: ms, owner: -1, waiting: map[string]int{}, seen: map[string]bool{}}
	if first := slices.IndexFunc(ms, func(m Message) bool { return m.Kind != System }); first >= 0 {
		if m := &ms[first]; m.Role != "user" || len(m.Results) > 0 {
			c.problem(NotUserFirst, first, "")
		}
	}
	for i := range ms {
		m := &ms[i]
		if len(m.Results) == 0 && !m.Item {
			c.flush()
		}
		for _, r := range m.Results {
			c.result(i, r)
		}
		for _, call := range m.Calls {
			c.call(i, call)
		}
	}
	return c.problems
}

// checker goes through messages with the calls that still need results.
type checker struct {
	ms       []Message
	problems []Problem
	owner    int             // the message with the first of the calls; -1: there are none
	waiting  map[string]int  // how many results each of them still needs, by its key
	seen     map[string]bool // keys of all calls so far
}

func (c *checker) problem(f Fault, i int, id string) {
	c.problems = append(c.problems, Problem{f, i, id})
}

// call takes a call of message i.
func (c *checker) call(i int, call Call) {
	if c.owner != i && !c.ms[i].Item { // items in a row are parallel calls
		c.flush()
	}
	if c.owner < 0 {
		c.owner = i
	}
	c.seen[callKey(call)] = true
	c.waiting[callKey(call)]++
}

// result takes a result in message i.
func (c *checker) result(i int, r Output) {
	switch k := r.key(); {
	case c.waiting[k] > 0:
		c.waiting[k]--
	case c.seen[k]:
		c.problem(Detached, i, r.ID)
	default:
		c.problem(OrphanResult, i, r.ID)
	}
}

// flush tells of the calls that lack results, for they get none any more.
func (c *checker) flush() {
	for i := c.owner; i >= 0 && i < len(c.ms) && (i == c.owner || c.ms[i].Item); i++ {
		for _, call := range c.ms[i].Calls {
			if k := callKey(call); c.waiting[k] > 0 {
				delete(c.waiting, k)
				c.problem(Unanswered, i, call.ID)
			}
		}
	}
	clear(c.waiting)
	c.owner = -1
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
