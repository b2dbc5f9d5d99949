package guidelines

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memoryd/guidelines/evidence"
)

// outcomes are what a count or a share may be said to be of.
type outcomes uint8

const (
	bad outcomes = 1 << iota
	half
	one
	notFailed
	other               // something that is no outcome of a call
	anyOutcome outcomes = 0xFF
)

// rate is a share between 0 and 1, and of what.
type rate struct {
	value float64
	of    outcomes
}

// scope is the numbers that belong to one thing.
type scope struct {
	rates   []rate
	seconds []float64
	tokens  []float64
	numbers []float64           // counts, scores and parameter values
	pairs   map[[2]int]outcomes // counts that belong together, k of n, and of what
}

func newScope() *scope { return &scope{pairs: map[[2]int]outcomes{}} }

// scope is that of a parameter, under its path and its last name.
func (g *grounds) scope(path string) *scope {
	t := g.by[path]
	if t == nil {
		t = newScope()
		g.by[path] = t
		if last := lastName(path); g.by[last] == nil {
			g.by[last] = t
		} else if last != path {
			// Two parameters of the same last name: what is said of the name may be
			// of either.
			g.by["\x00"+path] = g.by[last]
		}
	}
	return t
}

// message is the scope of an error message.
func (g *grounds) message(template string) *scope {
	key := template
	if q, ok := quotable(template, messageLimit); ok {
		key = "\"" + strings.Trim(flat(q), " .")
	}
	if g.by[key] == nil {
		g.by[key] = newScope()
	}
	return g.by[key]
}

// about lists the scopes of the parameters in facts.
func (g *grounds) about(lists ...[]evidence.Fact) []*scope {
	var scopes []*scope
	for _, facts := range lists {
		for _, f := range facts {
			for _, t := range []*scope{g.scope(f.Path), g.by["\x00"+f.Path]} {
				if t != nil && !slices.Contains(scopes, t) {
					scopes = append(scopes, t)
				}
			}
		}
	}
	return scopes
}

// scopesOf lists what a statement speaks of: the parameters and messages that it
// names. One that names none speaks of the tool.
func (g *grounds) scopesOf(s string) []*scope {
	var scopes []*scope
	add := func(t *scope) {
		if t != nil && !slices.Contains(scopes, t) {
			scopes = append(scopes, t)
		}
	}
	for _, m := range quoted.FindAllStringSubmatch(s, -1) {
		name, _, _ := strings.Cut(m[1], "=")
		add(g.by[strings.TrimSpace(name)])
		if q := strings.Trim(flat(m[2]+m[3]), " ."); q != "" {
			for key, t := range g.by {
				if strings.HasPrefix(key, "\"") && strings.Contains(key[1:], q) && 2*len(q) > len(key) {
					add(t)
				}
			}
		}
	}
	if len(scopes) == 0 {
		return []*scope{g.general}
	}
	return scopes
}

// pair takes in that k of n are, and the others are not.
func (t *scope) pair(k, n int, is, not outcomes) {
	t.pairs[[2]int{k, n}] |= is
	t.pairs[[2]int{n - k, n}] |= not
	t.numbers = append(t.numbers, float64(k), float64(n-k), float64(n))
	if n > 0 {
		t.rates = append(t.rates, rate{float64(k) / float64(n), is}, rate{float64(n-k) / float64(n), not})
	}
}

func (t *scope) facts(fs []evidence.Fact) {
	for _, f := range fs {
		t.numbers = append(t.numbers, f.Number)
		if v, err := strconv.ParseFloat(f.Value, 64); err == nil {
			t.numbers = append(t.numbers, v)
		}
	}
}

func (t *scope) cost(r evidence.Resource, c evidence.Cost) {
	t.numbers = append(t.numbers, float64(c.With), float64(c.Without))
	if r == evidence.Time {
		t.seconds = append(t.seconds, c.MedianWith, c.MedianWithout)
	} else {
		t.tokens = append(t.tokens, c.MedianWith, c.MedianWithout)
	}
}

