package rules

import (
	"cmp"
	"maps"
	"slices"
)

// candidate is a hypothesis with the calls that meet it.
type candidate struct {
	hypothesis

	meets  []bool
	silent bool    // nothing can be told of it
	good   float64 // calls that meet it
}

// Find lists the rules that the calls (oldest first) of a tool, named own, support. Rules
// that most failed calls broke come first.
func Find(own string, calls []Call, proposed ...Proposal) []Rule {
	rows, usual := rowsOf(own, calls, Compared), usualOf(calls)
	for i := range rows {
		rows[i].usual = usual
	}
	found := wrong(own, rows, proposed)
	explained := make([]bool, len(calls))
	for i := range found {
		for _, at := range found[i].Behind {
			explained[at] = true
		}
	}
	found = append(found, heard(own, calls, rows, explained)...)
	for _, e := range [...]Effect{Slow, Costly} {
		found = append(found, dear(own, rows, e)...)
	}
	slices.SortStableFunc(found, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Effect, b.Effect), cmp.Compare(b.Calls, a.Calls))
	})
	return found[:min(len(found), maxRules)]
}

// discovered keeps of the rules of a tool so many that at most a share of them is to be
// expected from chance, over all kinds of failure that rules were looked for in
// (Benjamini and Hochberg).
func discovered(found []Rule, kinds int) []Rule {
	sorted := make([]float64, len(found))
	for i := range found {
		sorted[i] = found[i].chance
	}
	slices.Sort(sorted)
	limit := -1.0
	for i, c := range sorted {
		if c*float64(kinds) <= falseDiscovery*float64(i+1) {
			limit = c
		}
	}
	return slices.DeleteFunc(found, func(r Rule) bool { return r.chance > limit })
}

// tightest keeps of rules about the same the one that newer calls gave.
func tightest(found []Rule) []Rule {
	var out []Rule
	for _, r := range found {
		at := slices.IndexFunc(out, func(o Rule) bool { return o.ID() == r.ID() })
		if at >= 0 && r.valueOf() == nil {
			out[at] = r
		} else {
			out = append(out, r)
		}
	}
	return out
}

// search looks for the rules of some calls.
type search struct {
	rows    []row
	open    []bool
	by      []*candidate // the condition that explains a call
	before  []row        // the calls before these
	wasOpen []bool       // of them
	several bool         // sources
	parties bool         // several
	recent  bool         // only the newest calls, which one party may have flooded
	own     string
	// proposed are tested beside what the calls suggest.
	proposed []Proposal
	hints    bool            // one call of one run is enough
	dear     bool            // the bad ones are good ones that cost much
	kinds    map[string]bool // in which rules were looked for
	good     float64         // calls
	columns  []column
	toldBy   map[string]map[string]bool // kinds of failure
	looked   map[at]int                 // hypotheses by what they are about
	sorts    map[at]int                 // hypotheses, whatever they are about
	all      []candidate
	guard          // of all rows
	guards   int   // of which it is one
	whole    []row // that it is a part of
	// ways are the hypotheses, finer those on how values are written and on sizes.
	ways, finer int
}

// at is what a hypothesis is about, whatever the value.
type at struct {
	what what
	p, q string
}

// column is what the calls gave for a parameter.
func (s *search) column(p string) *column {
	at := slices.IndexFunc(s.columns, func(c column) bool { return c.name == p })
	if at < 0 {
		return &column{}
	}
	return &s.columns[at]
}

// run lists the rules that the calls bear out, and closes the calls that they explain.
func (s *search) run() (found []Rule) {
	kinds := map[string]int{}
	for i := range s.rows {
		switch {
		case !s.rows[i].Bad:
			s.good++
		case s.open[i]:
			kinds[s.rows[i].kind]++
		}
	}
	if s.hints && s.good < 1 || len(kinds) == 0 {
		return nil
	}
	cols := columnsOf(s.rows)
	s.columns, s.looked, s.sorts, s.by = cols, map[at]int{}, map[at]int{}, make([]*candidate, len(s.rows))
	s.toldBy = map[string]map[string]bool{}
	s.candidates(cols)
	order := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b)) })
	var by []*candidate // what the rules found come from
	for _, k := range order {
		if kinds[k] >= leastBad {
			s.kinds[k] = true
		}
		for range maxOfKind {
			top, r, ok := s.best(k)
			if !ok {
				break
			}
			if at := slices.Index(by, top); at >= 0 { // it explains another kind of failure, too: see best
				r.chance = min(r.chance, found[at].chance)
				found, by = slices.Delete(found, at, at+1), slices.Delete(by, at, at+1)
			}
			found, by = append(found, r), append(by, top)
		}
	}
	for i := range found {
		found[i].doubts = s.doubts(&found[i])
	}
	return append(found, s.guarded()...)
}

