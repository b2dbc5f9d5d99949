package evidence

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/rules"
	"memoryd/internal/textsafe"
)

// Exemplar is a typical good call.
type Exemplar struct {
	// Input is a short input of good calls with the most frequent set of parameters: a
	// quarter of them are shorter.
	Input []byte `json:"input"`
	// Calls counts the good calls with this set, of Good.
	Calls int `json:"calls"`
	Good  int `json:"good"`
	// Own are values of Input that must not be shown to others: one of several parties alone
	// sent them, or they do not belong to a small set that calls share. Sole reports that all
	// calls of this form are from one party.
	Own []string `json:"own,omitempty"`
	// Frames are the forms of texts of Input, by parameter.
	Frames map[string]*Frame `json:"frames,omitempty"`
	Sole   bool              `json:"sole,omitempty"`
	Key    memoryd.CallKey   `json:"-"`
}

// newestForm is how many of the newest good calls decide which form is typical: a tool
// whose parameters changed is shown as it is now.
const newestForm = 40

// exemplarOf picks a good call to show.
func exemplarOf(obs []Observation, who *parties, columns map[string]*column) *Exemplar {
	forms, newest := map[string][]int{}, map[string]int{}
	good, met := 0, 0
	for i := range slices.Backward(obs) {
		if !obs[i].Good() {
			continue
		}
		good++
		key := obs[i].form
		if key == "" {
			key = pathSet(obs[i].values())
		}
		forms[key] = append(forms[key], i)
		if met++; met <= newestForm {
			newest[key]++
		}
	}
	name := ""
	for key := range forms {
		if n := newest[name]; newest[key] > n || newest[key] == n && (len(forms[key]) > len(forms[name]) ||
			len(forms[key]) == len(forms[name]) && key < name) {
			name = key
		}
	}
	calls := forms[name]
	if len(calls) == 0 {
		return nil
	}
	frames := framesOf(obs, calls, who)
	slices.SortFunc(calls, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(obs[a].Input), len(obs[b].Input)), cmp.Compare(b, a))
	})
	at := calls[len(calls)/4]
	var by backers
	for _, i := range calls {
		by.add(who.of[i])
	}
	own := ownValues(obs[at].values(), columns, who)
	return &Exemplar{Sole: who.sole(by), Input: obs[at].Input, Calls: len(calls), Good: good, Own: own, Frames: frames, Key: obs[at].Key}
}

// framesOf are the forms of what calls, the newest first, gave for each parameter of their own.
func framesOf(obs []Observation, calls []int, who *parties) map[string]*Frame {
	texts, by := map[string][]string{}, map[string][]uint64{}
	for _, i := range calls {
		for _, l := range obs[i].values() {
			if l.Kind == rules.Text && !strings.ContainsAny(l.Path, ".[") && !strings.HasSuffix(l.Text, rules.Cut) {
				texts[l.Path], by[l.Path] = append(texts[l.Path], l.Text), append(by[l.Path], who.of[i])
			}
		}
	}
	frames := map[string]*Frame{}
	for p, list := range texts {
		if f := frameOf(list, by[p], who); f != nil && !textsafe.SecretName(p) {
			frames[p] = f
		}
	}
	return frames
}

// What makes a value one of a small set that may be shown to others.
const (
	sharedCalls = 3  // that gave it
	sharedRuns  = 2  // of them
	smallSet    = 20 // values of the parameter at most
	longNumber  = 4  // digits before its zeros from which a number may be somebody's
	namedEach   = 20 // calls for each value of a parameter whose values are written like names
)

// nameForm is a value written like the name of somebody or something: "Smith", "Dr. Lee".
var nameForm = regexp.MustCompile(`^\p{Lu}\p{Ll}`)

// MayName reports whether a value may be that of a person: it is written like a name, and
// so many values stand in so few calls that they are no choices.
func MayName(value string, values, calls int) bool {
	return nameForm.MatchString(value) && namedEach*values > calls
}

