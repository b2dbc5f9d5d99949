package accounts

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/stats"
)

// The bounds of what a Joiner holds.
const (
	maxHeld      = 20_000
	maxHeldBytes = 64 << 20
	// overlap is how far the times of two accounts of one call may lie apart: the
	// clock of another process, a hook that ran late.
	overlap = 2 * time.Second
	// maxHours is for how long a call can be found by its time.
	maxHours = 24
)

// Joiner merges parts and reports of a call: the call in a transcript and its result, the
// hook and the span of the same call. It holds calls until Flush or Due takes them, or until
// newer ones push them out.
//
// Two parts belong to one call if they have the same Ref. They also do if one has no id or
// they come from different sources, and their tool and arguments are equal and their times
// overlap. Parts from one source without an id are never merged that way, because an agent
// may call the same tool twice.
//
// Use NewJoiner to make one. A Joiner is not safe for concurrent use.
type Joiner struct {
	emit  func(Call)
	byRef map[string]*held
	order []*held // the oldest first
	bytes int
	came  int                // calls that were held so far
	alike map[string][]*held // those by what further accounts of them share (see traits)

	// Unfinished counts calls that were dropped without a result, Cancelled those that
	// somebody stopped.
	Unfinished, Cancelled int
}

type held struct {
	call    Call
	number  int // in the order in which calls came
	refs    []string
	traits  []string
	changed time.Time
	bytes   int
}

// NewJoiner returns a Joiner that passes each complete call to emit. Calls that are not Whole
// are only counted.
func NewJoiner(emit func(Call)) *Joiner {
	return &Joiner{emit: emit, byRef: map[string]*held{}, alike: map[string][]*held{}}
}

// Add adds a call, or a part of one, at the given time. Only Due uses the time.
func (j *Joiner) Add(c Call, now time.Time) { j.add(j.find(&c), &c, now, c.Ref()) }

// add takes a call into h, a held one, or as a new one where that is nil, to be found
// by refs.
func (j *Joiner) add(h *held, c *Call, now time.Time, refs ...string) {
	if len(c.Sources) == 0 {
		c.Sources = []string{c.Source}
	}
	if h == nil {
		j.came++
		h = &held{number: j.came, call: *c}
		j.order = append(j.order, h)
	} else {
		j.bytes -= h.bytes
		merge(&h.call, c)
	}
	j.index(h, refs, now)
	for len(j.order) > maxHeld || j.bytes > maxHeldBytes && len(j.order) > 1 {
		j.letGo(j.order[0])
		j.order[0] = nil
		j.order = j.order[1:]
	}
}

// Due emits the calls to which nothing was added since the given time.
func (j *Joiner) Due(since time.Time) {
	j.order = slices.DeleteFunc(j.order, func(h *held) bool {
		due := !h.changed.After(since)
		if due {
			j.letGo(h)
		}
		return due
	})
}

// Flush emits all calls in the order in which they were first seen.
func (j *Joiner) Flush() {
	for _, h := range j.order {
		j.letGo(h)
	}
	j.order = nil
}

// letGo passes on a call that leaves the order.
func (j *Joiner) letGo(h *held) {
	j.bytes -= h.bytes
	for _, ref := range h.refs {
		delete(j.byRef, ref)
	}
	j.unlike(h)
	switch {
	case h.call.Outcome == Cancelled:
		j.Cancelled++
	case !h.call.Whole():
		j.Unfinished++
	default:
		j.emit(h.call)
	}
}

func (j *Joiner) unlike(h *held) {
	for _, t := range h.traits {
		if left := slices.DeleteFunc(j.alike[t], func(o *held) bool { return o == h }); len(left) > 0 {
			j.alike[t] = left
		} else {
			delete(j.alike, t)
		}
	}
	h.traits = nil
}

// index makes a held call findable by what is known of it now.
func (j *Joiner) index(h *held, refs []string, now time.Time) {
	h.changed = now
	h.bytes = 512 + len(h.call.Input) + len(h.call.Output)
	j.bytes += h.bytes
	for _, ref := range refs {
		if ref != "" && j.byRef[ref] == nil {
			j.byRef[ref] = h
			h.refs = append(h.refs, ref)
		}
	}
	j.unlike(h)
	h.traits = traits(&h.call, h.call.Parent, h.call.Span)
	for _, t := range h.traits {
		j.alike[t] = append(j.alike[t], h)
	}
}

