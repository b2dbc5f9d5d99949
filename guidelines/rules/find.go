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
	silent bool    // nothing can be told of it
	good   float64 // calls that meet it
}

// spans are over how many of the newest good calls rules are looked for in turn, 0 for
// all: where the tool has changed, older good calls speak against what is true today.
var spans = [...]int{0, 40, 14, 7}

// Find lists the rules that the calls (oldest first) of a tool, named own, support. Rules
// that most failed calls broke come first.
func Find(own string, calls []Call, proposed ...Proposal) []Rule {
	rows := rowsOf(calls)
	found := wrong(own, rows, proposed)
	explained := make([]bool, len(calls))
	for i := range found {
		for _, at := range found[i].Behind {
			explained[at] = true
		}
	}
	found = append(found, heard(own, calls, explained)...)
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
	kinds := map[string]bool{}
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
		s := search{rows: rows[from:], open: open[from:], several: several(rows), own: own, proposed: proposed, kinds: kinds}
		found = append(found, s.run()...)
	}
	return tightest(discovered(found, len(kinds)))
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
		if at < 0 {
			out = append(out, r)
		} else if r.valueOf() == nil {
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
	hints    bool            // one call of one run is enough
	kinds    map[string]bool // in which rules were looked for
	good     float64         // calls
	goods    []*row
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
	for k, n := range kinds {
		if n >= leastBad {
			s.kinds[k] = true
		}
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b)) })
	for _, k := range order {
		first := len(found)
		for range maxOfKind {
			r, ok := s.best(k)
			if !ok {
				break
			}
			found = append(found, r)
		}
		for i := first; i < len(found); i++ {
			found[i].doubtful = s.doubts(&found[i], k)
		}
	}
	return found
}

// doubts reports whether calls went wrong under no rule's condition since a rule was last
// broken: one in the same way, or several.
func (s *search) doubts(r *Rule, kind string) bool {
	last, more := r.Behind[len(r.Behind)-1], 0
	for i := range slices.Backward(s.rows) {
		row := &s.rows[i]
		if row.place <= last {
			break
		}
		if s.open[i] {
			more++
		}
		if s.open[i] && row.kind == kind || more >= leastBad {
			return true
		}
	}
	return false
}

// candidates lists the hypotheses that hardly a good call speaks against.
func (s *search) candidates(cols []column) {
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
		if c.good <= maxWrong*s.good && s.against(c.meets) < Contradictions {
			s.all = append(s.all, c)
		}
	}
	for i := range s.rows {
		if !s.rows[i].Bad {
			s.goods = append(s.goods, &s.rows[i])
		}
	}
}

// fresh counts the newer good calls that a condition would have been wrong about, had it
// been drawn around the older ones and the calls of a kind that went wrong under it.
func (s *search) fresh(c *candidate, kind string) float64 {
	if !c.fitted() {
		return 0
	}
	half := len(s.goods) / 2
	old := c.hypothesis
	old.set = nil
	first := true
	for _, row := range s.goods[:half] {
		v := row.in[c.p]
		if v.kind == absent || c.what == aboveWithout && row.in[c.q].kind != absent {
			continue
		}
		switch c.what {
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
	if first {
		return 0
	}
	edge, bounded := s.edgeOf(c, kind)
	wrong := 0.0
	for _, row := range s.goods[half:] {
		if old.holds(row) && (!bounded || beyond(c.what, row.in[c.p].num, old.bound, edge)) {
			wrong++
		}
	}
	return wrong
}

// edgeOf is the number nearest to a bound among the open calls of a kind beyond it.
func (s *search) edgeOf(c *candidate, kind string) (edge float64, is bool) {
	if c.what != above && c.what != below && c.what != aboveWithout {
		return 0, false
	}
	for i := range s.rows {
		if row := &s.rows[i]; c.meets[i] && s.open[i] && row.kind == kind {
			if v := row.in[c.p].num; !is || (v > edge) == (c.what == below) {
				edge, is = v, true
			}
		}
	}
	return edge, is
}

// against counts the good calls in a row that met a condition, up to the newest.
func (s *search) against(meets []bool) (good int) {
	for i := range slices.Backward(s.rows) {
		if meets[i] && s.rows[i].Bad {
			break
		}
		if meets[i] {
			good++
		}
	}
	return good
}

// Contradictions is the number of consecutive good calls that suspend a rule.
const Contradictions = 3

// tests is how many conditions might have stood in the place of one, which bounds what
// chance alone brings about: one for each parameter, or pair of them. Where messages
// name the parameters there is no choice, and where calls were mended in their runs only
// one among what was changed.
func (s *search) tests(c *candidate, kind string) float64 {
	n := min(float64(s.columns), s.changed(c, kind))
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

// changed is how many parameters were changed on average where calls of a kind were
// mended in their runs; infinite where the parameter of the condition was not among them.
func (s *search) changed(c *candidate, kind string) float64 {
	sum, n := 0.0, 0.0
	for i := range s.rows {
		row := &s.rows[i]
		if !s.open[i] || row.kind != kind || !c.meets[i] || row.mended == nil {
			continue
		}
		if !slices.Contains(row.mended, c.p) && (c.q == "" || !slices.Contains(row.mended, c.q)) {
			return math.Inf(1)
		}
		sum, n = sum+float64(len(row.mended)), n+1
	}
	if n == 0 {
		return math.Inf(1)
	}
	return sum / n
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
		rule.against = s.against(top.meets)
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
			return ", and " + strings.ToLower(other.Line[:1]) + other.Line[1:]
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
		if r.Calls == 0 || c.silent || s.hints && c.good > 0 {
			continue
		}
		fresh := s.fresh(c, kind)
		if fresh > max(1, maxFresh*s.good/2) {
			continue
		}
		q := float64(r.Calls)/n - 4*(c.good+fresh/2)/s.good
		if c.p != "" && named(kind, c.p) {
			q += messageShare // calls cannot part what always came together
		}
		if c.q != "" && named(kind, c.q) {
			q += messageShare / 2
		} else if c.q != "" {
			q -= messageShare / 2
		}
		if top != nil && (q < rank-1e-9 || q <= rank+1e-9 && c.what >= top.what) {
			continue
		}
		if r.chance = chance(int(counted), int(n), int(c.good+fresh), int(s.good)) * s.tests(c, kind); r.chance > falseDiscovery && (!s.hints || r.chance > hintChance) {
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
	if !s.hints && !q.of(leastBad, s.several) {
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
