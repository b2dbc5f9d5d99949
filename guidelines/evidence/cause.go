package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"memoryd"
	"memoryd/guidelines/constraints"
)

// Cause is failed calls that broke one rule: the same class of constraint on the
// same parameter or, where nothing is known of the message, messages of one form.
type Cause struct {
	ID string `json:"id"`
	// Constraint is the rule as most of the messages state it.
	constraints.Constraint
	// Count counts the calls, Failed those of them that scored 0, Runs the runs they belong to (calls of unknown
	// run are of one). Sole says that one party of several made them all: the same API
	// key or, where one key recorded everything, the same agent.
	Count  int  `json:"count"`
	Failed int  `json:"failed"`
	Runs   int  `json:"runs"`
	Sole   bool `json:"sole,omitempty"`
	// Stated counts the calls whose message states the rule as Constraint does.
	Stated Support `json:"stated,omitzero"`
	// Newest is the place of the newest of the calls, from 0.
	Newest int `json:"newest"`
	// Quotes are the forms of the messages, those of most runs first.
	Quotes []Quote `json:"quotes,omitempty"`
	// Slots are what the messages name (commands, nouns, options), most runs first.
	Slots []Slot `json:"slots,omitempty"`
	// Prefix is how the values of Parameter begin that failed so, and no good one.
	Prefix string `json:"prefix,omitempty"`
	// Safe is how other values of Parameter begin, none of which failed so, in SafeCalls
	// calls. Copied counts the calls of the cause whose Parameter stood in an earlier
	// answer.
	Safe      string `json:"safe,omitempty"`
	SafeCalls int    `json:"safe_calls,omitempty"`
	Copied    int    `json:"copied,omitempty"`
	// Habits are ways of writing that break the rule, with what came of them.
	Habits []Habit `json:"habits,omitempty"`
	// Each is how much one unit of EachOf adds to a total that calls fell short of, in EachRuns runs.
	Each     float64 `json:"each,omitempty"`
	EachOf   string  `json:"each_of,omitempty"`
	EachRuns int     `json:"each_runs,omitempty"`
	// Repairs are the changes after which the message was gone.
	Repairs []Repair `json:"repairs,omitempty"`
	// Followed counts the calls that did what the message asks for, after it had
	// been seen first, and how many of them worked.
	Followed Retry `json:"followed"`
	// FollowedRuns counts their runs.
	FollowedRuns int               `json:"followed_runs,omitempty"`
	Calls        []memoryd.CallKey `json:"calls,omitempty"`
	// RunIDs are the distinct runs.
	RunIDs  []uint64 `json:"-"`
	members []int
}

// Support is what stands behind something that messages say: so many calls, of so many
// runs; Sole as of a Cause.
type Support struct {
	Calls int  `json:"calls"`
	Runs  int  `json:"runs"`
	Sole  bool `json:"sole,omitempty"`
}

// support collects a Support.
type support struct {
	calls int
	runs  runSet
	by    backers
}

func (s *support) add(w *window, i int) {
	if s.runs == nil {
		s.runs, s.by = runSet{}, backers{}
	}
	s.calls++
	s.runs[w.obs[i].Run] = true
	s.by.add(w.who.of[i])
}

func (s *support) of(w *window) Support { return Support{s.calls, len(s.runs), w.who.sole(s.by)} }

// Quote is the form of a message, with what varies masked.
type Quote struct {
	Text string `json:"text"`
	Support
}

// Slot is something that messages name.
type Slot struct {
	Text string `json:"text"`
	Support
	// Sent counts the calls of these whose own input has the word.
	Sent int `json:"sent"`
	// Worked counts good calls whose input has the word too, All the calls with it,
	// of which Failed failed.
	Worked int `json:"worked"`
	All    int `json:"all"`
	Failed int `json:"failed"`
}

// Habit is a way of writing a text that breaks the rule of a cause.
type Habit struct {
	Words string `json:"words"`
	Do    string `json:"do,omitempty"`
	// With counts the calls whose text is written so, Without those of the same kind
	// whose text is not; Runs are those of the failed ones.
	With          int `json:"with"`
	WithFailed    int `json:"with_failed"`
	Without       int `json:"without"`
	WithoutFailed int `json:"without_failed"`
	Runs          int `json:"runs"`
	// Explains counts the calls of the cause that are written so.
	Explains int `json:"explains"`
}

// Tells reports whether the habit goes with failure: in five calls and two runs or
// more, half as often again as without it.
func (h *Habit) Tells() bool {
	return h.With >= 5 && h.Runs >= 2 && h.Explains >= 2 && 2*h.WithFailed*h.Without > 3*h.WithoutFailed*h.With
}

