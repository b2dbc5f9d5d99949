package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// candidate is a hypothesis with the calls that meet it.
type candidate struct {
	hypothesis

	meets  []bool
	silent bool // nothing can be told of it
	// good counts the good calls that meet it; fresh those that would have met it, had
	// it been drawn around the older good calls alone.
	good, fresh float64
}

// spans are over how many of the newest good calls rules are looked for in turn, 0 for
// all: where the tool has changed, older good calls speak against what is true today.
var spans = [...]int{0, 40, 14, 7}

// Find lists the rules that the calls of a tool, named own, bear out, oldest call first:
// those that most failed calls broke come first.
func Find(own string, calls []Call, proposed ...Proposal) []Rule {
	rows := rowsOf(calls)
	found := wrong(own, rows, proposed)
	for _, e := range [...]Effect{Slow, Costly} {
		found = append(found, dear(own, rows, e)...)
	}
	slices.SortStableFunc(found, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Effect, b.Effect), cmp.Compare(b.Calls, a.Calls))
	})
	return found[:min(len(found), maxRules)]
}

// wrong lists the rules on what calls went wrong.
func wrong(own string, rows []row, proposed []Proposal) []Rule {
	var found []Rule
	open := make([]bool, len(rows)) // went wrong, and no rule explains it
	for i := range rows {
		open[i] = rows[i].Bad
	}
	last := -1
	for _, span := range spans {
		from := newest(rows, span)
		if from < 0 || from == last {
			continue
		}
		last = from
		s := search{rows: rows[from:], open: open[from:], several: several(rows), own: own, proposed: proposed}
		found = append(found, s.run()...)
	}
	return tightest(found)
}

// tightest keeps of rules about the same the one that newer calls gave.
func tightest(found []Rule) []Rule {
	var out []Rule
	for _, r := range found {
		at := slices.IndexFunc(out, func(o Rule) bool { return o.ID() == r.ID() })
		if at < 0 {
			out = append(out, r)
		} else if r.when.what != is && r.when.what != inState && r.when.what != begins {
			out[at] = r
		} else {
			out = append(out, r)
		}
	}
	return out
}

// newest is the place from which on so many good calls stand; -1 where there are fewer.
func newest(rows []row, span int) int {
	if span == 0 {
		return 0
	}
	good := 0
	for i := range slices.Backward(rows) {
		if !rows[i].Bad {
			good++
		}
		if good == span {
			return i
		}
	}
	return -1
}

// search looks for the rules of some calls.
type search struct {
	rows    []row
	open    []bool
	several bool // sources
	own     string
	// proposed are tested beside what the calls suggest.
	proposed []Proposal
	good     float64 // calls
	newer    float64 // of them
	columns  int
	all      []candidate
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
	if s.good < minGood || len(kinds) == 0 {
		return nil
	}
	cols := columnsOf(s.rows)
	s.columns = max(1, len(cols))
	s.candidates(cols)
	order := make([]string, 0, len(kinds))
	for k := range kinds {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b)) })
	for _, k := range order {
		for range maxOfKind {
			r, ok := s.best(k)
			if !ok {
				break
			}
			found = append(found, r)
		}
	}
	return found
}

// candidates lists the hypotheses that hardly a good call speaks against.
func (s *search) candidates(cols []column) {
	fresh := s.freshness()
	for _, h := range append(propose(s.rows, cols), hypotheses(s.proposed)...) {
		if h.what == notBefore && h.tool == s.own {
			continue
		}
		c := candidate{hypothesis: h, meets: make([]bool, len(s.rows))}
		for i := range s.rows {
			if c.meets[i] = h.holds(&s.rows[i]); c.meets[i] && !s.rows[i].Bad {
				c.good++
			}
		}
		if c.good > maxWrong*s.good || s.contradicted(c.meets) {
			continue
		}
		if h.fitted() {
			if c.fresh = fresh(&h); c.fresh > max(1, maxFresh*s.newer) {
				continue
			}
		}
		s.all = append(s.all, c)
	}
}

// freshness tells how many of the newer good calls a condition would have been wrong
// about, had it been drawn around the older ones.
func (s *search) freshness() func(h *hypothesis) float64 {
	var older, newer []row
	n := 0.0
	for i := range s.rows {
		if s.rows[i].Bad {
			continue
		}
		if n++; 2*n <= s.good {
			older = append(older, s.rows[i])
		} else {
			newer = append(newer, s.rows[i])
		}
	}
	s.newer = float64(len(newer))
	return func(h *hypothesis) float64 {
		old := *h
		old.set = nil
		first := true
		for i := range older {
			v := older[i].in[h.p]
			if v.kind == absent || h.what == aboveWithout && older[i].in[h.q].kind != absent {
				continue
			}
			switch h.what {
			case above, aboveWithout:
				if first || v.num > old.bound {
					old.bound = v.num
				}
			case below:
				if first || v.num < old.bound {
					old.bound = v.num
				}
			case notIn:
				old.set = append(old.set, v.text)
			case notLike:
				old.set = append(old.set, form(v.text))
			}
			first = false
		}
		wrong := 0.0
		for i := range newer {
			if !first && old.holds(&newer[i]) {
				wrong++
			}
		}
		return wrong
	}
}

