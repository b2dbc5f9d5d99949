package journal

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"

	"memoryd"
	"memoryd/store"
)

// difference is how the local copy of a tool and the remote store differ, as far
// as one has to learn from the other.
type difference struct {
	ref          memoryd.ToolRef
	mine, theirs view
	keep         int

	lost        []memoryd.Call  // calls that the remote store should have
	common      []memoryd.Call  // local calls that it has
	unjudged    []store.Verdict // verdicts for calls that wait there
	uncorrected []store.Verdict // corrections by persons that it lacks
	judged      []store.Verdict // verdicts for calls that wait here
	corrected   []store.Verdict // verdicts that others replaced
	guideline   bool            // it lacks the newest guideline
}

func (d *difference) empty() bool {
	return len(d.lost)+len(d.unjudged)+len(d.uncorrected)+len(d.judged)+len(d.corrected) == 0 && !d.guideline
}

// compare finds the differences. Two tools with equally many calls and equal
// digests have none.
func compare(mine, theirs view, keep int) difference {
	d := difference{ref: mine.tool.ToolRef, mine: mine, theirs: theirs}
	d.keep = max(keep, len(mine.calls), len(theirs.calls))
	d.guideline = mine.tool.Guideline.Revision > theirs.tool.Guideline.Revision
	if len(mine.calls) == len(theirs.calls) && digest(mine.calls) == digest(theirs.calls) {
		return d
	}
	there := make(map[memoryd.CallKey]*memoryd.Call, len(theirs.calls))
	for i := range theirs.calls {
		there[theirs.calls[i].Key] = &theirs.calls[i]
	}
	full := len(theirs.calls) > 0 && len(theirs.calls) >= d.keep
	for i := range mine.calls {
		c := &mine.calls[i]
		if o := there[c.Key]; o != nil {
			d.common = append(d.common, *c)
			d.compareVerdicts(c, o)
			continue
		}
		if !full || len(d.common) > 0 || c.Time.After(theirs.calls[len(theirs.calls)-1].Time) {
			d.lost = append(d.lost, *c)
		}
	}
	return d
}

// compareVerdicts decides whose verdict counts: a final one over a pending one, a
// person's over a judge's, else the remote store's.
func (d *difference) compareVerdicts(mine, theirs *memoryd.Call) {
	m, t := &mine.Evaluation, &theirs.Evaluation
	if verdictLine(m) == verdictLine(t) {
		return
	}
	give := store.Verdict{ToolRef: d.ref, Key: mine.Key, Evaluation: *m}
	take := store.Verdict{ToolRef: d.ref, Key: mine.Key, Evaluation: *t}
	switch {
	case m.State == memoryd.Pending && t.State == memoryd.Pending:
	case t.State == memoryd.Pending:
		d.unjudged = append(d.unjudged, give)
	case m.State == memoryd.Pending:
		d.judged = append(d.judged, take)
	case m.State == memoryd.Judged && byPerson(m) && !byPerson(t):
		d.uncorrected = append(d.uncorrected, give)
	case t.State == memoryd.Judged:
		d.corrected = append(d.corrected, take)
	}
}

func byPerson(e *memoryd.Evaluation) bool { return strings.HasPrefix(e.JudgedBy, memoryd.PersonPrefix) }

// digest is equal for histories with the same calls in the same order and the
// same verdicts.
func digest(calls []memoryd.Call) [sha256.Size]byte {
	h := sha256.New()
	for i := range calls {
		fmt.Fprintf(h, "%s %s\n", calls[i].Key, verdictLine(&calls[i].Evaluation))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// verdictLine says what a verdict is; those of waiting calls are all equal.
func verdictLine(e *memoryd.Evaluation) string {
	if e.State == memoryd.Pending {
		return string(memoryd.Pending)
	}
	return fmt.Sprintf("%s %g %q %q %q", e.State, e.Score, e.JudgedBy, e.JudgeVersion, e.Summary)
}

// checks remembers tools that were found equal, to read again only what changed.
type checks struct {
	mu     sync.Mutex
	equals map[memoryd.ToolRef][2]state
}

// state tells a tool's content from any earlier one.
type state struct {
	memoryd.Counters
	kept                int
	revision, guideline int64
	created, modified   int64
}

func stateOf(t memoryd.Tool) state {
	return state{t.Counters, t.Kept, t.Revision, t.Guideline.Revision, t.Created.UnixMicro(), t.Modified.UnixMicro()}
}

// maxChecks bounds the memory; tools beyond are compared each time.
const maxChecks = 1 << 16

func newChecks() *checks { return &checks{equals: map[memoryd.ToolRef][2]state{}} }

func (c *checks) equal(mine, theirs memoryd.Tool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.equals[mine.ToolRef]
	return ok && known == [2]state{stateOf(mine), stateOf(theirs)}
}

func (c *checks) note(mine, theirs memoryd.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.equals) >= maxChecks {
		clear(c.equals)
	}
	c.equals[mine.ToolRef] = [2]state{stateOf(mine), stateOf(theirs)}
}
