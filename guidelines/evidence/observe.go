package evidence

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/guidelines/constraints"
	"memoryd/guidelines/rules"
	"memoryd/internal/textsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// Observation is what mining keeps of one call: its verdict, its input and message
// cut to what is compared, and what was read of it while the whole was at hand.
type Observation struct {
	// Call is the call, after Trim without most of its bodies.
	memoryd.Call
	// Run numbers the run of an agent that the call belongs to, 0: unknown; Named
	// says that the call named it.
	Run   uint64
	Named bool
	// Agent stands for the agent or session that made the call; 0: unknown.
	Agent uint64
	// Writer stands for the API key that recorded the call; 0: none, this machine.
	Writer uint64
	// Shared says that others recorded calls of the workspace's other tools; see Share.
	Shared bool
	// Found are the constraints that the message of a failed call states.
	Found []constraints.Constraint
	// Sources say where the id-like values of the input stood before in the run.
	Sources []Source
	// Echo says how the message repeats a text of the input.
	Echo Echo
	// Prepared says that a call that opens, creates or selects something had worked
	// before in the run.
	Prepared bool
	// Before are the tools that had answered well before in the run, in the order of
	// their first answer, at most maxBefore.
	Before []string
	// Same is equal for inputs that are; 0 of an observation that was stored without.
	Same uint64
	// Long is what was read of texts that Trim cuts.
	Long Marks
	// Answer is what the output was like.
	Answer Answer
	// leaves are the scalars of the input, steps all its values, form its parameters and
	// said what the output of a call that went wrong says; nil or "": not read yet.
	leaves []leafValue
	steps  []step
	form   string
	said   *wording
}

// Source is the place where a value of the input stood before.
type Source = rules.Source

// Echo is how a message repeats a text of the input.
type Echo uint8

// The ways. Without a repeated text that had quotes there is NoEcho.
const (
	NoEcho Echo = iota
	Faithful
	QuotesDropped // the text without its double quotes
)

// Observer reads calls in the order in which they were made and remembers of each
// run which outputs held which values. It is not safe for concurrent use.
type Observer struct {
	seed  maphash.Seed
	runs  map[uint64]*run
	order []uint64 // of the runs, the least recent first
	read  map[string]message
}

// Answer is what the output of a call was like: JSON, or else its text where that is
// one short line.
type Answer struct {
	JSON bool   `json:"j,omitempty"`
	Text string `json:"t,omitempty"`
}

// shortAnswer bounds the text of an answer that is kept.
const shortAnswer = 240

func answerOf(output string) Answer {
	s := strings.TrimSpace(output)
	switch {
	case s == "":
		return Answer{}
	case s[0] == '{' || s[0] == '[':
		return Answer{JSON: true}
	case len(s) > shortAnswer || strings.ContainsRune(s, '\n'):
		return Answer{}
	}
	return Answer{Text: strings.Clone(s)}
}

// run is what is remembered of one run.
type run struct {
	tools    []string
	values   map[uint64]stood
	prepared bool
}

