package evidence

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"memoryd"
	"memoryd/guidelines/rules"
	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"
)

// Observation is what mining keeps of one call: its verdict, its input and message reduced to
// what is compared, and what was read while the whole call was available.
type Observation struct {
	// Call is the call; after Trim, without most of its bodies.
	memoryd.Call
	rules.Seen
	// Run is the number of the call's run; 0 means unknown. Named reports that the call named
	// it.
	Run   uint64
	Named bool
	// Agent is the number of the agent or session that made the call; 0 means unknown.
	Agent uint64
	// Writer is the number of the API key that recorded the call; 0 means none, this machine.
	Writer uint64
	// Shared reports that several sources recorded calls in the workspace.
	Shared bool
	// Answer is what the output was like.
	Answer Answer
	// leaves are the values of the input, form its parameters and said what the output of
	// a call that went wrong says; nil or "": not read yet.
	leaves []rules.Leaf
	form   string
	said   *wording
}

// OwnRun is what counts as a run: a call that names none is one of its own.
func (ob *Observation) OwnRun() uint64 {
	if ob.Named {
		return ob.Run
	}
	return hashOf("call", string(ob.Key[:]))
}

// Source is the place where a value of the input was seen before.
type Source = rules.Source

// seed is of all hashes of values.
var seed = maphash.MakeSeed()

// Observer reads calls in order and remembers, for each run, which outputs had which values.
// It is not safe for concurrent use.
type Observer struct {
	runs  map[uint64]*run
	order []uint64 // of the runs, the least recent first
	world *World   // of the workspace; nil for none
	// teaches reports that what good calls use and show is known to it from then on.
	teaches bool
}

// Answer is the form of a call's output: JSON, or its text if that is one short line of several words: "OK" says nothing.
type Answer struct {
	JSON bool   `json:"j,omitzero"`
	Text string `json:"t,omitempty"`
}

// shortAnswer bounds the text of an answer that is kept.
const shortAnswer = 240

func answerOf(output string) Answer {
	s := strings.TrimSpace(output)
	switch {
	case s == "":
		return Answer{}
	case loosejson.Looks(s):
		return Answer{JSON: true}
	case len(s) > shortAnswer || strings.ContainsRune(s, '\n') || !strings.ContainsFunc(s, partsOrSays):
		return Answer{}
	}
	return Answer{Text: strings.Clone(s)}
}

// partsOrSays reports whether a character parts words, or may be one, as in scripts without blanks.
func partsOrSays(r rune) bool { return r == ' ' || r >= utf8.RuneSelf }

// run is what is remembered of one run.
type run struct {
	tools  []string
	good   []int // when each of these was called last, of the good calls
	values map[uint64]stood
	given  map[uint64]string // by the hash of a value, the use of it
	names  map[use]string
	calls  map[string]called // by tool
	made   map[uint64]bool   // by the hash of a good call
	known  *words

	answers int // good calls
}

// called is how often a run called a tool, and when last.
type called struct {
	n  int
	at time.Time
}

// stood is where a value stood in a run: in the answer of which of its tools first, and
// what the newest answer said beside it.
type stood struct {
	tool  uint8 // its place in the tools
	by    uint8 // the place of the one that showed it last
	at    int32 // the good call that did
	state string
}

// Limits on what is remembered.
const (
	maxRuns      = 256
	maxRunValues = 4096
	maxRunTools  = 64
	scannedBytes = 16 << 10 // of an output
	// runGap parts the runs of calls that name none.
	runGap = 30 * time.Minute
)

// NewObserver returns an Observer that has seen nothing.
func NewObserver() *Observer {
	return &Observer{runs: map[uint64]*run{}}
}

// Observe reads one call and adds it to the memory of its run. The observation has the whole
// call: see Trim.
func (o *Observer) Observe(c *memoryd.Call) Observation {
	ob := Observation{Call: *c, leaves: rules.LeavesOf(c.Input), Answer: answerOf(c.Output)}
	ob.Run, ob.Agent, ob.Named = runOf(c)
	ob.Writer = WriterOf(c.Source())
	if ob.Run == 0 {
		return ob
	}
	r := o.run(ob.Run)
	if ob.Named {
		ob.Turn, ob.Pause = r.turn(c.Tool, c.Time)
	}
	n := min(len(r.tools), rules.MaxBefore)
	ob.Before = r.tools[:n:n] // only ever appended to
	if o.world != nil && o.world.isRead() {
		ob.World = true
		ob.Strange, ob.Taken = o.strange(c.Tool, r, ob.leaves)
	}
	if len(r.tools) > 0 {
		ob.Sources = o.sources(r, ob.leaves)
	}
	if ob.Named {
		ob.Last, ob.Newest = r.last(ob.leaves), r.newest(n)
		ob.Fresh = r.fresh(ob.leaves, !wrong(c))
		ob.Again = r.again(maphash.Comparable(seed, c.Tool)^maphash.Bytes(seed, c.Input), !wrong(c))
	}
	if wrong(c) {
		return ob
	}
	at, ok := r.place(c.Tool)
	o.learn(r, at, ok, &ob)
	if o.teaches {
		o.teach(&ob)
	}
	if ok {
		r.give(r.tools[at], ob.leaves)
	}
	return ob
}

