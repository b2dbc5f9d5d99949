package mistakes

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoryd/internal/stats"
)

// Place is the place of a failure.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
}

// Mistake is a group of failures of a tool with the same message.
type Mistake struct {
	// ID stays the same while the numbers change.
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Said is the tool's last message, "" if there was none in words; Did is an input that
	// got it. Both are untrusted.
	Said  string    `json:"said"`
	Did   string    `json:"did"`
	Calls int       `json:"calls"`
	Runs  int       `json:"runs"`
	Turns int       `json:"turns"`
	Cost  float64   `json:"seconds"`
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Where []Place   `json:"where,omitempty"`
	// Fix is what worked next; nil if no run shows it.
	Fix *Fix `json:"fix,omitempty"`
}

// The kinds of fix.
const (
	byChange = "change" // a change of the input
	ByTime   = "again"  // the same call, later
	Unlike   = "unlike" // another successful call that hardly resembles the failed one
)

// Fix is what calls show to have fixed a mistake.
type Fix struct {
	Kind string `json:"kind"`
	// Says is what to do, or, for Unlike, what happened.
	Says string `json:"says"`
	// Calls and Runs had this fix. Of is the number of failed calls that a good call of the
	// tool followed in their run.
	Calls int `json:"calls"`
	Runs  int `json:"runs"`
	Of    int `json:"of"`
	// Definite reports that the change is clear without an example.
	Definite bool `json:"definite,omitempty"`
	// Bad and Good are the inputs of one example.
	Bad   string `json:"bad,omitempty"`
	Good  string `json:"good,omitempty"`
	Where Place  `json:"where,omitzero"`

	change Change
	runs   map[uint64]bool
}

// Proven reports whether more than one run shows it.
func (f *Fix) Proven() bool { return f != nil && f.Runs > 1 && f.Kind != Unlike }

// turnSeconds is what a turn costs an agent beside the time of its calls. It only orders.
const turnSeconds = 5

// weight orders mistakes by their cost.
func (m *Mistake) weight() float64 { return m.Cost + turnSeconds*float64(m.Turns) }

// maxPlaces bounds the places that are told of a mistake.
const maxPlaces = 3

// Merger merges the failures of files. The zero value is ready to use.
type Merger struct {
	groups map[string]*group
	known  map[uint64]bool
}

type group struct {
	Mistake
	runs  map[uint64]bool
	fixes map[string]*Fix
	order []string
	of    int
}

// Add adds a failure from a file, once.
func (m *Merger) Add(file string, f *Failure) {
	if m.groups == nil {
		m.groups, m.known = map[string]*group{}, map[uint64]bool{}
	}
	if m.known[f.ID] {
		return
	}
	m.known[f.ID] = true
	key := f.Tool + "\x00" + f.Kind
	g := m.groups[key]
	if g == nil {
		g = &group{runs: map[uint64]bool{}, fixes: map[string]*Fix{}, Mistake: Mistake{ID: strconv.FormatUint(hashOf(key), 16), Tool: f.Tool}}
		m.groups[key] = g
	}
	g.add(Place{file, f.Line}, f)
}

func (g *group) add(at Place, f *Failure) {
	g.Calls++
	g.runs[f.Run] = true
	g.Runs = len(g.runs)
	g.Turns += f.Turns
	g.Cost += f.Seconds
	g.First = stats.Earlier(g.First, f.At)
	if f.At.After(g.Last) || g.Calls == 1 {
		g.Last = f.At
		g.Said, g.Did = f.Said, f.Did
	}
	if len(g.Where) < maxPlaces && !slices.ContainsFunc(g.Where, func(p Place) bool { return p.File == at.File }) {
		g.Where = append(g.Where, at)
	}
	if f.Then != "" {
		g.of++
		g.repaired(at, f)
	}
}

