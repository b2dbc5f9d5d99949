package compact

import (
	"slices"
	"strings"

	"memoryd/compact/chat"
	"memoryd/compact/records"
)

// The state of a conversation is told in plain lines, made from its own acts: what
// the user asked and which limits they set, what they agreed to, what was done and
// refused, which tasks are open. No model is asked.

// stateLines bounds how many there are.
const stateLines = 12

// stateLine is one of them.
type stateLine struct {
	kind  stateKind
	place int
	text  string
}

type stateKind uint8

// The kinds, in the order in which they are written.
const (
	asked stateKind = iota
	limits
	agreed
	done
	refused
	tasks
)

// most is how many lines of a kind there may be; first how many of them come
// before any other when room is short.
func (k stateKind) most() int { return [...]int{3, 2, 2, 6, 3, 1}[k] }

func (k stateKind) worth() int { return [...]int{2, 3, 4, 5, 3, 6}[k] }

// story collects the state from what is removed.
type story struct {
	c     *conversation
	gone  []bool
	found []stateLine
}

func newStory(c *conversation, gone []bool) *story {
	s := &story{c: c, gone: gone}
	for i := range c.messages {
		if c.known[i] != nil || !gone[i] {
			continue
		}
		m := &c.messages[i]
		switch {
		case m.FromUser():
			s.person(i, m.Text())
		case len(m.Calls) > 0:
			for _, call := range m.Calls {
				s.call(i, call)
			}
		}
	}
	return s
}

func (s *story) add(kind stateKind, place int, text string) {
	s.found = append(s.found, stateLine{kind, place, "- " + s.c.safe.text(text)})
}

// carry takes a line of an earlier summary's state over.
func (s *story) carry(l string) {
	kind := done
	for k, head := range stateHeads {
		if strings.HasPrefix(l, "- "+head) {
			kind = stateKind(k)
		}
	}
	s.found = append(s.found, stateLine{kind, -1, l})
}

// stateHeads begin the lines of each kind.
//
//nolint:gochecknoglobals // a constant table
var stateHeads = [...]string{"User asked: ", "User's terms: ", "User agreed ", "Done: ", "Refused: ", "Tasks: "}

// person reads what a user wrote.
func (s *story) person(i int, text string) {
	flat := records.OneLine(text)
	if answer := agreement(flat); answer != "" {
		if proposal := s.proposal(i); proposal != "" {
			s.add(agreed, i, stateHeads[agreed]+`("`+answer+`") to: `+proposal)
		}
		return
	}
	for _, sentence := range sentences(flat) {
		switch {
		case limiting(sentence):
			s.add(limits, i, stateHeads[limits]+records.Shorten(sentence, 160))
		case requesting(sentence):
			s.add(asked, i, stateHeads[asked]+records.Shorten(sentence, 160))
		}
	}
}

// proposal is the sentence of the assistant that a user answered: the last
// question, or the last sentence before it.
func (s *story) proposal(i int) string {
	for j := i - 1; j >= 0 && j >= i-2; j-- {
		m := &s.c.messages[j]
		if m.Kind != chat.Assistant {
			continue
		}
		all := sentences(records.OneLine(m.Text()))
		for _, said := range slices.Backward(all) {
			if !strings.HasSuffix(said, "?") && len(said) > 30 {
				return records.Shorten(said, 200)
			}
		}
	}
	return ""
}

// call reads a call and what became of it.
func (s *story) call(i int, call chat.Call) {
	if list := tasksIn(call.Args); list != "" {
		s.add(tasks, i, stateHeads[tasks]+records.Shorten(list, 900))
		return
	}
	out, ok := s.c.resultOf(i, call)
	if !ok {
		return
	}
	if list := tasksIn(out.Text); list != "" && len(list) < 900 {
		s.add(tasks, i, stateHeads[tasks]+list)
		return
	}
	args := records.Brief(call.Args, 170)
	switch failure := failureIn(out.Text); {
	case failure != "":
		s.add(refused, i, stateHeads[refused]+call.Name+"("+args+"): "+records.Shorten(failure, 140))
	case changes(call.Name):
		line := stateHeads[done] + call.Name + "(" + args + ")"
		if told := records.News(call.Args, out.Text, 120); told != "" {
			line += " → " + told
		}
		s.add(done, i, line)
	}
}

// lines gives the state, the newest of each kind, in the order of the kinds.
func (s *story) lines() []stateLine {
	var out []stateLine
	for k := range stateKind(len(stateHeads)) {
		var of []stateLine
		seen := map[string]bool{}
		for _, l := range slices.Backward(s.found) {
			if l.kind == k && !seen[l.text] && len(of) < k.most() {
				seen[l.text] = true
				of = append(of, l)
			}
		}
		slices.Reverse(of)
		out = append(out, of...)
	}
	for len(out) > stateLines {
		out = slices.Delete(out, 0, 1)
	}
	return out
}

// stateWithin picks the lines that fit into room tokens, the most telling and
// newest first, and gives them in order.
func stateWithin(all []stateLine, room int, count func(string) int) []stateLine {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if d := all[b].kind.worth() - all[a].kind.worth(); d != 0 {
			return d
		}
		return b - a
	})
	var picked []int
	for _, k := range order {
		if n := count(all[k].text) + 1; n <= room {
			room -= n
			picked = append(picked, k)
		}
	}
	slices.Sort(picked)
	lines := make([]stateLine, len(picked))
	for i, k := range picked {
		lines[i] = all[k]
	}
	return lines
}