// traits are what accounts of one call share: a span right above or below, if
// the parameters above and below name the other account's Span and Parent, and the
// arguments with the hours in which it ran.
func traits(c *Call, above, below string) (list []string) {
	if above != "" {
		list = append(list, "above "+c.Trace+"/"+above)
	}
	if below != "" {
		list = append(list, "below "+c.Trace+"/"+below)
	}
	args := argumentsOf(c)
	from, to := c.span()
	if len(args) == 0 || from.IsZero() {
		return list
	}
	sum := Digest(args)
	first, last := from.Add(-overlap).Unix()/3600, to.Add(overlap).Unix()/3600
	for hour := first; hour <= min(last, first+maxHours); hour++ {
		list = append(list, sum+" "+strconv.FormatInt(hour, 10))
	}
	return list
}

// find gives the held call that c is a part or another account of.
func (j *Joiner) find(c *Call) *held {
	if h := j.byRef[c.Ref()]; h != nil {
		return h
	}
	var oldest *held
	for _, t := range traits(c, c.Span, c.Parent) {
		for _, h := range j.alike[t] {
			if older := oldest == nil || h.number < oldest.number; older && same(&h.call, c) {
				oldest = h
			}
		}
	}
	return oldest
}

// same reports whether two accounts that share a trait are of one call.
func same(a, b *Call) bool {
	return sameTool(a.Tool, b.Tool) && (nested(a, b) || !slices.Contains(a.Sources, b.Source) && !apart(a, b) && meet(a, b))
}

// argumentsOf is the canonical text of a call's input; nothing when it is not known.
func argumentsOf(c *Call) []byte {
	return memoryd.InputText(c.Input)
}

