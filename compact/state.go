package compact

import (
	"fmt"
	"slices"
	"strings"

	"memoryd/compact/chat"
	"memoryd/compact/records"
	"memoryd/internal/textsafe"
)

// The state of a conversation is told in plain lines, made from its own acts: what
// the user asked and which limits they set, what they agreed to, what was done and
// refused, which tasks are open. No model is asked.

// stateLines bounds how many there are.
const stateLines = 12

// stateLine is one of them. brief is a shorter form, "" for none.
type stateLine struct {
	kind        stateKind
	place       int
	worth       int
	text, brief string
	calls       []int // the messages with the calls that it tells together
}

type stateKind uint8

// The kinds, in the order in which they are written.
const (
	asked stateKind = iota
	limits
	agreed
	proposed
	found
	spoke
	done
	refused
	tasks
)

// most is how many lines of a kind there may be.
func (k stateKind) most() int { return [...]int{3, 2, 2, 1, 5, 1, 6, 3, 1}[k] }

// worth says which lines come before others when room is short.
func (k stateKind) worth() int { return [...]int{2, 3, 4, 7, 4, 6, 5, 3, 6}[k] }

// urgent is what a failure is worth more that nothing has repaired yet, and a
// proposal that the user agreed to.
const urgent = 3

// open is what an act is worth more that was done for the request that is worked on.
const open = 1

// stateHeads begin the lines of each kind.
//
//nolint:gochecknoglobals // a constant table
var stateHeads = [...]string{"User asked: ", "User's terms: ", "User agreed ", "Assistant proposed: ", "Assistant found: ", "Assistant said last: ", "Done: ", "Refused: ", "Tasks: "}

// proposalRoom is the room of a summary, in tokens, from which a proposal that did not
// stay is told in it.
const proposalRoom = 240

// act is a call that changed something or failed.
type act struct {
	place           int
	name, args, out string
	failure         string
	times           int
	argsText        string
}

// story collects the state from what is removed.
type story struct {
	c     *conversation
	gone  []bool
	room  int // tokens of the summary
	share int // of these, the state's
	found []stateLine
	acts  []act
}

func newStory(c *conversation, gone []bool, room, share int) *story {
	s := &story{c: c, gone: gone, room: room, share: share}
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
	said, asked, _ := c.tail()
	s.words(asked, proposed)
	if said >= 0 && c.units[said].First() > c.request && !c.structured(said) {
		s.words(said, spoke)
	}
	return s
}

// findings tells what the assistant concluded from outputs of plain text, since the
// request: what such an output meant is told by nothing else. The last of these texts
// is told whole.
func (s *story) findings() {
	last, _, _ := s.c.tail()
	for u := 1; u < len(s.c.units); u++ {
		i := s.c.units[u].First()
		if u == last || i <= s.c.request || !s.gone[i] || s.c.messages[i].Kind != chat.Assistant || !s.c.plain(u-1) {
			continue
		}
		text := concluded(condensed(s.c.messages[i].Text(), 4*findingLimit))
		l := stateLine{kind: found, place: i, text: records.Shorten(text, findingLimit), brief: records.Shorten(text, findingLimit/2)}
		if records.Names(text) {
			l.worth = urgent
		}
		s.add(l)
	}
}

// findingLimit bounds what is told of one conclusion, in bytes.
const findingLimit = 200

// words tells what the assistant said last, where it did not stay: it is proposed when
// the current request answers it, else the thought that the next step follows from.
func (s *story) words(u int, kind stateKind) {
	if u < 0 || !s.gone[s.c.units[u].First()] || kind == proposed && s.room < proposalRoom {
		return
	}
	i := s.c.units[u].First()
	l := stateLine{kind: kind, place: i}
	share := 8
	if kind == spoke || agreement(records.OneLine(s.c.messages[s.c.request].Text())) != "" { // what is agreed to is what comes next
		share, l.worth = 9, urgent
	}
	limit := min(900, max(120, share*s.share))
	l.text, l.brief = condensed(s.c.messages[i].Text(), limit), condensed(s.c.messages[i].Text(), limit/2)
	s.add(l)
}

// add takes a line whose texts lack their head.
func (s *story) add(l stateLine) {
	if l.text == "" {
		return
	}
	l.text = s.line(l.kind, l.text)
	if l.brief != "" {
		l.brief = s.line(l.kind, l.brief)
	}
	l.worth += l.kind.worth()
	s.found = append(s.found, l)
}

