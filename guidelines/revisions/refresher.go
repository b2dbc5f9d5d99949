package revisions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	"github.com/google/uuid"
)

// Refresher updates stale guidelines from time to time, and rolls back versions that did
// worse. Of several processes on one store, one does it at a time.
type Refresher struct {
	manager *Manager
	log     *slog.Logger
	self    string
	until   time.Time // the end of this process's lease

	worker *lifecycle.Worker
	state  atomic.Pointer[State]
}

// State is what this process saw in its newest pass.
type State struct {
	Written int           `metric:"guidelines" help:"Tools that have a guideline."`
	Stale   int           `metric:"guidelines_stale" help:"Tools whose history changed since their guideline was written."`
	Oldest  time.Duration `metric:"guideline_oldest_age_seconds" help:"Age of the oldest guideline whose tool's history changed since; 0 when there is none."`
}

// State returns the state of the guidelines at the newest pass.
func (r *Refresher) State() State { return *r.state.Load() }

// see takes a tool into the state.
func (s *State) see(tool memoryd.Tool, now time.Time) {
	g := tool.Guideline
	if g.Revision == 0 {
		return
	}
	s.Written++
	if changed(tool) {
		s.Stale++
		s.Oldest = max(s.Oldest, now.Sub(g.Written))
	}
}

// changed reports whether a tool has no guideline, or its history changed since.
func changed(tool memoryd.Tool) bool {
	return tool.Guideline.Revision == 0 || tool.Guideline.BasedOn != tool.Revision
}

// NewRefresher returns the refresher of a manager. Nothing runs before Start.
func NewRefresher(m *Manager, log *slog.Logger) *Refresher {
	r := &Refresher{manager: m, log: log, self: uuid.NewString(), worker: lifecycle.NewWorker(log, "guidelines")}
	r.state.Store(&State{})
	return r
}

// Start begins the passes, unless the interval is 0. The first one writes nothing; those that
// do come after an interval each.
func (r *Refresher) Start(ctx context.Context) {
	if r.manager.Config.Interval > 0 {
		r.worker.Start(ctx, r.run)
	}
}

// Stop stops the passes and cancels current writing.
func (r *Refresher) Stop() { r.worker.Stop() }

func (r *Refresher) run(ctx context.Context) {
	for most := 0; ; most = perRound {
		if _, err := r.pass(ctx, most); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "a round of guideline updates was interrupted", "err", err)
		}
		// A tenth more or less, so that processes started together drift apart.
		interval := r.manager.Config.Interval
		if !lifecycle.Sleep(ctx, interval-interval/10+rand.N(interval/5+1)) {
			return
		}
	}
}

// perRound limits the guidelines written in one pass, which leaves the model free for others.
const perRound = 200

// Pass is the result of a pass.
type Pass struct {
	Looked, Written, Failed, TakenBack int
	// Elsewhere reports that another process does it.
	Elsewhere bool
}

// RunOnce does one pass now.
func (r *Refresher) RunOnce(ctx context.Context) (Pass, error) { return r.pass(ctx, perRound) }

// pass reads the state of all guidelines, and refreshes at most so many of those that need it,
// unless another process does.
func (r *Refresher) pass(ctx context.Context, most int) (did Pass, err error) {
	var seen State
	err = r.eachTool(ctx, func(tool memoryd.Tool) error {
		seen.see(tool, r.manager.Now())
		if did.Elsewhere || did.Written+did.Failed >= most {
			return nil
		}
		ours, err := r.lease(ctx)
		if did.Elsewhere = err == nil && !ours; !ours || !changed(tool) {
			return err
		}
		did.Looked++
		return r.tool(ctx, tool.ToolRef, &did)
	})
	if err == nil {
		r.state.Store(&seen)
	}
	if did.Written+did.Failed+did.TakenBack > 0 {
		r.log.InfoContext(ctx, "guidelines refreshed", "looked_at", did.Looked, "written", did.Written, "failed", did.Failed,
			"taken_back", did.TakenBack)
	}
	return did, err
}