// maxCauses bounds what is listed, maxQuotes and maxSlots what is kept of one.
const (
	maxCauses = 40
	maxQuotes = 4
	maxSlots  = 6
)

// runSet counts distinct runs; unknown ones are one.
type runSet map[uint64]bool

// causes groups the failed calls.
func (w *window) causes(errors clusters) []Cause {
	byKey := map[string]*Cause{}
	var order []*Cause
	for i := range w.obs {
		if !w.wrong(i) {
			continue
		}
		for _, k := range w.rules(i, errors) {
			key := k.group
			c := byKey[key]
			if c == nil {
				c = &Cause{ID: itemID("cause", key), Constraint: k.Constraint}
				byKey[key] = c
				order = append(order, c)
			}
			if len(c.members) == 0 || c.members[len(c.members)-1] != i {
				c.members = append(c.members, i)
				w.of[i] = append(w.of[i], c)
			}
		}
	}
	for _, c := range order {
		w.describe(c, errors)
	}
	slices.SortStableFunc(order, func(a, b *Cause) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(b.Count, a.Count), strings.Compare(a.ID, b.ID))
	})
	w.repair(order)
	var list []Cause
	for _, c := range order[:min(len(order), maxCauses)] {
		list = append(list, *c)
	}
	return list
}

// stated is a constraint and the group that it belongs to.
type stated struct {
	constraints.Constraint
	group string
}

// rules are what a failed call's message states: all that it says of parameters,
// else the first; the form of the message where nothing was read.
func (w *window) rules(i int, errors clusters) []stated {
	found := w.obs[i].Found
	if len(found) == 0 || found[0].Class == constraints.Failed {
		if k := errors.of[i]; k >= 0 {
			return []stated{{constraints.Constraint{Class: constraints.Failed}, "form " + errors.items[k].ID}}
		}
		return []stated{{constraints.Constraint{Class: constraints.Failed}, "no message"}}
	}
	var rs []stated
	for n, c := range found {
		if n > 0 && !c.Class.Rules() {
			continue
		}
		if c.Parameter == "" && c.Got != "" {
			c.Parameter = w.holding(i, c.Got)
		}
		rs = append(rs, stated{c, c.Cause()})
	}
	return rs
}

// holding is the one parameter of a call that has a value; "" when there is none.
func (w *window) holding(i int, value string) string {
	path := ""
	for _, l := range w.leaves[i] {
		if l.text == value {
			if path != "" && path != l.path {
				return ""
			}
			path = l.path
		}
	}
	return path
}

// describe fills in what the members of a cause have in common.
func (w *window) describe(c *Cause, errors clusters) {
	var all support
	variants := map[string]*support{}
	var most support
	slots := map[string]*Slot{}
	slotBy := map[string]*support{}
	forms := map[string]*support{}
	for _, i := range c.members {
		ob := &w.obs[i]
		all.add(w, i)
		c.Calls = append(c.Calls, ob.Key)
		if w.bad(i) {
			c.Failed++
		}
		if k := errors.of[i]; k >= 0 {
			form := errors.items[k].Template
			if forms[form] == nil {
				forms[form] = &support{}
			}
			forms[form].add(w, i)
		}
		for _, f := range ob.Found {
			if f.Class != c.Class {
				continue
			}
			if f.Parameter == "" || f.Parameter == c.Parameter {
				v := variants[f.Key()]
				if v == nil {
					v = &support{}
					variants[f.Key()] = v
				}
				if v.add(w, i); v.calls > most.calls {
					most = *v
					path := c.Parameter
					c.Constraint = f
					c.Parameter = path
				}
			}
			if s := f.Slot; s != "" {
				if slots[s] == nil {
					slots[s], slotBy[s] = &Slot{Text: s}, &support{}
				}
				slotBy[s].add(w, i)
				if slices.ContainsFunc(w.leaves[i], func(l leafValue) bool { return hasWord(l.text, s) }) {
					slots[s].Sent++
				}
			}
		}
	}
	c.Stated = most.of(w)
	if 3*most.calls < 2*len(c.members) && c.Class != constraints.Missing { // they state different bounds, values or forms
		c.Op, c.Bound, c.Unit, c.Values, c.Format, c.Type = "", 0, "", nil, "", ""
	}
	c.Count, c.Runs, c.Sole, c.Newest = len(c.members), len(all.runs), w.who.sole(all.by), c.members[len(c.members)-1]
	c.RunIDs = slices.Sorted(maps.Keys(all.runs))
	c.Quotes = w.quotesOf(forms)
	for s, slot := range slots {
		slot.Support = slotBy[s].of(w)
		c.Slots = append(c.Slots, *slot)
	}
	slices.SortFunc(c.Slots, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Text, b.Text))
	})
	c.Slots = c.Slots[:min(len(c.Slots), maxSlots)]
	for k := range c.Slots {
		w.countWith(&c.Slots[k])
	}
	w.link(c)
	w.follow(c)
	w.habits(c)
}