// repaired counts what a run did between a failure and the call that worked.
func (g *group) repaired(at Place, f *Failure) {
	switch then := (Place{at.File, f.ThenLine}); {
	case !f.Near:
		g.vote(Fix{Kind: Unlike}, then, f)
	case len(f.Changes) == 0:
		says := "make the same call again later"
		if n := len(f.Between); f.Again && n > 0 {
			says = "make the same call again after " + code(f.Between[n-1])
		}
		g.vote(Fix{Kind: ByTime, Says: says}, then, f)
	default:
		for _, c := range f.Changes {
			shown, definite := *f, alone(f.Changes, c)
			if c.Was != "" && len(f.Did)+len(f.Then) > shownValue {
				if shown.Did, shown.Then = c.Was, c.Now; c.Was == c.Bad {
					shown.Did, shown.Then = "", "" // the sentence says it
				}
			}
			told := []Change{c, c.general()}
			if c.Bad+c.Good == "" {
				told = told[1:] // there are no values to tell
			}
			for _, c := range told {
				g.vote(Fix{Kind: byChange, Says: c.String(), change: c, Definite: definite && c.definite()}, then, &shown)
			}
		}
	}
}

// alone reports whether nothing but which parameters are given changed beside c.
func alone(all []Change, c Change) bool {
	return !slices.ContainsFunc(all, func(o Change) bool { return o != c && (o.What == edited || o.What == replaced || o.What == spaced) })
}

func (g *group) vote(fix Fix, at Place, f *Failure) {
	key := fix.Kind + "\x00" + fix.Says
	v := g.fixes[key]
	if v == nil {
		v = &fix
		v.runs = map[uint64]bool{}
		g.fixes[key] = v
		g.order = append(g.order, key)
	}
	v.Definite = v.Definite || fix.Definite
	v.Calls++
	v.runs[f.Run] = true
	v.Runs = len(v.runs)
	// An example whose parts look the same shows nothing: they differ in blanks.
	if f.Did != f.Then && (v.Good == "" || len(f.Did)+len(f.Then) < len(v.Bad)+len(v.Good)) {
		v.Bad, v.Good, v.Where = f.Did, f.Then, at
	}
}

// Mistakes lists the mistakes, the most expensive first.
func (m *Merger) Mistakes() []Mistake {
	out := make([]Mistake, 0, len(m.groups))
	for _, g := range m.groups {
		g.Fix = g.best()
		out = append(out, g.Mistake)
	}
	slices.SortFunc(out, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(min(b.Calls, 2), min(a.Calls, 2)), cmp.Compare(b.weight(), a.weight()),
			cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// best is the fix that most runs show: of a change with its values and without, the
// former where most cases have it.
func (g *group) best() *Fix {
	var top *Fix
	for _, key := range g.order {
		f := g.fixes[key]
		if f.Of = g.of; f.Definite && (2*f.Calls < f.Of || f.Runs == 1 && g.of > 1) {
			f.Definite = false
		}
		if top == nil || f.rank() > top.rank() || f.rank() == top.rank() && cmp.Or(cmp.Compare(f.Runs, top.Runs),
			cmp.Compare(f.Calls, top.Calls)) > 0 {
			top = f
		}
	}
	if top != nil && top.Kind == Unlike {
		top.Says = "no small change is to be seen: another call of the tool was the next that worked"
	}
	return top
}

// rank orders fixes by how much they say, before how many runs show them.
func (f *Fix) rank() int {
	switch {
	case f.Kind == Unlike:
		return 0
	case f.Definite && f.Runs > 1:
		return 2
	}
	return 1
}

// Refuted reports whether good calls of the tool did what a change is meant to fix. Then the
// change fixed these cases, but is not advice.
func (f *Fix) Refuted(good []json.RawMessage) bool {
	if f.Kind != byChange {
		return false
	}
	n := 0
	for _, input := range good {
		v, given := valuesOf(input)[f.change.Path]
		switch f.change.What {
		case added:
			given = !given
		case replaced, edited:
			given = given && f.change.Bad != "" && strings.Contains(v, f.change.Bad)
		}
		if given {
			n++
		}
	}
	return float64(n) > tolerated*float64(len(good))
}

// tolerated is the share of good calls that may do what a change is to mend: verdicts err.
const tolerated = 0.05