// drafted takes in the numbers of a statement of ours.
func (t *scope) drafted(text string) {
	for _, n := range figuresIn(text) {
		switch n.unit {
		case "s":
			t.seconds = append(t.seconds, n.value)
		case "token":
			t.tokens = append(t.tokens, n.value)
		case "":
			t.numbers = append(t.numbers, n.value)
		}
	}
	for _, m := range countsIn(text) {
		t.pairs[[2]int{m.k, m.n}] |= m.of
	}
}

// verb is what is said of a count, a few words after it at most.
var verb = regexp.MustCompile(`(?i)^\W*(?:(?:such|judged|of|the|all|these|those|calls?|them|were|have)\W+){0,4}(did not fail|failed|fails?|scored 0\.5|scores? 0\.5|scored 1(?:\.0)?|scores? 1(?:\.0)?|scored 0(?:\.0)?|succeeded|worked|went well)\b`)

func outcomesOf(verb string) outcomes {
	switch v := strings.ToLower(verb); {
	case v == "did not fail", v == "succeeded", v == "worked", v == "went well":
		return notFailed | one
	case strings.HasSuffix(v, "0.5"):
		return half
	case strings.HasSuffix(v, "1"), strings.HasSuffix(v, "1.0"):
		return one
	}
	return bad
}

// counted is "k of n" in a text, and what is said of it: of, or anyOutcome.
type counted struct {
	k, n, start, end int
	of               outcomes
}

// countsIn lists the counts of a text. One without a verb of its own has that of
// the count before it: "12 of 17 failed, otherwise 3 of 23".
func countsIn(text string) []counted {
	var list []counted
	last := anyOutcome
	for _, m := range ofTotal.FindAllStringSubmatchIndex(text, -1) {
		if v := verb.FindStringSubmatch(text[m[1]:]); v != nil {
			last = outcomesOf(v[1])
		}
		list = append(list, counted{whole(text[m[2]:m[3]]), whole(text[m[4]:m[5]]), m[0], m[1], last})
	}
	return list
}

// counts reports whether every number of a sentence is known of what it speaks of.
func (g *grounds) counts(s string) bool {
	scopes := g.scopesOf(s)
	wide := append(slices.Clone(scopes), g.general)
	if len(scopes) == 1 && scopes[0] == g.general { // it names nothing, and may mean anything
		for _, t := range g.by {
			wide = append(wide, t)
		}
	}
	bare := quoted.ReplaceAllStringFunc(s, func(q string) string { return strings.Repeat(" ", len(q)) })
	for _, m := range countsIn(bare) {
		in := scopes
		if len(wide) > len(scopes)+1 {
			in = wide
		}
		if !slices.ContainsFunc(in, func(t *scope) bool { return t.pairs[[2]int{m.k, m.n}]&m.of != 0 }) {
			return false
		}
	}
	for _, n := range figuresIn(bare) {
		in := wide
		if n.unit == "%" {
			in = scopes
		}
		if !slices.ContainsFunc(in, func(t *scope) bool { return t.knows(n) }) {
			return false
		}
	}
	return true
}

// knows reports whether n, rounded as it stands, is a value of its kind.
func (t *scope) knows(n measured) bool {
	step := math.Pow(10, -float64(n.digits))
	near := func(v float64) bool { return math.Abs(v-n.value) <= step/2+1e-9 }
	switch n.unit {
	case "%":
		return slices.ContainsFunc(t.rates, func(r rate) bool { return near(100*r.value) && r.of&n.of != 0 })
	case "s":
		return slices.ContainsFunc(t.seconds, near)
	case "ms":
		return slices.ContainsFunc(t.seconds, func(v float64) bool { return near(1000 * v) })
	case "token":
		return slices.ContainsFunc(t.tokens, near)
	}
	return slices.ContainsFunc(t.numbers, near)
}