// habits counts how the texts of all calls are written that break the rule of c.
func (w *window) habits(c *Cause) {
	for place, known := range constraints.Habits() {
		if known.Class != c.Class {
			continue
		}
		h := Habit{Words: known.Words, Do: known.Do}
		runs := runSet{}
		for i := range w.obs {
			about, breaks := w.obs[i].Long.habit(place)
			for _, l := range w.leaves[i] {
				if l.kind == '"' && !cut(l.text) {
					a, b := known.In(l.text)
					about, breaks = about || a, breaks || b
				}
			}
			switch {
			case breaks:
				h.With++
				if w.bad(i) {
					h.WithFailed++
					runs[w.obs[i].Run] = true
				}
				if _, of := slices.BinarySearch(c.members, i); of {
					h.Explains++
				}
			case about:
				h.Without++
				if w.bad(i) {
					h.WithoutFailed++
				}
			}
		}
		if h.Runs = len(runs); h.Tells() {
			c.Habits = append(c.Habits, h)
		}
	}
}

// The words of a quote: at most mostLead, and at least leastLead where forms share
// only their beginning.
const (
	mostLead  = 12
	leastLead = 5
)

// quotesOf gives the beginnings of messages that came in most runs: of each form as
// many words as came in two runs or more, whichever forms they begin.
func (w *window) quotesOf(forms map[string]*support) []Quote {
	leads := map[string]*support{}
	lead := func(text string, words int) (string, bool) {
		fields := strings.Fields(text)
		if len(fields) < words {
			return text, words == mostLead
		}
		return strings.Join(fields[:words], " "), true
	}
	key := func(text string, words int) string { return strconv.Itoa(words) + " " + text }
	for form, f := range forms {
		for n := mostLead; n >= leastLead; n-- {
			text, ok := lead(form, n)
			if !ok {
				continue
			}
			l := leads[key(text, n)]
			if l == nil {
				l = &support{runs: runSet{}, by: backers{}}
				leads[key(text, n)] = l
			}
			l.calls += f.calls
			maps.Copy(l.runs, f.runs)
			maps.Copy(l.by, f.by)
		}
	}
	var list []Quote
	for form := range forms {
		best := Quote{}
		for n := mostLead; n >= leastLead && (best.Runs < 2 || best.Sole); n-- {
			if text, ok := lead(form, n); ok {
				if q := leads[key(text, n)].of(w); best.Runs == 0 || best.Sole && !q.Sole || best.Sole == q.Sole && q.Runs > best.Runs {
					best = Quote{text, q}
				}
			}
		}
		if best.Runs > 0 && !slices.ContainsFunc(list, func(q Quote) bool { return q.Text == best.Text }) {
			list = append(list, best)
		}
	}
	slices.SortFunc(list, func(a, b Quote) int {
		return cmp.Or(compareSole(a.Sole, b.Sole), cmp.Compare(b.Runs, a.Runs), cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Text, b.Text))
	})
	return list[:min(len(list), maxQuotes)]
}

// compareSole puts what several parties said first.
func compareSole(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// countWith counts the calls whose input has the word of a slot.
func (w *window) countWith(s *Slot) {
	for i := range w.obs {
		if !slices.ContainsFunc(w.leaves[i], func(l leafValue) bool { return hasWord(l.text, s.Text) }) {
			continue
		}
		s.All++
		if w.good(i) {
			s.Worked++
		}
		if w.bad(i) {
			s.Failed++
		}
	}
}

// hasWord reports whether s holds word as a whole.
func hasWord(s, word string) bool {
	for rest := s; word != ""; {
		at := strings.Index(rest, word)
		if at < 0 {
			return false
		}
		before, after := at == 0 || !wordByte(rest[at-1]), at+len(word) == len(rest) || !wordByte(rest[at+len(word)])
		if before && after {
			return true
		}
		rest = rest[at+1:]
	}
	return false
}

// wordByte reports whether a byte is part of a word: letters, digits, the underscore,
// the hyphen and everything beyond ASCII.
func wordByte(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b >= utf8.RuneSelf
}
