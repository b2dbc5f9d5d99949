package ingest

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"
)

// remembered is for how long an Intake knows a call again by its tool, arguments and
// times: exporters send within seconds, a proxy may hold for minutes.
const remembered = 10 * time.Minute

// maxRecent is how many workspaces an Intake remembers the calls of at once; beyond
// it begins anew, so that what it holds is bounded.
const maxRecent = 16

// Intake takes the calls that hosts, frameworks and collectors send while they run,
// and tells those that are new from further accounts of calls that came lately. It
// counts what it took, by source. It is safe for concurrent use.
type Intake struct {
	now    func() time.Time
	mu     sync.Mutex
	recent map[string]*Joiner // by workspace
	counts map[string]map[string]int64
	last   map[string]time.Time // by source: when it told of a call
}

// NewIntake makes an Intake that knows nothing yet.
func NewIntake(now func() time.Time) *Intake {
	return &Intake{now: now, recent: map[string]*Joiner{}, counts: map[string]map[string]int64{}, last: map[string]time.Time{}}
}

// Take joins the accounts of one request and gives the calls that no earlier request
// told of. undo makes the Intake forget them again, where they could not be recorded.
func (i *Intake) Take(workspace string, accounts []Call) (fresh []Call, undo func()) {
	now := i.now()
	var calls []Call
	j := NewJoiner(func(c Call) { calls = append(calls, c) })
	for _, c := range accounts {
		j.Add(c, now)
	}
	j.Flush()
	i.mu.Lock()
	defer i.mu.Unlock()
	if n := j.Unfinished + j.Cancelled; n > 0 {
		i.count(accounts[0].Source, "unfinished", n)
	}
	recent := i.recent[workspace]
	if recent == nil {
		if len(i.recent) >= maxRecent {
			clear(i.recent)
		}
		recent = NewJoiner(func(Call) {})
		i.recent[workspace] = recent
	}
	recent.Due(now.Add(-remembered))
	for _, c := range calls {
		known := recent.find(&c) != nil
		brief := c
		brief.Output = ""
		recent.Add(brief, now)
		if known {
			i.count(c.Source, "known", 1)
			continue
		}
		fresh = append(fresh, c)
		i.count(c.Source, "new", 1)
	}
	return fresh, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		for k := range fresh {
			i.count(fresh[k].Source, "new", -1)
			if e := recent.find(&fresh[k]); e != nil {
				recent.remove(e)
			}
		}
	}
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
// that telemetry or a hook told of were counted by Take.
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

// wayOf tells by a call's metadata which way it came, "" for those that Take counted.
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
		i.counts[source] = map[string]int64{}
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