// stood is where a value stood in a run: in the answer of which of its tools first, and
// what the newest answer said beside it.
type stood struct {
	tool  uint8 // its place in the tools
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

// NewObserver makes an Observer that has seen nothing.
func NewObserver() *Observer {
	return &Observer{seed: maphash.MakeSeed(), runs: map[uint64]*run{}, read: map[string]message{}}
}

// Observe reads one call and takes it into the memory of its run. The observation
// holds the call as it is: see Trim.
func (o *Observer) Observe(c *memoryd.Call) Observation {
	ob := Observation{Call: *c, leaves: leavesOf(c.Input), Answer: answerOf(c.Output)}
	ob.Run, ob.Agent, ob.Named = RunOf(c)
	if c.Sourced() {
		ob.Writer = hashOf("source", c.Source())
	}
	bad := wrong(c)
	if bad || c.Evaluation.State == memoryd.Pending { // whose verdict may come when the text is gone
		text, found := o.readMessage(c.Output)
		ob.Found = found
		ob.Echo = echoOf(ob.leaves, text)
	}
	if ob.Run == 0 {
		return ob
	}
	r := o.run(ob.Run)
	ob.Prepared = r.prepared
	n := min(len(r.tools), maxBefore)
	ob.Before = r.tools[:n:n] // only ever appended to
	if len(r.tools) > 0 {
		for _, l := range ob.leaves {
			if idLike(l.text) && len(ob.Sources) < maxSources {
				s := Source{Path: l.path}
				if at, ok := r.values[maphash.String(o.seed, l.text)]; ok {
					s.Tool, s.State = r.tools[at.tool], at.state
				}
				if !slices.Contains(ob.Sources, s) {
					ob.Sources = append(ob.Sources, s)
				}
			}
		}
	}
	if !bad {
		r.prepared = r.prepared || opens(c.Tool)
		r.learn(o.seed, c.Tool, c.Output)
	}
	return ob
}

// message is an output that was read.
type message struct {
	text  string
	found []constraints.Constraint
}

// maxRead is how many outputs are remembered with what was read of them: failures
// come again.
const maxRead = 512

// readMessage gives the error text of an output and what it states.
func (o *Observer) readMessage(output string) (string, []constraints.Constraint) {
	if m, known := o.read[output]; known {
		return m.text, m.found
	}
	text := constraints.Unwrap(output)
	found := constraints.Read(output)
	found = found[:min(len(found), maxFound)]
	if len(output) <= scannedBytes {
		if len(o.read) >= maxRead {
			clear(o.read)
		}
		o.read[output] = message{text, found}
	}
	return text, found
}

// maxFound, maxSources and maxBefore bound what one observation holds.
const (
	maxFound   = 4
	maxSources = 8
	maxBefore  = 16
)

func (o *Observer) run(id uint64) *run {
	r := o.runs[id]
	if r == nil {
		if len(o.runs) >= maxRuns {
			delete(o.runs, o.order[0])
			o.order = o.order[1:]
		}
		r = &run{values: map[uint64]stood{}}
		o.runs[id] = r
		o.order = append(o.order, id)
	}
	return r
}

// learn notes the id-like values of an output; the first tool to show one keeps it.
func (r *run) learn(seed maphash.Seed, tool, output string) {
	at := slices.Index(r.tools, tool)
	if at < 0 {
		if len(r.tools) >= maxRunTools {
			return
		}
		at = len(r.tools)
		r.tools = append(r.tools, tool)
	}
	text, mark := textsafe.Head(output, scannedBytes), uint8(0)
	for from, i := 0, 0; i <= len(text); i++ {
		if i < len(text) && marks[text[i]] != delimits {
			mark |= marks[text[i]]
			continue
		}
		if mark != 0 && len(r.values) < maxRunValues {
			if v := strings.Trim(text[from:i], ".:"); idLike(v) {
				h := maphash.String(seed, v)
				if _, known := r.values[h]; !known {
					r.values[h] = stood{tool: uint8(at)} //nolint:gosec // below maxRunTools
				}
			}
		}
		from, mark = i+1, 0
	}
	for value, state := range rules.States(text) {
		h := maphash.String(seed, value)
		if v, known := r.values[h]; known {
			v.state = state
			r.values[h] = v
		}
	}
}

// What a byte does in an output: it parts values, or marks one as like an identifier.
const (
	delimits = 1 + iota
	identifies
)

var marks = func() (t [256]uint8) {
	for b := range t {
		switch {
		case delimiter(rune(b)):
			t[b] = delimits
		case strings.IndexByte(idMarks, byte(b)) >= 0:
			t[b] = identifies
		}
	}
	return t
}()

const idMarks = "0123456789_/"

func delimiter(r rune) bool { return rules.Delimits(r) }

func idLike(s string) bool { return rules.IdentifierLike(s) }

var opening = []string{"create", "open", "load", "start", "connect", "init", "login", "log_in", "select", "switch", "launch"}

// opens reports whether a tool's name says that it brings about a state.
func opens(tool string) bool {
	name := strings.ToLower(tool)
	return slices.ContainsFunc(opening, func(w string) bool { return strings.Contains(name, w) })
}

// RunOf tells the run and the agent that a call names in its metadata: the run is
// trajectory_id, else session_id or conversation_id, else the agent's calls of one
// half hour. 0 stands for unknown.
func RunOf(c *memoryd.Call) (id, agent uint64, named bool) {
	names := namesIn(c.Metadata)
	if names.agent != "" {
		agent = AgentOf(names.agent)
	}
	switch {
	case names.run != "":
		return hashOf("run", names.run), agent, true
	case names.session != "":
		return hashOf("session", names.session), agent, true
	case !c.Time.IsZero():
		return hashOf("time", names.agent+c.Time.Truncate(runGap).UTC().Format(time.RFC3339)), agent, false
	}
	return 0, agent, false
}

// names are what metadata call the run and the agent of a call.
type names struct{ run, session, agent string }

func namesIn(metadata []byte) (n names) {
	if len(metadata) == 0 {
		return n
	}
	dec := memoryd.BorrowDecoder(metadata)
	defer memoryd.ReturnDecoder(dec)
	if dec.PeekKind() != '{' {
		return n
	}
	_, _ = dec.ReadToken()
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			break
		}
		key := name.String()
		if dec.PeekKind() != '"' {
			if dec.SkipValue() != nil {
				break
			}
			continue
		}
		value, err := dec.ReadToken()
		if err != nil {
			break
		}
		switch key {
		case "trajectory_id":
			n.run = value.String()
		case "session_id", "conversation_id":
			n.session = value.String()
		case "agent_id":
			n.agent = value.String()
		}
	}
	return n
}