// contradicted reports whether the newest good calls speak against a condition: some of
// them met it since it last went wrong.
func (s *search) contradicted(meets []bool) bool {
	good := 0
	for i := len(s.rows) - 1; i >= 0 && good < Contradictions; i-- {
		switch {
		case !meets[i]:
		case s.rows[i].Bad:
			return false
		default:
			good++
		}
	}
	return good >= Contradictions
}

// Contradictions is how many good calls in a row take a rule back.
const Contradictions = 3

// tests is how many conditions might have stood in the place of one, which bounds what
// chance alone brings about: one for each parameter, or pair of them. Where messages
// name the parameters there is no choice.
func (s *search) tests(c *candidate, kind string) float64 {
	n := float64(s.columns)
	switch {
	case c.p == "":
		return 2
	case named(kind, c.p) && (c.q == "" || named(kind, c.q)):
		return 1
	case c.paired():
		return max(1, n*(n-1)/2)
	}
	return n
}

// best is the rule that explains most of the open calls of a kind and can be told.
func (s *search) best(kind string) (Rule, bool) {
	for {
		top, rule := s.top(kind)
		if top == nil {
			return rule, false
		}
		var behind []*row
		for i := range s.rows {
			if row := &s.rows[i]; s.open[i] && row.kind == kind && top.meets[i] {
				behind = append(behind, row)
				rule.Behind = append(rule.Behind, row.place)
				if row.Odd {
					rule.Odd++
				}
				if row.Failed {
					rule.Failed++
				}
			}
		}
		if rule.write(s, behind); rule.Line == "" {
			top.silent = true
			continue
		}
		rule.Line += s.twin(top, behind)
		for i := range s.rows {
			if s.rows[i].kind == kind && top.meets[i] {
				s.open[i] = false
			}
		}
		return rule, true
	}
}

// twin names another parameter whose condition held for the same calls and no others: which
// of the two is to blame, the calls do not tell.
func (s *search) twin(top *candidate, behind []*row) string {
	if top.p == "" || top.paired() {
		return ""
	}
	for i := range s.all {
		c := &s.all[i]
		if c.p == "" || c.p == top.p || c.paired() || c.what > notIn || !slices.Equal(c.meets, top.meets) {
			continue
		}
		other := Rule{when: c.hypothesis}
		if other.write(s, behind); other.Line != "" {
			return ", or " + strings.ToLower(other.Line[:1]) + other.Line[1:]
		}
	}
	return ""
}

// top is the condition that explains most of the open calls of a kind; nil for none.
func (s *search) top(kind string) (*candidate, Rule) {
	var top *candidate
	var rule Rule
	rank := 0.0
	for k := range s.all {
		c := &s.all[k]
		r, n, counted := s.support(c, kind)
		if r.Calls < minCalls || c.silent {
			continue
		}
		q := float64(r.Calls)/n - 4*(c.good+c.fresh/2)/s.good
		if c.p != "" && named(kind, c.p) {
			q += messageShare // calls cannot part what always came together
		}
		if c.q != "" && !named(kind, c.q) {
			q -= messageShare / 2
		}
		if top != nil && (q < rank-1e-9 || q <= rank+1e-9 && c.what >= top.what) {
			continue
		}
		if chance(int(counted), int(n), int(c.good+c.fresh), int(s.good))*s.tests(c, kind) > falseDiscovery {
			continue
		}
		top, rule, rank = c, r, q
	}
	return top, rule
}

// support counts the open calls of a kind, n, and those among them that a condition
// explains: what was sent again in its run counts once, and one source has a cap.
func (s *search) support(c *candidate, kind string) (r Rule, n, counted float64) {
	r = Rule{when: c.hypothesis, Good: int(c.good)}
	var q quorum
	bySource := map[uint64]float64{}
	for i := range s.rows {
		row := &s.rows[i]
		if !s.open[i] || row.kind != kind {
			continue
		}
		if !row.repeat {
			n++
		}
		if !c.meets[i] {
			continue
		}
		q.add(row)
		if r.Calls++; !row.repeat {
			bySource[row.Source]++
		}
	}
	if !q.met(s.several) {
		return Rule{}, n, 0
	}
	if q.named {
		r.Runs = len(q.runs)
	}
	for _, of := range bySource {
		counted += min(of, sourceShare)
	}
	return r, n, counted
}

// chance is how probable it is that of n bad and all good calls those that meet a
// condition are so unevenly parted by chance: the tail of the hypergeometric.
func chance(bad, n, good, all int) float64 {
	met, sum := bad+good, 0.0
	for k := bad; k <= min(met, n); k++ {
		if met-k <= all {
			sum += math.Exp(choose(n, k) + choose(all, met-k) - choose(n+all, met))
		}
	}
	return min(1, sum)
}

// choose is the logarithm of the binomial coefficient.
func choose(n, k int) float64 {
	of := func(x int) float64 { l, _ := math.Lgamma(float64(x + 1)); return l }
	return of(n) - of(k) - of(n-k)
}

// named reports whether a message holds the name of a parameter, with no letter or digit
// of the same script beside it.
func named(message, p string) bool {
	for rest := message; ; {
		before, after, found := strings.Cut(rest, p)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !isNamePart(last) && !isNamePart(next) {
			return true
		}
		rest = after
	}
}

// isNamePart leaves the scripts out that part words by no blank.
func isNamePart(r rune) bool {
	return r == '_' || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
