package evidence

import (
	"cmp"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/constraints"
)

// window is the observations that causes, repairs and sources are mined from.
type window struct {
	obs    []Observation
	leaves [][]leafValue
	inputs []*constraints.Input // parsed when first asked for
	// of are the causes of each failed call.
	of         [][]*Cause
	provenance []Provenance
	who        parties
}

func newWindow(obs []Observation) *window {
	w := &window{obs: obs, leaves: make([][]leafValue, len(obs)), inputs: make([]*constraints.Input, len(obs)), of: make([][]*Cause, len(obs)), who: partiesOf(obs)}
	for i := range obs {
		w.leaves[i] = obs[i].scalars()
	}
	w.provenance = w.sources()
	return w
}

func (w *window) input(i int) constraints.Input {
	if w.inputs[i] == nil {
		in := constraints.InputOf(w.obs[i].Input)
		w.inputs[i] = &in
	}
	return *w.inputs[i]
}

func (w *window) bad(i int) bool   { return failed(&w.obs[i].Call) }
func (w *window) wrong(i int) bool { return wrong(&w.obs[i].Call) }
func (w *window) good(i int) bool  { return good(&w.obs[i].Call) }

// Provenance says where the values of a parameter came from in good calls.
type Provenance struct {
	Path string `json:"path"`
	// Tools are those whose outputs held the values first, the most frequent first.
	Tools []ToolCount `json:"tools,omitempty"`
	// Seen counts the values of good calls that stood in an earlier output, of Of,
	// in Runs runs; the calls of these runs had outputs before them.
	Seen int `json:"seen"`
	Of   int `json:"of"`
	Runs int `json:"runs"`
	// Sole says that one party of several is behind all of Of.
	Sole bool `json:"sole,omitempty"`
	// UnseenFailed counts the failed calls among the Unseen calls whose value stood
	// nowhere before; SeenFailed those among the SeenAll calls whose value did.
	Unseen       int `json:"unseen"`
	UnseenFailed int `json:"unseen_failed"`
	SeenAll      int `json:"seen_all"`
	SeenFailed   int `json:"seen_failed"`
}

// ToolCount is a tool and a number of values.
type ToolCount struct {
	Tool   string `json:"tool"`
	Values int    `json:"values"`
}

// Tells reports whether the values nearly always come from an earlier answer: 95 %
// of ten or more, in three runs or more.
func (p *Provenance) Tells() bool {
	return !p.Sole && p.Of >= 10 && p.Runs >= 3 && 20*p.Seen >= 19*p.Of
}

// sources counts where values came from.
func (w *window) sources() []Provenance {
	byPath := map[string]*Provenance{}
	tools := map[string]map[string]int{}
	runs := map[string]runSet{}
	by := map[string]backers{}
	var order []string
	for i := range w.obs {
		for _, s := range w.obs[i].Sources {
			p := byPath[s.Path]
			if p == nil {
				p = &Provenance{Path: s.Path}
				byPath[s.Path], tools[s.Path], runs[s.Path], by[s.Path] = p, map[string]int{}, runSet{}, backers{}
				order = append(order, s.Path)
			}
			switch bad := w.bad(i); s.Tool {
			case "":
				p.Unseen++
				if bad {
					p.UnseenFailed++
				}
			default:
				p.SeenAll++
				if bad {
					p.SeenFailed++
				}
			}
			if w.good(i) {
				p.Of++
				by[s.Path].add(w.who.of[i])
				runs[s.Path][w.obs[i].Run] = true
				if s.Tool != "" {
					p.Seen++
					tools[s.Path][s.Tool]++
				}
			}
		}
	}
	var list []Provenance
	for _, path := range order {
		p := byPath[path]
		p.Runs, p.Sole = len(runs[path]), w.who.sole(by[path])
		for tool, n := range tools[path] {
			p.Tools = append(p.Tools, ToolCount{tool, n})
		}
		slices.SortFunc(p.Tools, func(a, b ToolCount) int {
			return cmp.Or(cmp.Compare(b.Values, a.Values), strings.Compare(a.Tool, b.Tool))
		})
		p.Tools = p.Tools[:min(len(p.Tools), 4)]
		list = append(list, *p)
	}
	return list
}

// Exemplar is a typical good call.
type Exemplar struct {
	// Input is a short input of the good calls with the most frequent set of
	// parameters: a quarter of them are shorter.
	Input []byte `json:"input"`
	// Calls counts the good calls with this set, of Good.
	Calls int `json:"calls"`
	Good  int `json:"good"`
	// Own are values of Input that are nobody else's business: one party alone of several
	// sent them, or they are no part of a small set that calls share. Sole says that
	// calls of this form are of one.
	Own  []string        `json:"own,omitempty"`
	Sole bool            `json:"sole,omitempty"`
	Key  memoryd.CallKey `json:"-"`
}

// exemplar picks a good call to show.
func (w *window) exemplar() *Exemplar {
	forms := map[string][]int{}
	good := 0
	for i := range w.obs {
		if w.good(i) {
			good++
			key := w.obs[i].form
			if key == "" {
				key = pathSet(w.leaves[i])
			}
			forms[key] = append(forms[key], i)
		}
	}
	name := ""
	for key, calls := range forms {
		if n := len(forms[name]); len(calls) > n || len(calls) == n && key < name {
			name = key
		}
	}
	calls := forms[name]
	if len(calls) == 0 {
		return nil
	}
	slices.SortFunc(calls, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(w.obs[a].Input), len(w.obs[b].Input)), cmp.Compare(b, a))
	})
	at := calls[len(calls)/4]
	by := backers{}
	for _, i := range calls {
		by.add(w.who.of[i])
	}
	return &Exemplar{Sole: w.who.sole(by), Input: w.obs[at].Input, Calls: len(calls), Good: good, Own: w.own(at), Key: w.obs[at].Key}
}

