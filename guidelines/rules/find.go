package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// row is a call as it is compared.
type row struct {
	*Call
	in     map[string]value
	bad    bool
	before []string
	kind   string
	place  int
}

// candidate is a hypothesis with the calls that meet it.
type candidate struct {
	hypothesis
	meets []bool
}

// Find lists the rules that the calls of a tool bear out, oldest call first: those that
// most failed calls broke come first.
func Find(calls []Call) []Rule {
	rows := rowsOf(calls)
	var found []Rule
	open := make([]bool, len(rows)) // went wrong, and no rule explains it
	for i := range rows {
		open[i] = rows[i].bad
	}
	found = search(rows, open, found)
	// Where the tool has changed, older good calls speak against what is true today.
	if from := recent(rows); from > 0 {
		found = search(rows[from:], open[from:], found)
	}
	slices.SortStableFunc(found, func(a, b Rule) int { return cmp.Compare(b.Calls, a.Calls) })
	said := map[string]bool{}
	found = slices.DeleteFunc(found, func(r Rule) bool { // of bounds on one parameter that of most calls
		id := r.ID()
		known := said[id]
		said[id] = true
		return known && (r.when.what == above || r.when.what == below)
	})
	return found[:min(len(found), maxRules)]
}

// rowsOf reads the newest calls.
func rowsOf(calls []Call) []row {
	from := max(0, len(calls)-maxCalls)
	rows := make([]row, 0, len(calls)-from)
	kinds := map[string]int{}
	for i := range calls[from:] {
		c := &calls[from+i]
		r := row{Call: c, in: inputOf(c.Input), bad: c.Bad, before: c.Before, place: from + i}
		if r.in == nil {
			continue
		}
		if c.Bad {
			r.kind = kindOf(c.Message, r.in)
			kinds[r.kind]++
		}
		rows = append(rows, r)
	}
	for i := range rows {
		if rows[i].bad && kinds[rows[i].kind] < minCalls {
			rows[i].kind = "" // too rare to stand alone
		}
	}
	return rows
}

// recent is from where on the newest good calls stand; 0 where these are all.
func recent(rows []row) int {
	good := 0
	for i := len(rows) - 1; i > 0; i-- {
		if !rows[i].bad {
			good++
		}
		if good == newest/2 {
			return i
		}
	}
	return 0
}

// search adds the rules that calls bear out, and closes those that they explain.
func search(rows []row, open []bool, found []Rule) []Rule {
	good := 0
	kinds := map[string]int{}
	for i := range rows {
		if !rows[i].bad {
			good++
		} else if open[i] {
			kinds[rows[i].kind]++
		}
	}
	if good < minGood || len(kinds) == 0 {
		return found
	}
	var all []candidate
	for _, h := range propose(rows) {
		c := candidate{h, make([]bool, len(rows))}
		wrong := 0
		for i := range rows {
			if c.meets[i] = h.holds(rows[i].in, rows[i].before); c.meets[i] && !rows[i].bad {
				wrong++
			}
		}
		if float64(wrong) <= maxWrong*float64(good) && !contradicted(rows, c.meets) {
			all = append(all, c)
		}
	}
	order := make([]string, 0, len(kinds))
	for k := range kinds {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b)) })
	tests := max(1, len(all)*len(order))
	for _, k := range order {
		for range maxOfKind {
			r, ok := best(rows, open, all, k, tests, good)
			if !ok {
				break
			}
			found = append(found, r)
		}
	}
	return found
}

// contradicted reports whether the newest good calls speak against a condition: ten of
// them met it since it last went wrong.
func contradicted(rows []row, meets []bool) bool {
	good := 0
	for i := len(rows) - 1; i >= 0 && good < 10; i-- {
		switch {
		case !meets[i]:
		case rows[i].bad:
			return false
		default:
			good++
		}
	}
	return good >= 10
}

// best is the rule that explains most of the open calls of a kind.
func best(rows []row, open []bool, all []candidate, kind string, tests, good int) (Rule, bool) {
	var top *candidate
	var rule Rule
	rank := 0.0
	for k := range all {
		c := &all[k]
		r := Rule{when: c.hypothesis}
		n, runs, sources := 0, map[uint64]bool{}, map[uint64]int{}
		for i := range rows {
			switch {
			case !rows[i].bad && c.meets[i]:
				r.Good++
			case open[i] && rows[i].kind == kind:
				n++
				if c.meets[i] {
					r.Calls++
					runs[rows[i].Run] = true
					sources[rows[i].Source]++
				}
			}
		}
		if r.Runs = len(runs); r.Calls < minCalls || r.Runs < minRuns || len(sources) == 1 && mixed(rows) {
			continue
		}
		counted := 0
		for _, of := range sources {
			counted += min(of, sourceShare)
		}
		if chance(min(counted, n), n, r.Good, good)*float64(tests) > falseDiscovery {
			continue
		}
		q := float64(r.Calls)/float64(n) - 4*float64(r.Good)/float64(good)
		if c.p != "" && named(kind, c.p) {
			q += messageShare // calls cannot part what always came together
		}
		if top == nil || q > rank+1e-9 || q > rank-1e-9 && c.what < top.what {
			top, rule, rank = c, r, q
		}
	}
	if top == nil {
		return rule, false
	}
	var behind []*row
	for i := range rows {
		if open[i] && rows[i].kind == kind && top.meets[i] {
			behind = append(behind, &rows[i])
			rule.Behind = append(rule.Behind, rows[i].place)
			open[i] = false
		}
	}
	rule.write(rows, behind)
	return rule, rule.Line != ""
}

// mixed reports whether several sources recorded good calls.
func mixed(rows []row) bool {
	seen := map[uint64]bool{}
	for i := range rows {
		if !rows[i].bad {
			seen[rows[i].Source] = true
		}
	}
	return len(seen) > 1
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
// beside it.
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

func isNamePart(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
