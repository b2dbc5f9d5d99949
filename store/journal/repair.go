package journal

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"

	"memoryd"
	"memoryd/store"
)

// Report is what a repair found and did.
type Report struct {
	// Tools is how many tools the local copy has. Of them Unchanged were not read
	// because neither side had changed since they were last found equal, and
	// Skipped could not be compared because something waited for them.
	Tools, Unchanged, Skipped int
	// Damaged is how many tools the remote store had lost something of. It was
	// given back Calls, Verdicts and Guidelines.
	Damaged, Calls, Verdicts, Guidelines int
	// Known is how many calls were sent that the remote store had let go rightly:
	// it recognised them.
	Known int
	// Refreshed is how many verdicts of others the local copy took over, and
	// Deleted of how many tools it dropped what another process had deleted.
	Refreshed, Deleted int
}

// Repair compares the local copy, tool by tool, with the remote store, and gives
// back what that has lost. It stops at the first failure of a store; what it did
// till then stands and is reported. Repairing again is safe.
func (s *backend) Repair(ctx context.Context) (r Report, err error) {
	if err := s.drainer.Enter(ctx); err != nil {
		return r, err
	}
	defer s.drainer.Leave()
	defer func() { s.counters.repaired(r, err) }()
	for space, err := range store.AllWorkspaces(ctx, s.local) {
		if err != nil {
			return r, err
		}
		if err := s.repairSpace(ctx, space, &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (s *backend) repairSpace(ctx context.Context, space string, r *Report) error {
	for t, err := range store.AllTools(ctx, s.local, space) {
		if err != nil {
			return err
		}
		r.Tools++
		limited, cancel := context.WithTimeout(ctx, requestTime)
		err := s.repairTool(limited, t.ToolRef, r)
		cancel()
		if err != nil {
			if isAway(err) {
				s.markAway(err)
			}
			return err
		}
	}
	return nil
}

// repairTool looks at the tool without holding anybody up and, only if something
// is wrong, once more while nothing new is accepted for it.
func (s *backend) repairTool(ctx context.Context, ref memoryd.ToolRef, r *Report) error {
	d, ok, err := s.look(ctx, ref, r)
	if err != nil || !ok || d.empty() {
		return err
	}
	unlock := s.order.lock([]memoryd.ToolRef{ref})
	defer unlock()
	before := *r
	if d, ok, err = s.look(ctx, ref, r); err != nil || !ok || d.empty() {
		return err
	}
	if err := s.mend(ctx, d, r); err != nil {
		return err
	}
	if r.Calls > before.Calls || r.Verdicts > before.Verdicts || r.Guidelines > before.Guidelines {
		r.Damaged++
	}
	return s.settleCheck(ctx, ref)
}

// look compares a tool; ok is false when it cannot be or need not be compared.
func (s *backend) look(ctx context.Context, ref memoryd.ToolRef, r *Report) (d difference, ok bool, err error) {
	if s.q.waitingFor(ref).any {
		r.Skipped++
		return d, false, nil
	}
	mine, err := s.localView(ctx, ref)
	if err != nil || !mine.exists {
		return d, false, err
	}
	t, err := s.remote.Tool(ctx, ref)
	if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
		return d, false, err
	}
	if s.checks.equal(mine.tool, t) {
		r.Unchanged++
		return d, false, nil
	}
	theirs, err := s.remoteView(ctx, ref)
	if err != nil {
		return d, false, err
	}
	if d = compare(mine, theirs, int(s.keep.Load())); d.empty() {
		s.checks.note(mine.tool, theirs.tool)
	}
	return d, true, nil
}

// settleCheck notes how both sides are after a repair.
func (s *backend) settleCheck(ctx context.Context, ref memoryd.ToolRef) error {
	mine, err := s.localView(ctx, ref)
	if err != nil || !mine.exists {
		return err
	}
	theirs, err := s.remote.Tool(ctx, ref)
	if err == nil {
		s.checks.note(mine.tool, theirs)
	}
	return err
}

// mend gives back what the remote store lost, and takes over what it has newer.
func (s *backend) mend(ctx context.Context, d difference, r *Report) error {
	if len(d.lost) > 0 || !d.theirs.exists {
		deleted, err := s.wasDeleted(ctx, d.ref, d.mine.tool.Created)
		if err != nil {
			return err
		}
		if deleted {
			r.Deleted++
			return s.forgetDeleted(ctx, d)
		}
	}
	if !d.theirs.exists { // then with its counters
		_, err := s.restore(ctx, d.mine)
		if err == nil {
			r.Calls += len(d.lost)
		}
		if !memoryd.IsKind(err, memoryd.Conflict) {
			return err
		}
	}
	if err := s.giveCalls(ctx, d, r); err != nil {
		return err
	}
	if err := s.giveVerdicts(ctx, d, r); err != nil {
		return err
	}
	if err := s.takeVerdicts(ctx, d, r); err != nil {
		return err
	}
	return s.giveGuideline(ctx, d, r)
}

func (s *backend) giveCalls(ctx context.Context, d difference, r *Report) error {
	for _, o := range split(store.Batch{Workspace: d.ref.Workspace, Calls: d.lost, Keep: d.keep}) {
		got, err := s.remote.Append(ctx, store.Batch{Workspace: d.ref.Workspace, Calls: o.Calls, Keep: d.keep})
		if err != nil {
			return err
		}
		for _, a := range got {
			if a.New {
				r.Calls++
			} else {
				r.Known++
			}
		}
	}
	return nil
}

func (s *backend) giveVerdicts(ctx context.Context, d difference, r *Report) error {
	if len(d.unjudged) > 0 {
		wrote, err := s.remote.Settle(ctx, d.unjudged)
		if err != nil {
			return err
		}
		r.Verdicts += trues(wrote)
	}
	for _, v := range d.uncorrected {
		_, err := s.remote.Override(ctx, v)
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			return err
		}
		if err == nil {
			r.Verdicts++
		}
	}
	return nil
}

func (s *backend) takeVerdicts(ctx context.Context, d difference, r *Report) error {
	if len(d.judged) > 0 {
		wrote, err := s.local.Settle(ctx, d.judged)
		if err != nil {
			return err
		}
		r.Refreshed += trues(wrote)
	}
	for _, v := range d.corrected {
		if _, err := s.local.Override(ctx, v); err != nil {
			return err
		}
		r.Refreshed++
	}
	return nil
}

// giveGuideline puts back the newest guideline that the remote store was seen to
// hold, in the place of an older one. It gets the next revision there.
func (s *backend) giveGuideline(ctx context.Context, d difference, r *Report) error {
	if !d.guideline {
		return nil
	}
	g, expect := d.mine.tool.Guideline, d.theirs.tool.Guideline.Revision
	err := s.remote.PutGuideline(ctx, d.ref, g, expect)
	if memoryd.IsKind(err, memoryd.Conflict) || memoryd.IsKind(err, memoryd.NotFound) {
		return nil // there is a newer one, or the tool was deleted just now
	}
	if err != nil {
		return err
	}
	g.Revision = expect + 1
	s.keepGuideline(ctx, memoryd.Tool{ToolRef: d.ref, Guideline: g})
	r.Guidelines++
	return nil
}

// forgetDeleted leaves in the local copy, of a tool that another process deleted,
// the calls that came later.
func (s *backend) forgetDeleted(ctx context.Context, d difference) error {
	ctx = context.WithoutCancel(ctx)
	s.guidelines.forget(d.ref)
	if err := s.local.DeleteTool(ctx, d.ref); err != nil || len(d.common) == 0 {
		return err
	}
	_, err := s.local.Append(ctx, store.Batch{Workspace: d.ref.Workspace, Calls: d.common, Keep: max(d.keep, len(d.common))})
	return err
}

func trues(of []bool) (n int) {
	for _, b := range of {
		if b {
			n++
		}
	}
	return n
}

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
	if verdictLine(mine) == verdictLine(theirs) {
		return
	}
	give := store.Verdict{ToolRef: d.ref, Key: mine.Key, Evaluation: *m}
	take := store.Verdict{ToolRef: d.ref, Key: mine.Key, Evaluation: *t}
	if contentLine(mine) != contentLine(theirs) { // the remote store has it amended
		take.Amendment = memoryd.AmendmentOf(theirs)
		d.corrected = append(d.corrected, take)
		return
	}
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
		fmt.Fprintf(h, "%s %s\n", calls[i].Key, verdictLine(&calls[i]))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// contentLine tells what an amendment changes of a call.
func contentLine(c *memoryd.Call) string {
	return fmt.Sprintf("%s %t %g %d", c.Hash, c.Success, c.TimeCost, len(c.Metadata))
}

// verdictLine says what a verdict is, and of what; those of waiting calls are equal.
func verdictLine(c *memoryd.Call) string {
	e := &c.Evaluation
	if e.State == memoryd.Pending {
		return contentLine(c) + " " + string(memoryd.Pending)
	}
	return fmt.Sprintf("%s %s %g %q %q %q", contentLine(c), e.State, e.Score, e.JudgedBy, e.JudgeVersion, e.Summary)
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