// What makes a value one of a small set that may be shown to others.
const (
	sharedCalls = 3  // that gave it
	sharedRuns  = 2  // of them
	smallSet    = 20 // values of the parameter at most
	longNumber  = 6  // digits from which a number may be somebody's
)

// own lists the values of an input that may not be shown to others.
func (w *window) own(at int) []string {
	var own []string
	for _, l := range w.leaves[at] {
		if l.kind != '"' && (l.kind != '0' || len(l.text) < longNumber) {
			continue
		}
		calls, by, runs, values := 0, map[uint64]bool{}, map[uint64]bool{}, map[string]bool{}
		for i := range w.obs {
			for _, o := range w.leaves[i] {
				if o.path == l.path {
					values[o.text] = true
				}
			}
			if slices.Contains(w.leaves[i], l) {
				calls++
				by[w.who.of[i]] = true
				runs[w.obs[i].Run] = true
			}
		}
		if calls < sharedCalls || len(runs) < sharedRuns || len(values) > smallSet || w.who.known > 1 && len(by) < 2 {
			own = append(own, l.text)
		}
	}
	return own
}

func pathSet(leaves []leafValue) string {
	var paths []string
	for _, l := range leaves {
		if !slices.Contains(paths, l.path) {
			paths = append(paths, l.path)
		}
	}
	slices.Sort(paths)
	return strings.Join(paths, "\x00")
}

// Echoes counts the messages that repeat a text of the input which had double
// quotes, and those of them without the quotes.
type Echoes struct {
	Of      int `json:"of"`
	Dropped int `json:"dropped"`
	Runs    int `json:"runs"`
	// Path is the parameter of most of these texts.
	Path string `json:"path"`
	// With and Without are all calls whose text has double quotes and none.
	WithFailed, With, WithoutFailed, Without int
}

func (w *window) echoes() Echoes {
	var e Echoes
	runs := runSet{}
	paths := map[string]int{}
	for i := range w.obs {
		if w.obs[i].Echo == NoEcho {
			continue
		}
		e.Of++
		if w.obs[i].Echo == QuotesDropped {
			e.Dropped++
			runs[w.obs[i].Run] = true
			for _, l := range w.leaves[i] {
				if strings.Contains(l.text, `"`) {
					if paths[l.path]++; paths[l.path] >= paths[e.Path] {
						e.Path = l.path
					}
				}
			}
		}
	}
	e.Runs = len(runs)
	if e.Dropped == 0 {
		return e
	}
	for i := range w.obs {
		for _, l := range w.leaves[i] {
			if l.path != e.Path || !strings.ContainsAny(l.text, "$*`\\|;{}()") && !strings.Contains(l.text, `"`) {
				continue
			}
			n, bad := &e.Without, &e.WithoutFailed
			if strings.Contains(l.text, `"`) || cut(l.text) && w.obs[i].Long&1 == 1 {
				n, bad = &e.With, &e.WithFailed
			}
			*n++
			if w.bad(i) {
				*bad++
			}
			break
		}
	}
	return e
}

// parties tells who is behind calls, for the quorum: the API keys that recorded them
// where these are several, else the agents that the calls name themselves. A key cannot
// be forged, the name of an agent can: whoever holds one key is one party whatever its
// calls say. It is one of several also where the others use other tools of the workspace.
type parties struct {
	of    []uint64 // of each observation; 0: unknown
	known int
}

func partiesOf(obs []Observation) parties {
	writers, agents, shared := map[uint64]bool{}, map[uint64]bool{}, false
	for i := range obs {
		shared = shared || obs[i].Shared
		writers[obs[i].Writer] = true
		if obs[i].Agent != 0 {
			agents[obs[i].Agent] = true
		}
	}
	p := parties{make([]uint64, len(obs)), len(agents)}
	byKey := shared || len(writers) > 1
	if byKey {
		p.known = max(2, len(writers))
	}
	for i := range obs {
		if p.of[i] = obs[i].Agent; byKey {
			p.of[i] = max(obs[i].Writer, 1)
		}
	}
	return p
}

// Share says of observations that several sources recorded calls in their workspace.
func Share(obs []Observation) {
	for i := range obs {
		obs[i].Shared = true
	}
}

// Sole reports whether, of several parties, one alone is behind the observations that of
// picks.
func Sole(obs []Observation, of func(i int) bool) bool {
	p, b := partiesOf(obs), backers{}
	for i := range obs {
		if of(i) {
			b.add(p.of[i])
		}
	}
	return p.sole(b)
}

// backers collects the parties behind something.
type backers map[uint64]bool

func (b backers) add(party uint64) {
	if party != 0 {
		b[party] = true
	}
}

// sole reports whether one party of several is behind it all, or only calls that name none.
func (p *parties) sole(b backers) bool { return p.known > 1 && len(b) <= 1 }

// alone is sole for the calls of a set.
func (p *parties) alone(calls set) bool {
	if p.known < 2 {
		return false
	}
	b := backers{}
	calls.each(func(i int) { b.add(p.of[i]) })
	return p.sole(b)
}