// line writes a line without secrets, and without a consent that no user gave where
// somebody else's words stand in it.
func (s *story) line(kind stateKind, text string) string {
	text = s.c.safe.text(stateHeads[kind] + text)
	if kind != asked && kind != limits {
		text = s.c.agreed().without(text)
	}
	return "- " + text
}

// carry takes a line of an earlier summary's state over.
func (s *story) carry(l string) {
	kind := done
	for k, head := range stateHeads {
		if strings.HasPrefix(l, "- "+head) {
			kind = stateKind(k)
		}
	}
	s.found = append(s.found, stateLine{kind: kind, place: -1, worth: kind.worth(), text: l})
}

// person reads what a user wrote.
func (s *story) person(i int, text string) {
	flat := records.OneLine(text)
	if answer := agreement(flat); answer != "" && !s.tellsMore(i, answer) {
		if what := s.agreedTo(i); what != "" {
			s.add(stateLine{kind: agreed, place: i, text: `("` + answer + `") to: ` + what})
		}
		return
	}
	for _, sentence := range sentences(flat) {
		l := stateLine{kind: asked, place: i, text: records.Shorten(sentence, 160), brief: records.Shorten(sentence, 80)}
		switch {
		case limiting(sentence):
			l.kind = limits
			s.add(l)
		case requesting(sentence):
			s.add(l)
		}
	}
}

// tellsMore reports an answer with a number or an identifier that the assistant had
// not named: it gives what was asked for.
func (s *story) tellsMore(i int, answer string) bool {
	if i == 0 {
		return true
	}
	said := s.c.messages[i-1].Text()
	for w := range strings.FieldsSeq(answer) {
		if w = strings.Trim(w, ".,:;!?()$€"); strings.ContainsAny(w, "0123456789") && !strings.Contains(said, w) {
			return true
		}
	}
	return false
}

// agreedTo is what the assistant had said when a user agreed: the sentence that
// names the most.
func (s *story) agreedTo(i int) string {
	for j := i - 1; j >= 0 && j >= i-2; j-- {
		m := &s.c.messages[j]
		if m.Kind != chat.Assistant {
			continue
		}
		best, most := "", -1
		for _, said := range slices.Backward(sentences(condensed(m.Text(), 2000))) {
			if n := strings.Count(said, "; ") + countIdents(said); n > most && len(said) > 20 {
				best, most = said, n
			}
		}
		return records.Shorten(best, 200)
	}
	return ""
}

// call reads a call and what became of it.
func (s *story) call(i int, call chat.Call) {
	if list := tasksIn(call.Args); list != "" {
		s.add(stateLine{kind: tasks, place: i, text: records.Shorten(list, 900)})
		return
	}
	out, ok := s.c.resultOf(i, call)
	if !ok {
		return
	}
	if list := s.reported(tasksIn(out.Text)); list != "" && len(list) < 900 {
		s.add(stateLine{kind: tasks, place: i, text: list})
		return
	}
	a := act{place: i, args: call.Args, out: out.Text, failure: failureIn(out.Text), times: 1}
	a.name, a.argsText = acted(call)
	if a.failure == "" && !changes(a.name) {
		return
	}
	for k := range s.acts {
		if b := &s.acts[k]; a.failure != "" && b.failure == a.failure && b.name == a.name {
			b.place, b.args, b.argsText, b.times = a.place, a.args, a.argsText, b.times+1
			return
		}
	}
	s.acts = append(s.acts, a)
}

// tell makes lines of the newest acts of a kind.
func (s *story) tell() {
	slices.SortStableFunc(s.acts, func(a, b act) int { return a.place - b.place })
	repaired, later := map[string]bool{}, map[string]bool{} // names and subjects of newer acts
	n := [...]int{refused: refused.most(), done: done.most()}
	together := s.acknowledged()
	var lines []stateLine
	for k := range slices.Backward(s.acts) {
		a := &s.acts[k]
		args := records.Brief(a.argsText, 170)
		kind, told := done, ""
		if l := together[a.name]; l != nil && a.acknowledged() {
			if repaired[a.name] = true; a.place == l.place && n[done] > 0 {
				lines = append(lines, *l)
				n[done]--
			}
			continue
		}
		l := stateLine{place: a.place}
		if a.failure != "" {
			kind, told = refused, ": "+s.reported(records.Shorten(a.failure, 140))
			if a.times > 1 {
				told += fmt.Sprintf(" (%d times)", a.times)
			}
			if !repaired[a.name] {
				l.worth = urgent
			}
		} else {
			repaired[a.name] = true
			subject, _, _ := strings.Cut(args, ", ")
			if a.place > s.c.request && records.Structured(a.out) && !later[subject] {
				l.worth = open // done again it would be done twice
			}
			later[subject] = true
			if n[kind] > 0 {
				if news := s.reported(records.News(a.args, a.out, 120, s.known(a))); news != "" {
					told = " → " + news
				}
			}
		}
		if n[kind]--; n[kind] < 0 {
			continue
		}
		l.kind = kind
		l.text = a.name + "(" + args + ")" + told
		l.brief = a.name + "(" + records.Shorten(args, 50) + ")" + records.Shorten(told, 110)
		lines = append(lines, l)
	}
	for _, l := range slices.Backward(lines) {
		s.add(l)
	}
}