// AgentOf is the number of an agent, by its agent_id.
func AgentOf(id string) uint64 { return hashOf("agent", id) }

// hashOf is a number that stays the same over restarts.
func hashOf(kind, s string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(kind + "\x00" + s) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return max(h, 1)
}

// leafValue is a scalar of an input.
type leafValue struct {
	path, text string
	kind       byte // as jsontext.Kind: '"', '0', 't', 'f'
}

// maxLeaves bounds the scalars of one input that are compared.
const maxLeaves = 64

// leavesOf lists the scalars of an input in order; elements of lists share a path.
func leavesOf(raw json.RawMessage) []leafValue {
	in := bytes.TrimSpace(raw)
	if len(in) > 0 && in[0] == '"' {
		var s string
		if json.Unmarshal(in, &s) != nil {
			s = string(in)
		}
		if t := strings.TrimSpace(s); !strings.HasPrefix(t, "{") || !jsontext.Value(t).IsValid() {
			return []leafValue{{"", s, '"'}}
		}
		in = []byte(s)
	}
	var list []leafValue
	dec := memoryd.BorrowDecoder(in)
	defer memoryd.ReturnDecoder(dec)
	collect(dec, "", 0, &list)
	return list
}

func collect(dec *jsontext.Decoder, path string, depth int, list *[]leafValue) bool {
	kind := dec.PeekKind()
	if depth > maxDepth || len(*list) >= maxLeaves {
		return dec.SkipValue() == nil
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return false
	}
	switch kind {
	case '{':
		for dec.PeekKind() == '"' {
			name, err := dec.ReadToken()
			if err != nil || !collect(dec, strings.TrimPrefix(path+"."+name.String(), "."), depth+1, list) {
				return false
			}
		}
		_, err = dec.ReadToken()
	case '[':
		for k := dec.PeekKind(); k != ']' && k != 0; k = dec.PeekKind() {
			if !collect(dec, path+"[]", depth+1, list) {
				return false
			}
		}
		_, err = dec.ReadToken()
	case '"', '0', 't', 'f':
		*list = append(*list, leafValue{path, tok.String(), byte(kind)})
	}
	return err == nil
}

// echoOf looks in a message for a text of the input that had double quotes, as it
// was or without them.
func echoOf(leaves []leafValue, message string) Echo {
	for _, l := range leaves {
		if l.kind != '"' || !strings.Contains(l.text, `"`) {
			continue
		}
		bare := strings.ReplaceAll(l.text, `"`, "")
		for line := range strings.Lines(message[:min(len(message), 2048)]) {
			for _, e := range echoes(line) {
				switch {
				case strings.Contains(e, `"`) && strings.Contains(l.text, e):
					return Faithful
				case !strings.Contains(l.text, e) && strings.Contains(bare, e):
					return QuotesDropped
				}
			}
		}
	}
	return NoEcho
}

// echoes are the parts of a line that may repeat an input: what stands between a
// backtick and the last quote, and what stands before ": -c: line".
func echoes(line string) []string {
	var found []string
	line = strings.TrimSpace(line)
	if _, after, ok := strings.Cut(line, "`"); ok {
		if end := strings.LastIndexByte(after, '\''); end >= leastEcho {
			found = append(found, after[:end])
		}
	}
	if before, _, ok := strings.Cut(line, ": -c: line"); ok && len(before) >= leastEcho {
		found = append(found, before)
	}
	return found
}

const leastEcho = 10
