package ingest

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"
)

// The bounds of what an Intake remembers: for how long it knows a call again by its
// tool, arguments and times (a transcript comes at the end of a session), how often it
// looks for what is older, of how many workspaces at once (beyond it begins anew), and
// how many sources it counts apart. Of calls that a model only asked for it remembers
// maxPlanned.
const (
	maxPlanned = 1 << 12
	remembered = 12 * time.Hour
	sweepEvery = time.Minute
	maxRecent  = 16
	maxSources = 64
)

// Intake knows the calls that sources told of lately, so that a further account of one
// is recorded as that call. It counts what it took, by source. It is safe for
// concurrent use; nil knows nothing.
type Intake struct {
	now    func() time.Time
	mu     sync.Mutex
	recent map[string]*Joiner // by workspace
	swept  time.Time
	asked  map[string]json.RawMessage // arguments of planned calls, by workspace and ref
	counts map[string]map[string]int64
	last   map[string]time.Time // by source: when it told of a call
}

// NewIntake makes an Intake that knows nothing yet.
func NewIntake(now func() time.Time) *Intake {
	return &Intake{now: now, recent: map[string]*Joiner{}, counts: map[string]map[string]int64{}, last: map[string]time.Time{}}
}

// Plan remembers the arguments of calls that a model asked for.
func (i *Intake) Plan(workspace string, planned []Call) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for k := range planned {
		if len(i.asked) >= maxPlanned || i.asked == nil {
			i.asked = map[string]json.RawMessage{}
		}
		if in := planned[k].Input; len(in) > 0 && in[0] == '{' && len(in) < 1<<16 {
			i.asked[workspace+"\x00"+planned[k].Ref()] = in
		}
	}
}

// Join puts together the accounts that came together and gives the calls that are whole. An
// input that is but the value of the argument becomes what the model asked for.
func (i *Intake) Join(workspace string, accounts []Call) (calls []Call) {
	j := NewJoiner(func(c Call) { calls = append(calls, c) })
	for _, c := range accounts {
		j.Add(c, i.now())
	}
	j.Flush()
	if n := j.Unfinished + j.Cancelled; n > 0 {
		i.Drop(accounts[0].Source, map[string]int{"unfinished": n})
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for k := range calls {
		c := &calls[k]
		if asked := i.asked[workspace+"\x00"+c.Ref()]; len(asked) > 0 && len(c.Input) > 0 && c.Input[0] == '"' && bytes.Contains(asked, c.Input) {
			c.Input = asked
		}
	}
	return calls
}

// Recognise looks whether a call that is about to be recorded is a further account of
// one that came lately. Then it gets that one's As, Owner and Tool, under which it is
// recorded. A call of another owner is the same call only where the arguments agree: a
// reference alone can be guessed.
func (i *Intake) Recognise(workspace string, c *Call) {
	if i == nil {
		return
	}
	now := i.now()
	i.mu.Lock()
	defer i.mu.Unlock()
	recent := i.recent[workspace]
	if recent == nil {
		if len(i.recent) >= maxRecent {
			clear(i.recent)
		}
		recent = NewJoiner(func(Call) {})
		i.recent[workspace] = recent
	}
	if now.Sub(i.swept) >= sweepEvery {
		i.swept = now
		for _, j := range i.recent {
			j.Due(now.Add(-remembered))
		}
	}
	own, outcome := c.Ref(), "new"
	e := recent.find(c)
	if e != nil {
		known := &e.Value.(*held).call //nolint:forcetypeassert // the list holds nothing else
		if known.Owner == c.Owner || bytes.Equal(argumentsOf(known), argumentsOf(c)) {
			outcome = "known"
			c.As, c.Owner, c.Tool = known.As, known.Owner, known.Tool
		} else {
			e = nil
		}
	}
	if strings.HasPrefix(c.Source, "otlp:") || strings.HasPrefix(c.Source, "hook:") { // Came counts the others
		i.count(c.Source, outcome, 1)
	}
	brief := *c
	brief.As, brief.Output = c.Ref(), ""
	recent.add(e, &brief, now, brief.As, own)
}

// Drop counts accounts that were left out, by reason.
func (i *Intake) Drop(source string, byReason map[string]int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for reason, n := range byReason {
		i.count(source, reason, n)
	}
}

// Came counts calls that came by the API: recorded, known already, and refused. Those
// that telemetry or a hook told of were counted by Recognise.
func (i *Intake) Came(metadata []byte, fresh, known, refused int) {
	source := wayOf(metadata)
	if source == "" {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for outcome, n := range map[string]int{"new": fresh, "known": known, "refused": refused} {
		if n > 0 {
			i.count(source, outcome, n)
		}
	}
}

// wayOf tells by a call's metadata which way it came, "" for those that Recognise counted.
// Names that callers choose are none: there must be few.
func wayOf(metadata []byte) string {
	if !bytes.Contains(metadata, []byte(`"source`)) {
		return "api"
	}
	var m struct {
		Source  string   `json:"source"`
		Sources []string `json:"sources"`
	}
	switch err := json.Unmarshal(metadata, &m); {
	case err != nil:
	case m.Source == "mcp-wrap" || m.Source == "mcp":
		return m.Source
	case len(m.Sources) > 0 && (strings.HasPrefix(m.Sources[0], "otlp:") || strings.HasPrefix(m.Sources[0], "hook:")):
		return ""
	case len(m.Sources) > 0:
		return "import"
	}
	return "api"
}

// LastSeen says when each source told of a call last.
func (i *Intake) LastSeen() map[string]time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Clone(i.last)
}

// count adds to a counter; the mutex is held.
func (i *Intake) count(source, outcome string, n int) {
	if i.counts[source] == nil {
		if len(i.counts) >= maxSources {
			source = "other"
		}
		if i.counts[source] == nil {
			i.counts[source] = map[string]int64{}
		}
	}
	i.last[source] = i.now()
	i.counts[source][outcome] += int64(n)
}

// Counts gives, by source, what became of the calls that it told of: "new", "known",
// "refused", "unfinished" or the reason for which they were left out.
func (i *Intake) Counts() map[string]map[string]int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := make(map[string]map[string]int64, len(i.counts))
	for source, outcomes := range i.counts {
		all[source] = maps.Clone(outcomes)
	}
	return all
}