// doubts counts the calls that went wrong in the same way since a rule was last broken, or with a
// message that names what it is about, and under no rule's condition: of two parties where there are
// several, for one alone may lie.
func (s *search) doubts(r *Rule) int {
	if r.when.what == unknown { // which explains only some of a kind
		return 0
	}
	var q quorum
	for i := range slices.Backward(s.rows) {
		row := &s.rows[i]
		if row.place <= r.Behind[len(r.Behind)-1] {
			break
		}
		if s.open[i] && (row.kind != "" && r.kinds[row.kind] || r.when.named(row.Message)) && !r.when.holds(row) {
			q.add(row)
		}
	}
	if s.parties && len(q.parties) < 2 {
		return 0
	}
	return q.calls
}

// candidates lists the hypotheses that enough bad calls bear out and hardly a good one speaks against.
func (s *search) candidates(cols []column) {
	least := leastBad
	if s.hints {
		least = 1
	}
	var order, others []int // of the rows: those that a rule may explain come first
	for i := range s.rows {
		if s.open[i] {
			order = append(order, i)
		} else {
			others = append(others, i)
		}
	}
	open := len(order)
	order = append(order, others...)
	meets := make([]bool, len(s.rows))
	for _, h := range s.propose(cols) {
		if h.what == notBefore && h.tool == s.own {
			continue
		}
		s.looked[at{h.what.sort(), h.p, h.q}]++
		s.sorts[at{what: h.what.sort()}]++
		h.guard = s.guard
		if s.ways++; h.refined() {
			s.finer++
		}
		c, bad, most := candidate{hypothesis: h, meets: meets}, 0, maxWrong*s.comparable(&h)
		for n, i := range order {
			if n == open && bad < least || c.good > most {
				break
			}
			if meets[i] = h.holds(&s.rows[i]); !meets[i] {
				continue
			}
			if s.rows[i].Bad {
				bad++
			} else {
				c.good++
			}
		}
		if bad >= least && c.good <= most && s.against(&c) < contradictions && s.parted(h) {
			s.all = append(s.all, c)
			meets = make([]bool, len(s.rows))
		}
	}
}

// comparable counts the good calls that can speak against a condition.
func (s *search) comparable(h *hypothesis) (n float64) {
	for i := range s.rows {
		if !s.rows[i].Bad && h.compares(&s.rows[i]) {
			n++
		}
	}
	return n
}

// compares reports whether a call can speak for a condition or against it: of where a value came from, one whose value is
// like an identifier, and of what the workspace knew, one that was compared with that.
func (h *hypothesis) compares(r *row) (can bool) {
	switch h.what {
	case unseen, outdated:
		_, can = r.source(h.p)
		return can
	case nowhere, taken:
		return r.World
	default:
		return true
	}
}

// against counts the good calls that speak against a condition since a call last went wrong
// under it: they met it or, of a set of values or forms, gave one that was new.
func (s *search) against(c *candidate) (good int) {
	last := len(s.rows) - 1
	for ; last >= 0 && (!c.meets[last] || !s.rows[last].Bad); last-- {
		if c.meets[last] {
			good++
		}
	}
	if c.what != notIn && c.what != notLike || c.property() {
		return good
	}
	known := map[string]bool{"": true}
	for i := range s.rows {
		if s.rows[i].Bad {
			continue
		}
		added := false
		for v := range s.rows[i].values(c.p) {
			given := v.text
			if c.what == notLike {
				given = Form(given)
			}
			added = added || !known[given]
			known[given] = true
		}
		if added && i > last && !c.meets[i] {
			good++
		}
	}
	return good
}

// contradictions is the number of consecutive good calls against it that end a rule. One
// ends its warnings and suggestions.
const contradictions = 3

// best is the rule that explains most of the open calls of a kind and can be told.
func (s *search) best(kind string) (*candidate, Rule, bool) {
	for {
		top, rule := s.top(kind)
		if top == nil {
			return nil, rule, false
		}
		var behind []*row
		for i := range s.rows {
			if row := &s.rows[i]; s.open[i] && row.kind == kind && top.meets[i] || s.by[i] == top {
				behind = append(behind, row)
			}
		}
		if !s.wavers(top, kind) {
			rule.tell(s, top, behind)
		}
		if rule.Line == "" {
			top.silent = true
			continue
		}
		for i := range s.rows {
			if s.open[i] && s.rows[i].kind == kind && top.meets[i] {
				s.open[i], s.by[i] = false, top
			}
		}
		return top, rule, true
	}
}

// tell counts the calls behind a rule, oldest first, and words it.
func (r *Rule) tell(s *search, top *candidate, behind []*row) {
	var q quorum
	r.kinds = map[string]bool{}
	for _, row := range behind {
		q.add(row)
		r.Behind, r.Keys = append(r.Behind, row.place), append(r.Keys, row.Key)
		r.kinds[row.kind] = true
		if row.Odd {
			r.Odd++
		}
		if row.Empty {
			r.Empty++
		}
		if row.Failed {
			r.Failed++
		}
	}
	if r.Calls = len(behind); q.named {
		r.Runs = len(q.runs)
	}
	if r.write(s, behind); r.Line != "" {
		r.Line = s.twin(top, behind, r.Line)
		r.against, r.untried, r.closed = s.against(top), s.untried(top, behind), top.what == notIn && s.closed(top.p)
	}
}