// tool does one tool. A panic over what was recorded of it must not keep the
// others from theirs.
func (r *Refresher) tool(ctx context.Context, ref memoryd.ToolRef, did *Pass) error {
	err := lifecycle.Do(ctx, r.log, "guidelines", func() error { return r.review(ctx, ref, did) })
	if _, panicked := errors.AsType[*lifecycle.PanicError](err); panicked {
		did.Failed++
		return nil
	}
	return memoryd.Except(err, memoryd.NotFound) // deleted meanwhile
}

func (r *Refresher) review(ctx context.Context, ref memoryd.ToolRef, did *Pass) error {
	why, err := r.manager.Review(ctx, ref)
	switch {
	case err != nil:
		return err
	case why != "":
		did.TakenBack++
		r.log.WarnContext(ctx, "rolled back a guideline", "workspace", ref.Workspace, "tool", ref.Tool, "why", why)
		return nil
	}
	out, err := r.manager.Refresh(ctx, ref, IfStale)
	switch {
	case err != nil:
		return err
	case out.Failed != nil:
		did.Failed++
		r.log.WarnContext(ctx, "cannot write a guideline", "workspace", ref.Workspace, "tool", ref.Tool, "err", out.Failed)
	case out.Written:
		did.Written++
	}
	return nil
}