// ownValues lists the values of an input that may not be shown to others.
func ownValues(input []rules.Leaf, columns map[string]*column, who *parties) (own []string) {
	for _, l := range input {
		if l.Kind != rules.Text && (l.Kind != rules.Number || len(strings.TrimRight(l.Text, "0")) < longNumber) {
			continue
		}
		var v *valueSeen
		c := columns[l.Path]
		if c != nil {
			v = c.values[l.Text]
		}
		if v == nil || v.Calls < sharedCalls || len(v.runs) < sharedRuns || len(c.values) > smallSet || who.sole(v.by) ||
			MayName(l.Text, len(c.values), c.given) {
			own = append(own, l.Text)
		}
	}
	return own
}

func pathSet(leaves []rules.Leaf) string {
	var paths []string
	for i := range leaves {
		if l := &leaves[i]; l.Scalar() && !slices.Contains(paths, l.Path) {
			paths = append(paths, l.Path)
		}
	}
	slices.Sort(paths)
	return strings.Join(paths, "\x00")
}

// unchanged counts the calls that repeated a failed one of their run as it was, at
// any time, and their runs.
func unchanged(obs []Observation) (r Retry, runs int) {
	type sent struct{ run, input uint64 }
	seen, failedBefore := map[uint64]bool{}, map[sent]bool{}
	for i := range obs {
		if obs[i].Run == 0 {
			continue
		}
		key := sent{obs[i].Run, obs[i].Same}
		if key.input == 0 {
			key.input = hashOf("input", string(obs[i].Input))
		}
		if failedBefore[key] && obs[i].Evaluation.State == memoryd.Judged {
			seen[key.run] = true
			if r.Tries++; obs[i].Good() {
				r.Succeeded++
			}
		}
		if wrong(&obs[i].Call) {
			failedBefore[key] = true
		}
	}
	return r, len(seen)
}

// parties tells who is behind calls, for the quorum: the API keys that recorded them
// where these are several, else the agents that the calls name themselves. A key cannot
// be forged, the name of an agent can: whoever holds one key is one party whatever its
// calls say. It is one of several also where the others use other tools of the workspace.
type parties struct {
	of    []uint64 // of each observation; 0: unknown
	known int
	keyed bool // they are keys
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
	p := parties{make([]uint64, len(obs)), len(agents), shared || len(writers) > 1}
	if p.keyed {
		p.known = max(2, len(writers))
	}
	for i := range obs {
		if p.of[i] = obs[i].Agent; p.keyed {
			p.of[i] = max(obs[i].Writer, 1)
		}
	}
	if !p.keyed && len(agents) > 1 {
		p.merge(obs)
	}
	return p
}

// merge makes one party of the agents beyond the most active ones that have more than half of the good calls: who makes names up
// has to do more than all others to pass for several.
func (p *parties) merge(obs []Observation) {
	good, all := map[uint64]int{}, 0
	for i := range obs {
		good[p.of[i]] += 0 // known, without a good call too
		if obs[i].Good() {
			good[p.of[i]]++
			all++
		}
	}
	agents := slices.SortedFunc(maps.Keys(good), func(a, b uint64) int { return cmp.Or(cmp.Compare(good[b], good[a]), cmp.Compare(a, b)) })
	active, sum := 0, 0
	for active < len(agents) && 2*sum <= all {
		sum += good[agents[active]]
		active++
	}
	for i := range p.of {
		if slices.Index(agents, p.of[i]) > active {
			p.of[i] = agents[active]
		}
	}
	p.known = min(p.known, active+1)
}

// backers tells of the parties behind something whether they are several.
type backers struct {
	one     uint64 // the first; 0: none
	several bool
}

func (b *backers) add(party uint64) {
	if b.one == 0 {
		b.one = party
	}
	b.several = b.several || party != 0 && party != b.one
}

// backing is what is behind something: calls, their runs and their parties.
type backing struct {
	calls int
	runs  map[uint64]bool
	by    backers
}

func (b *backing) add(run, party uint64) {
	if b.runs == nil {
		b.runs = map[uint64]bool{}
	}
	b.calls++
	b.runs[run] = true
	b.by.add(party)
}

func (b *backing) join(o *backing) {
	b.calls += o.calls
	maps.Copy(b.runs, o.runs)
	b.by.add(o.by.one)
	b.by.several = b.by.several || o.by.several
}

// sole reports whether one party of several is behind it all, or only calls that name none.
func (p *parties) sole(b backers) bool { return p.known > 1 && !b.several }