// acknowledged reports an act that its output says no more of than that it was done.
func (a *act) acknowledged() bool {
	return a.failure == "" && !records.Structured(a.out) && len(a.out) < 400
}

// acknowledged gives the arguments of such acts by name, of those that are told together.
func (s *story) acknowledged() map[string]*stateLine {
	const mostCalls, each = 8, 60
	args, calls := map[string][]string{}, map[string][]int{}
	for i := range s.acts {
		if a := &s.acts[i]; a.acknowledged() {
			args[a.name], calls[a.name] = append(args[a.name], a.argsText), append(calls[a.name], a.place)
		}
	}
	out := map[string]*stateLine{}
	for name, all := range args {
		if len(all) < 2 {
			continue
		}
		from := max(0, len(all)-mostCalls)
		if text, ok := records.Alike(all[from:], each); ok {
			if from > 0 {
				text += fmt.Sprintf("; %d before", from)
			}
			out[name] = &stateLine{kind: done, place: calls[name][len(all)-1], text: name + "(" + text + ")", brief: name + "(" + records.Shorten(text, 110) + ")", calls: calls[name][from:]}
		}
	}
	return out
}

// reported is what a tool said, unless it steers the reader.
func (s *story) reported(text string) string {
	if _, steers := textsafe.SuspectInstruction(text); steers && wordy(text) {
		return ""
	}
	return text
}

// known tells which values stood in earlier messages that speak of what a call was
// about.
func (s *story) known(a *act) func(string) bool {
	var about []string
	for _, w := range strings.FieldsFunc(a.args, func(r rune) bool { return strings.ContainsRune(" \",:{}[]\n", r) }) {
		if len(w) > 3 && strings.ContainsAny(w, "0123456789") && len(about) < 4 {
			about = append(about, w)
		}
	}
	var texts []string
	for j := a.place - 1; j >= 0 && len(texts) < 5; j-- {
		for _, r := range s.c.messages[j].Results {
			if slices.ContainsFunc(about, func(w string) bool { return strings.Contains(r.Text, w) }) {
				texts = append(texts, r.Text)
			}
		}
	}
	return func(v string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, v) })
	}
}

// lines gives the state, the newest of each kind, in the order of the kinds.
func (s *story) lines() []stateLine {
	s.tell()
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

// needed is the worth from which a line may take more than the room of the others.
const needed = 5

// stateWithin picks the lines that fit into room tokens, or into more for those that
// an agent cannot go on without, the most telling and newest first, and
// gives them in order. A line that is too long stands there in its brief form.
func stateWithin(all []stateLine, room int, count func(string) int) []stateLine {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if d := all[b].worth - all[a].worth; d != 0 {
			return d
		}
		return b - a
	})
	var picked []int
	texts := make([]string, len(all))
	used := 0
	for _, k := range order {
		most, own := room, false // it takes nothing of the others' room
		if all[k].worth >= needed {
			most = 2 * room
		}
		switch kind := all[k].kind; {
		case kind == found:
			most = 5 * room / 2
		case kind == done && all[k].worth > kind.worth():
			most = 4 * room
		case (kind == proposed || kind == spoke) && all[k].worth > kind.worth():
			most, own = used+3*room, true
		}
		for _, text := range []string{all[k].text, all[k].brief} {
			if n := count(text) + 1; text != "" && used+n <= most {
				if !own {
					used += n
				}
				texts[k] = text
				picked = append(picked, k)
				break
			}
		}
	}
	slices.Sort(picked)
	lines := make([]stateLine, len(picked))
	for i, k := range picked {
		lines[i] = all[k]
		if lines[i].brief == texts[k] {
			lines[i].calls = nil
		}
		lines[i].text, lines[i].brief = texts[k], ""
	}
	return lines
}