// top is the condition that explains most of the open calls of a kind; nil for none.
func (s *search) top(kind string) (*candidate, Rule) {
	var top *candidate
	var rule Rule
	rank := 0.0
	open, whole, told := s.callsOf(kind, true), s.callsOf(kind, false), s.told(kind)
	for k := range s.all {
		c := &s.all[k]
		if c.silent || s.hints && c.good > 0 {
			continue
		}
		calls, left := s.support(c, &open)
		if calls == 0 {
			continue
		}
		against := s.contrast(c, kind)
		if against < minGood && !s.hints {
			continue
		}
		q := calls/open.n - 4*c.good/against
		if told[c.p] {
			q += messageShare // calls cannot part what always came together
			if s.boundIn(kind, c) {
				q += messageShare
			}
		}
		if c.q != "" && told[c.q] {
			q += messageShare / 2
		} else if c.q != "" {
			q -= messageShare
		}
		if top != nil && (q < rank-1e-9 || q <= rank+1e-9 && !s.simpler(c, top, kind)) {
			continue
		}
		// What other conditions left over is no fair sample, and what they explain bears out no other one.
		_, met := s.support(c, &whole)
		by := max(s.byChance(c, kind, left, open.counted, against), s.byChance(c, kind, met, whole.counted, against))
		if by > s.mostChance(c, kind) {
			continue
		}
		top, rule, rank = c, Rule{when: c.hypothesis, Good: int(c.good), Told: s.good < minGood && !s.hints, chance: by}, q
	}
	return top, rule
}

// kindCalls are calls of a kind of failure: n without what was sent again in its run, counted with at
// most sourceShare of a source.
type kindCalls struct {
	places     []int
	n, counted float64
	bySource   map[uint64]float64
}

// callsOf lists the calls of a kind, those that no rule explains yet alone or all.
func (s *search) callsOf(kind string, open bool) kindCalls {
	o := kindCalls{bySource: map[uint64]float64{}}
	for i := range s.rows {
		if row := &s.rows[i]; row.Bad && row.kind == kind && (s.open[i] || !open) {
			if o.places = append(o.places, i); !row.repeat {
				o.n++
				o.bySource[row.Source]++
			}
		}
	}
	for _, n := range o.bySource {
		o.counted += min(n, sourceShare)
	}
	return o
}

// simpler reports whether of two conditions that explain as much of a kind of failure the
// first one is to be told: what a value is, then the one that fewer failures of other kinds
// meet, then the simpler one.
func (s *search) simpler(a, b *candidate, kind string) bool {
	if x, y := a.ofType(), b.ofType(); x != y {
		return x
	}
	if x, y := s.others(a, kind), s.others(b, kind); x != y {
		return x < y
	}
	if x, y := len(a.set) > maxSet, len(b.set) > maxSet; x != y {
		return y // a list of many values says less than what they have in common
	}
	if x, y := a.property(), b.property(); x != y {
		return y
	}
	if a.what != b.what || a.what != lastIs && a.what != lastNotIn {
		return a.what < b.what
	}
	return s.varied(a.p) > s.varied(b.p) // which thing it was, not where it is nor what was done with it
}

// varied counts the values that the calls of a run gave, over all runs.
func (s *search) varied(p string) int {
	type given struct {
		run  uint64
		text string
	}
	seen := map[given]bool{}
	for i := range s.rows {
		seen[given{s.rows[i].run(), s.rows[i].in[p].text}] = true
	}
	return len(seen)
}

// support counts those of some calls of a kind that a condition explains, and those of them that chance
// is asked of: what was sent again in its run counts once, so does a run of which each further call
// meets the condition, and of a source with more than sourceShare calls its share. It is 0 where too
// few are explained.
func (s *search) support(c *candidate, of *kindCalls) (calls, met float64) {
	var q quorum
	bySource := map[uint64]float64{}
	for _, i := range of.places {
		row := &s.rows[i]
		if !c.meets[i] {
			continue
		}
		known := q.runs[row.run()]
		q.add(row)
		if calls++; !row.repeat && (!known || !c.ofRun()) {
			bySource[row.Source]++
		}
	}
	if !s.hints && !q.of(leastBad) {
		return 0, 0
	}
	all, most := 0.0, 0.0
	for source, n := range bySource {
		met += n * min(1, sourceShare/of.bySource[source])
		all, most = all+n, max(most, n)
	}
	if !s.hints && s.several && all-most < leastBad || s.recent && s.parties && len(q.parties) < 2 {
		return 0, 0 // nothing without the source that reports most
	}
	return calls, met
}