// eachTool goes through all tools of all workspaces.
func (r *Refresher) eachTool(ctx context.Context, each func(memoryd.Tool) error) error {
	for workspace, err := range store.AllWorkspaces(ctx, r.manager.Store) {
		if err != nil {
			return err
		}
		for t, err := range store.AllTools(ctx, r.manager.Store, workspace) {
			if err == nil {
				err = each(t)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// lease says who refreshes, and until when.
type lease struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// leaseRounds is for how many intervals a process that died keeps the others from
// taking over, leastLease how long it does at least.
const (
	leaseRounds = 3
	leastLease  = 10 * time.Second
)

// lease reports whether this process has the lease. It takes it if nobody has, and renews it
// halfway: a pass may take longer than a lease.
func (r *Refresher) lease(ctx context.Context) (ours bool, err error) {
	key := store.RecordKey{Kind: "lease", ID: "guideline_rounds"}
	now, term := r.manager.Now(), max(leaseRounds*r.manager.Config.Interval, leastLease)
	if now.Before(r.until.Add(-term / 2)) {
		return true, nil
	}
	var held lease
	revision, err := store.ReadJSON(ctx, r.manager.Store, key, &held)
	if err != nil || held.Holder != r.self && now.Before(held.Until) {
		return false, err
	}
	mine := lease{Holder: r.self, Until: now.Add(term)}
	err = store.WriteJSON(ctx, r.manager.Store, store.Record{RecordKey: key, Revision: revision}, mine)
	if err != nil {
		return false, memoryd.Except(err, memoryd.Conflict)
	}
	r.until = mine.Until
	return true, nil
}

// Result is the result of a refresh.
type Result struct {
	// Written reports a new version; Skipped is why there is none.
	Written bool
	Skipped string
	// Failed is why writing failed; the existing guideline stays.
	Failed error
	// Calls are the history that a version was written from, or would have been; oldest first.
	Calls []memoryd.Call
}

// Reasons why a guideline was not written.
const (
	NothingNew = "nothing new since the guideline"
	SameText   = "the evidence is the same"
	notStale   = "not stale"
	Pinned     = "pinned"
	Rejected   = "the same evidence gave a version that did worse"
)

// When selects which guidelines a refresh writes.
type When int

// The occasions.
const (
	IfNew   When = iota // something changed about the tool
	IfStale             // enough changed
	Always              // in any case
)

// Refresh writes the guideline of the tool if when applies. An error comes from the store; a
// failure to write is in the Result.
func (m *Manager) Refresh(ctx context.Context, ref memoryd.ToolRef, when When) (Result, error) {
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil {
		return Result{}, err
	}
	g := tool.Guideline
	if !changed(tool) && when != Always {
		return Result{Skipped: NothingNew}, nil
	}
	st, _, err := m.status(ctx, ref)
	if err != nil {
		return Result{}, err
	}
	if st.Pinned > 0 {
		return Result{Skipped: Pinned}, nil
	}
	calls, err := m.Store.History(ctx, ref, 0)
	if err != nil {
		return Result{}, fmt.Errorf("history of %q: %w", ref.Tool, err)
	}
	reasons := m.reasons(g, calls)
	if when == IfStale && len(reasons) == 0 {
		return Result{Skipped: notStale}, nil
	}
	out, err := m.write(ctx, tool, calls, st, reasons)
	out.Calls = calls
	return out, err
}

// write composes and stores a version.
func (m *Manager) write(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, st Status, reasons []Reason) (Result, error) {
	prev, err := m.current(ctx, tool)
	if err != nil {
		return Result{}, err
	}
	doc, err := m.Composer.Compose(ctx, tool, calls, m.Recent, prev.Document.Unedited())
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		return Result{Failed: err}, nil
	}
	doc = doc.Edited(st.Edits)
	text := doc.Render()
	switch {
	case tool.Guideline.Revision > 0 && text == tool.Guideline.Content && tool.Guideline.BasedOn == tool.Revision:
		return Result{Skipped: SameText}, nil
	case slices.Contains(st.Rejected, doc.Fingerprint):
		return Result{Skipped: Rejected}, nil
	}
	e := Revision{
		Guideline: memoryd.Guideline{Content: text, Author: doc.Author, BasedOn: tool.Revision, ThroughSeq: newest(calls)},
		Document:  doc, Judges: judgesOf(calls),
	}
	for _, r := range reasons {
		e.Reasons = append(e.Reasons, r.Text)
	}
	written, err := m.publish(ctx, tool, &e)
	if err != nil || !written {
		return Result{Skipped: NothingNew}, err
	}
	return Result{Written: true}, nil
}

// publish makes e the tool's guideline, with what people decided on its lines, unless one
// written from the same history, or from newer, has come first. While one is pinned, only what
// has a Why is published, a person's, and the pin goes with it.
func (m *Manager) publish(ctx context.Context, tool memoryd.Tool, e *Revision) (written bool, err error) {
	for {
		st, _, err := m.status(ctx, tool.ToolRef)
		if err != nil {
			return false, err
		}
		if st.Pinned > 0 && e.Why == "" {
			return false, nil
		}
		if e.Document != nil {
			e.Document = e.Document.Edited(st.Edits)
			e.Content = e.Document.Render()
		}
		e.Number, e.Written = tool.Guideline.Revision+1, m.Now()
		err = m.Store.PutGuideline(ctx, tool.ToolRef, e.Guideline, tool.Guideline.Revision)
		if err == nil {
			if err = m.put(ctx, tool.ToolRef, *e); err == nil && st.Pinned > 0 {
				err = m.decide(ctx, tool.ToolRef, func(st *Status) {
					if st.Pinned > 0 {
						st.Pinned = e.Number
					}
				})
			}
			return true, err
		}
		if !memoryd.IsKind(err, memoryd.Conflict) {
			return false, err
		}
		if tool, err = m.Store.Tool(ctx, tool.ToolRef); err != nil {
			return false, err
		}
		if tool.Guideline.BasedOn >= e.BasedOn && e.RolledBackTo == 0 {
			return false, nil
		}
	}
}

func newest(calls []memoryd.Call) int64 {
	if len(calls) == 0 {
		return 0
	}
	return calls[len(calls)-1].Seq
}

// judgesOf lists the versions of the judges that judged the calls.
func judgesOf(calls []memoryd.Call) []string {
	found := map[string]bool{}
	for i := range calls {
		found[calls[i].Evaluation.JudgeVersion] = true
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}
