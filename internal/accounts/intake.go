package accounts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"

	"memoryd"

	lru "github.com/hashicorp/golang-lru/v2"
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

// Intake remembers recently reported calls, so that another report of the same call is merged
// with it. It counts the calls of each source. It is safe for concurrent use.
type Intake struct {
	now    func() time.Time
	mu     sync.Mutex
	recent map[string]*Joiner // by workspace
	swept  time.Time
	asked  *lru.Cache[string, json.RawMessage] // arguments of planned calls, by workspace and ref
	counts map[string]*Came
}

// Came is what came from one source since the server's start.
type Came struct {
	// Calls counts by "new", "known", "refused", "unfinished", or the reason why they were left out.
	Calls map[string]int64 `metric:"intake_calls_total" label:"outcome" help:"Tool calls by source (api, import, mcp, mcp-wrap, telemetry, hooks) and outcome: recorded, known (received before), or the reason why the call was skipped."`
	Last  time.Time        // when a call was reported last
}

// NewIntake returns an empty Intake.
func NewIntake(now func() time.Time) *Intake {
	asked, _ := lru.New[string, json.RawMessage](maxPlanned) // it fails for no size
	return &Intake{now: now, recent: map[string]*Joiner{}, asked: asked, counts: map[string]*Came{}}
}

// Plan remembers the arguments of calls that a model asked for.
func (i *Intake) Plan(workspace string, planned []Call) {
	for k := range planned {
		if in := planned[k].Input; bytes.HasPrefix(in, []byte("{")) && len(in) < 1<<16 {
			i.asked.Add(workspace+"\x00"+planned[k].Ref(), in)
		}
	}
}

// Join merges reports that arrived together and returns the complete calls. If a report gives
// only the value of the single argument, Join replaces it by the arguments that the model
// asked for.
func (i *Intake) Join(workspace string, accounts []Call) (calls []Call) {
	j := NewJoiner(func(c Call) { calls = append(calls, c) })
	for _, c := range accounts {
		j.Add(c, i.now())
	}
	j.Flush()
	if n := j.Unfinished + j.Cancelled; n > 0 {
		i.Drop(accounts[0].Source, map[string]int{"unfinished": n})
	}
	for k := range calls {
		c := &calls[k]
		if asked, _ := i.asked.Get(workspace + "\x00" + c.Ref()); bytes.HasPrefix(c.Input, []byte(`"`)) && bytes.Contains(asked, c.Input) {
			c.Input = asked
		}
	}
	return calls
}

// Recognise returns what a source reports by a call that its owner sends to be recorded; nil for
// a call that no source reports. If another source reported it before, it has the As, Owner and
// Tool of that report.
func (i *Intake) Recognise(record *memoryd.Call, owner string) *Call {
	c, told := FromRecord(record)
	if !told {
		return nil
	}
	account := c // which leaves the stack only where there is one
	account.Owner = owner
	i.recognise(record.Workspace, &account)
	return &account
}

// recognise finds the recent call that a report is of. A call of another owner counts as the
// same only if the arguments agree, because a reference alone can be guessed.
func (i *Intake) recognise(workspace string, c *Call) {
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
	h := recent.find(c)
	if h != nil {
		known := &h.call
		if known.Owner == c.Owner || bytes.Equal(argumentsOf(known), argumentsOf(c)) {
			outcome = "known"
			c.As, c.Owner, c.Tool = known.As, known.Owner, known.Tool
		} else {
			h = nil
		}
	}
	if recognised(c.Source) { // Came counts the others
		i.count(c.Source, outcome, 1)
	}
	brief := *c
	brief.As, brief.Output = c.Ref(), ""
	recent.add(h, &brief, now, brief.As, own)
}

// Drop counts reports that were left out, by reason.
func (i *Intake) Drop(source string, byReason map[string]int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for reason, n := range byReason {
		i.count(source, reason, n)
	}
}

// NoSuchTool counts a call of a tool that no host offered. Recognise took it for one.
func (i *Intake) NoSuchTool(metadata []byte, account *Call) {
	i.mu.Lock()
	defer i.mu.Unlock()
	source := wayOf(metadata)
	if source == "" && account != nil {
		source = account.Source
		i.count(source, "new", -1)
	}
	i.count(cmp.Or(source, "api"), "no_such_tool", 1)
}

// Came counts calls that arrived over the API: recorded, already known, and refused.
// Recognise has already counted those from telemetry and hooks.
func (i *Intake) Came(metadata []byte, fresh, known, refused int) {
	source := wayOf(metadata)
	if source == "" {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count(source, "new", fresh)
	i.count(source, "known", known)
	i.count(source, "refused", refused)
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
	case len(m.Sources) == 0:
	case recognised(m.Sources[0]):
		return ""
	case strings.HasPrefix(m.Sources[0], "client:"):
		return "client"
	default:
		return "import"
	}
	return "api"
}

// recognised reports whether Recognise sees the calls of a source: those of telemetry and hooks.
func recognised(source string) bool {
	return strings.HasPrefix(source, "otlp:") || strings.HasPrefix(source, "hook:")
}

// count adds to a counter; the mutex is held.
func (i *Intake) count(source, outcome string, n int) {
	if n == 0 {
		return
	}
	if i.counts[source] == nil {
		if len(i.counts) >= maxSources {
			source = "other"
		}
		if i.counts[source] == nil {
			i.counts[source] = &Came{Calls: map[string]int64{}}
		}
	}
	i.counts[source].Last = i.now()
	i.counts[source].Calls[outcome] += int64(n)
}

// Counts returns what came from each source.
func (i *Intake) Counts() map[string]Came {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := make(map[string]Came, len(i.counts))
	for source, c := range i.counts {
		all[source] = Came{maps.Clone(c.Calls), c.Last}
	}
	return all
}