// sources say where the values of an input stood in its run: of its own members first, then
// of the elements of lists.
func (o *Observer) sources(r *run, leaves []rules.Leaf) (list []Source) {
	for _, listed := range [...]bool{false, true} {
		for i := range leaves {
			l := &leaves[i]
			text := l.Text
			if l.Kind == rules.Number {
				text = strconv.FormatFloat(l.Number, 'f', -1, 64)
			}
			if l.Kind > rules.Number || strings.Contains(l.Path, "[]") != listed || len(list) == maxSources ||
				!rules.IdentifierLike(text) || rules.DateForm(text) != "" {
				continue
			}
			s := Source{Path: l.Path}
			if at, ok := r.values[maphash.String(seed, text)]; ok {
				if s.Tool, s.Old = r.tools[at.tool], r.good[at.by] > int(at.at); !listed {
					s.State = at.state
				}
			}
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return list
}

// maxSources bounds what one observation holds.
const maxSources = 12

func (o *Observer) run(id uint64) *run {
	r := o.runs[id]
	if r == nil {
		if len(o.runs) >= maxRuns {
			delete(o.runs, o.order[0])
			o.order = o.order[1:]
		}
		r = &run{
			values: map[uint64]stood{}, given: map[uint64]string{}, names: map[use]string{}, calls: map[string]called{}, made: map[uint64]bool{},
		}
		o.runs[id] = r
		o.order = append(o.order, id)
	}
	return r
}

// turn counts a call of a tool, and says how many seconds after the one before it was made.
func (r *run) turn(tool string, at time.Time) (n int, pause float64) {
	before, known := r.calls[tool]
	if !known && len(r.calls) >= maxRunTools {
		return 0, 0
	}
	r.calls[tool] = called{before.n + 1, at}
	if known {
		pause = max(0, at.Sub(before.at).Seconds())
	}
	return before.n + 1, pause
}

// learn notes the words of an output, where the call names its run, and its id-like values where the tool has a place;
// the first tool to show one keeps it.
func (o *Observer) learn(r *run, at int, placed bool, ob *Observation) {
	text, mark := textsafe.Head(ob.Output, scannedBytes), uint8(0)
	for value, word, i := 0, 0, 0; i <= len(text); i++ {
		m := uint8(delimits)
		if i < len(text) {
			m = marks[text[i]]
		}
		if mark |= m; m == inWord {
			continue
		}
		if m&inWord == 0 && i >= word {
			if ob.Named {
				r.know(rules.NumberOf(text[word:i]))
			}
			if word = i + 1; i < len(text) && text[i] == '\\' { // as of a line's end, in JSON
				word++
			}
		}
		if m&delimits != 0 {
			if mark&identifies != 0 && placed {
				o.show(r, at, ob.Writer, strings.Trim(text[value:i], ".:"))
			}
			value, mark = i+1, 0
		}
	}
	if !placed {
		return
	}
	for g := range rules.Identifiers(text) {
		h := maphash.String(seed, g.Value)
		if v, known := r.values[h]; known && g.State != "" {
			v.state = g.State
			r.values[h] = v
		}
	}
}

// show notes that the tool at a place showed a value.
func (o *Observer) show(r *run, at int, source uint64, value string) {
	if !rules.IdentifierLike(value) {
		return
	}
	h := maphash.String(seed, value)
	if o.teaches {
		o.world.add(source, h)
	}
	if len(r.values) == maxRunValues {
		return
	}
	old, known := r.values[h]
	if !known {
		old.tool = uint8(at) //nolint:gosec // below maxRunTools
	}
	old.by, old.at = uint8(at), int32(r.answers) //nolint:gosec // below maxRunTools; counted
	r.values[h] = old
}

// What a byte does in an output: it parts values, marks one as like an identifier, or belongs to a word.
const (
	delimits = 1 << iota
	identifies
	inWord
)

var marks = func() (t [256]uint8) {
	for b := range t {
		if rules.Delimits(rune(b)) {
			t[b] |= delimits
		}
		if strings.IndexByte(idMarks, byte(b)) >= 0 {
			t[b] |= identifies
		}
		if rules.InWord(byte(b)) {
			t[b] |= inWord
		}
	}
	return t
}()

const idMarks = "0123456789_/"

// runOf returns the run and the agent that a call's metadata name. The run is trajectory_id,
// otherwise session_id, otherwise the agent's calls within half an hour; 0 means unknown.
func runOf(c *memoryd.Call) (id, agent uint64, named bool) {
	names := memoryd.NamesOf(c.Metadata)
	if names.Agent != "" {
		agent = agentOf(names.Agent)
	}
	switch {
	case names.Trajectory != "":
		return hashOf("run", names.Trajectory), agent, true
	case names.Session != "":
		return hashOf("session", names.Session), agent, true
	case !c.Time.IsZero():
		return hashOf("time", names.Agent+c.Time.Truncate(runGap).UTC().Format(time.RFC3339)), agent, false
	}
	return 0, agent, false
}

// agentOf returns the number of an agent with an agent_id.
func agentOf(id string) uint64 { return hashOf("agent", id) }

// SourceOf is the number of an API key, by its id.
func SourceOf(id string) uint64 { return hashOf("source", id) }

// WriterOf is the Writer of the calls of a source, as Call.Source names it.
func WriterOf(source string) uint64 {
	if source == memoryd.LocalSource {
		return 0
	}
	return SourceOf(source)
}

// hashOf is a number that stays the same over restarts.
func hashOf(kind, s string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(kind + "\x00" + s) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return max(h, 1)
}