// sameTool compares names without the server and the host that some put before
// them: mcp__files__read is mcp_files_read, and both, MCP:read and files.read are read.
func sameTool(a, b string) bool {
	a, b = strings.ReplaceAll(a, "__", "_"), strings.ReplaceAll(b, "__", "_")
	if a == b {
		return true
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	before, ok := strings.CutSuffix(a, b)
	return ok && strings.ContainsRune("_.:/", rune(before[len(before)-1]))
}

// nested reports whether one account is the span right above the other: a framework's
// around that of its MCP client.
func nested(a, b *Call) bool {
	above := func(a, b *Call) bool { return a.Span != "" && a.Span == b.Parent }
	return a.Trace == b.Trace && (above(a, b) || above(b, a)) &&
		(len(a.Input) == 0 || len(b.Input) == 0 || bytes.Equal(argumentsOf(a), argumentsOf(b)))
}

// apart reports whether the ids that an agent's model gave tell two accounts apart; what
// else stands for an id is the source's own.
func apart(a, b *Call) bool {
	own := func(c *Call) bool { return c.ID != "" && !strings.HasPrefix(c.ID, SpanID) }
	return own(a) && own(b) && a.ID != b.ID
}

// meet reports whether the times of two accounts overlap.
func meet(a, b *Call) bool {
	from, to := a.span()
	start, end := b.span()
	return !start.After(to.Add(overlap)) && !from.After(end.Add(overlap))
}

// span is from when to when the call ran, as far as that is known.
func (c *Call) span() (from, to time.Time) {
	from, to = c.Begun, c.Done
	switch {
	case from.IsZero() && to.IsZero():
	case from.IsZero():
		from = to.Add(-c.Duration)
	case to.IsZero():
		to = from.Add(c.Duration)
	}
	return from, to
}

// field is something that several accounts of one call tell.
type field uint8

const (
	named     field = iota // the tool and who called it
	arguments              // what it was given
	answer                 // what it said
	exit                   // how it ended, beside the worse of two outcomes, which holds
	took                   // how long it took
	fields
)

// SpanID begins the id of a call that only a span has.
const SpanID = "span-"

// wrapper is the source that stands between an agent and a server of MCP.
const wrapper = "mcp-wrap"

// trust is the order of trust between accounts of one call, by field, the greater the
// better: a transcript is the host's own account, of arguments as the model gave them; a
// wrapper stands beside the tool and hears it whole; a span is often cut, and its names
// and arguments are the exporter's; a hook hardly knows how a call ended.
var trust = map[string][fields]int{
	//            named arguments answer exit took
	"transcript": {5, 5, 4, 5, 3},
	"hook":       {4, 4, 2, 2, 1},
	wrapper:      {3, 3, 5, 4, 5},
	"client":     {2, 2, 3, 3, 4},
	"otlp":       {1, 1, 1, 1, 2},
}

// trustIn is how much a source is believed of a field.
func trustIn(source string, f field) int {
	kind, _, _ := strings.Cut(source, ":")
	if of, ok := trust[kind]; ok {
		return of[f]
	}
	return trust["transcript"][f]
}

// trusted is how much that is believed what a call has of a field: as who gave it, or, of
// a record, as the best who told of it.
func (c *Call) trusted(f field) int {
	if c.by[f] > 0 {
		return c.by[f]
	}
	best := trustIn(c.Source, f)
	for _, s := range c.Sources {
		best = max(best, trustIn(s, f))
	}
	return best
}

// stands reports whether an id stands for one that a span does not tell.
func (c *Call) stands(id string) bool {
	return c.Trace != "" && (id == c.Trace || id == SpanID+c.Span)
}

// merge adds to a call what another account of it knows better, field by field.
func merge(a, b *Call) {
	m := merging{Call: a, other: b}
	for f := range fields {
		mine, other := a.trusted(f), b.trusted(f)
		m.better[f] = other > mine
		a.by[f], b.by[f] = mine, other
	}
	m.arguments()
	m.answer()
	m.names()
	m.ending()
	a.Local = a.Local || b.Local
	for _, s := range b.Sources {
		if !slices.Contains(a.Sources, s) {
			a.Sources = append(a.Sources, s)
		}
	}
	for f := range fields {
		if m.theirs[f] {
			a.by[f] = b.by[f]
		}
	}
}

// merging is a call that takes from another account of it: better are the fields that the
// other is believed more of, theirs those that it gave.
type merging struct {
	*Call
	other          *Call
	better, theirs [fields]bool
}

// takes notes that a field is the other's, which has it, where this account lacks it or is
// believed less of it.
func (m *merging) takes(f field, has, lacks bool) bool {
	m.theirs[f] = has && (lacks || m.better[f])
	return m.theirs[f]
}

func (m *merging) arguments() {
	if len(m.Input) == 0 {
		m.theirs[arguments], m.Input = len(m.other.Input) > 0, m.other.Input
	} else if m.takes(arguments, m.other.tellsInput(), !m.tellsInput()) {
		m.Input = m.other.Input
	}
}

// tellsInput reports whether an account knows the arguments: a span without any may only
// not tell them.
func (c *Call) tellsInput() bool {
	return len(c.Input) > 0 && (string(c.Input) != "{}" || c.by[arguments] > trust["otlp"][arguments])
}

func (m *merging) answer() {
	a, b := m.Call, m.other
	equally := b.by[answer] == a.by[answer]
	fuller := a.Output == "" && b.Output != "" || m.better[answer] && (b.Output != "" || a.Output == "") ||
		equally && len(b.Output) > len(a.Output)
	m.theirs[answer] = b.Ended && (!a.Ended || a.Truncated && !b.Truncated || a.Truncated == b.Truncated && fuller)
	if m.theirs[answer] {
		a.Output, a.Truncated = b.Output, b.Truncated
	}
	a.Ended = a.Ended || b.Ended
}

func (m *merging) names() {
	a, b := m.Call, m.other
	m.takes(named, b.Tool != "", a.Tool == "")
	for _, f := range []struct{ mine, theirs *string }{
		{&a.Conversation, &b.Conversation},
		{&a.Agent, &b.Agent},
		{&a.Project, &b.Project},
		{&a.Model, &b.Model},
		{&a.ID, &b.ID},
		{&a.Trace, &b.Trace},
		{&a.Span, &b.Span},
		{&a.Tool, &b.Tool},
		{&a.ErrorType, &b.ErrorType},
	} {
		if *f.theirs != "" && (*f.mine == "" || m.better[named] || a.stands(*f.mine) && !b.stands(*f.theirs)) {
			*f.mine = *f.theirs
		}
	}
	if m.better[named] {
		a.Source = b.Source
	}
}

// ending takes over how a call ended, when and after how long.
func (m *merging) ending() {
	a, b := m.Call, m.other
	a.Outcome = max(a.Outcome, b.Outcome)
	if m.takes(exit, b.ExitCode != nil, a.ExitCode == nil) {
		a.ExitCode = b.ExitCode
	}
	a.Begun = stats.Earlier(a.Begun, b.Begun)
	if a.Done.IsZero() || !b.Done.IsZero() && m.better[named] {
		a.Done = b.Done
	}
	if m.takes(took, b.Duration > 0, a.Duration == 0) {
		a.Duration = b.Duration
	}
}
