package revisions

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"memoryd"

	"github.com/google/uuid"
)

// Rounds refreshes stale guidelines from time to time, and takes back versions
// that did worse. Of several processes on one store one does it at a time.
type Rounds struct {
	curator *Curator
	log     *slog.Logger
	self    string

	mu   sync.Mutex
	stop context.CancelFunc
	done chan struct{}

	stateMu sync.Mutex
	state   State
}

// State is what the newest round of this process saw.
type State struct {
	// Written counts the tools that have a guideline, Stale those whose history
	// changed since; Oldest is the age of the oldest of these.
	Written, Stale int
	Oldest         time.Duration
}

// State gives the state of the guidelines as of the newest round.
func (r *Rounds) State() State {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	return r.state
}

// see takes a tool into the state.
func (s *State) see(tool memoryd.Tool, now time.Time) {
	g := tool.Guideline
	if g.Revision == 0 {
		return
	}
	s.Written++
	if g.BasedOn != tool.Revision {
		s.Stale++
		s.Oldest = max(s.Oldest, now.Sub(g.Written))
	}
}

// NewRounds makes the rounds of a curator. Nothing runs before Start.
func NewRounds(c *Curator, log *slog.Logger) *Rounds {
	return &Rounds{curator: c, log: log, self: uuid.NewString()}
}

// Start begins the rounds, unless the interval is 0. The first one comes after
// an interval.
func (r *Rounds) Start(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil || r.curator.Config.Interval == 0 {
		return
	}
	ctx, r.stop = context.WithCancel(ctx)
	r.done = make(chan struct{})
	go r.run(ctx)
}

// Stop ends the rounds; what is being written is given up.
func (r *Rounds) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil {
		r.stop()
		<-r.done
	}
}

func (r *Rounds) run(ctx context.Context) {
	defer close(r.done)
	if err := r.look(ctx); err != nil && ctx.Err() == nil {
		r.log.Warn("the state of the guidelines could not be read", "err", err)
	}
	for {
		// A tenth more or less, so that processes started together drift apart.
		interval := r.curator.Config.Interval
		wait := time.NewTimer(interval - interval/10 + rand.N(interval/5+1))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-wait.C:
		}
		if _, err := r.Once(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("a round of refreshing guidelines was cut short", "err", err)
		}
	}
}

// Round says what a round did.
type Round struct {
	Looked, Written, Failed, TakenBack int
	// Elsewhere says that another process is at it.
	Elsewhere bool
}

// look reads the state of the guidelines and changes nothing.
func (r *Rounds) look(ctx context.Context) error {
	var seen State
	err := r.eachTool(ctx, func(tool memoryd.Tool) error {
		seen.see(tool, r.curator.Now())
		return nil
	}, func() error { return nil })
	if err == nil {
		r.note(seen)
	}
	return err
}

func (r *Rounds) note(seen State) {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	r.state = seen
}

// Once does one round now.
func (r *Rounds) Once(ctx context.Context) (Round, error) {
	until, err := r.lease(ctx)
	if err != nil || until.IsZero() {
		return Round{Elsewhere: err == nil}, err
	}
	w := &walk{r: r, until: until}
	err = r.eachTool(ctx, func(tool memoryd.Tool) error { return w.meet(ctx, tool) }, func() error { return w.catchUp(ctx) })
	did := w.did
	switch {
	case errors.Is(err, errElsewhere):
		did.Elsewhere, err = true, nil
	case err == nil:
		r.note(w.seen)
	}
	if did.Written+did.Failed+did.TakenBack > 0 {
		r.log.Info("guidelines refreshed", "looked_at", did.Looked, "written", did.Written, "failed", did.Failed, "taken_back", did.TakenBack)
	}
	return did, err
}

func (r *Rounds) tool(ctx context.Context, ref memoryd.ToolRef, did *Round) error {
	why, err := r.curator.Review(ctx, ref)
	switch {
	case memoryd.IsKind(err, memoryd.NotFound):
		return nil // deleted meanwhile
	case err != nil:
		return err
	case why != "":
		did.TakenBack++
		r.log.Warn("a guideline was taken back", "workspace", ref.Workspace, "tool", ref.Tool, "why", why)
		return nil
	}
	out, err := r.curator.Refresh(ctx, ref, IfStale)
	switch {
	case memoryd.IsKind(err, memoryd.NotFound):
		return nil
	case err != nil:
		return err
	case out.Failed != nil:
		did.Failed++
		r.log.Warn("guideline not written", "workspace", ref.Workspace, "tool", ref.Tool, "err", out.Failed)
	case out.Written:
		did.Written++
	}
	return nil
}

// eachTool goes through all tools of all workspaces; end follows the last one of
// each workspace.
func (r *Rounds) eachTool(ctx context.Context, each func(memoryd.Tool) error, end func() error) error {
	const page = 100
	for workspace := ""; ; {
		spaces, err := r.curator.Store.ListWorkspaces(ctx, workspace, page)
		if err != nil {
			return err
		}
		for _, workspace = range spaces {
			for after := ""; ; {
				tools, err := r.curator.Store.ListTools(ctx, workspace, after, page)
				if err != nil {
					return err
				}
				r.curator.saw(ctx, workspace, after, tools, len(tools) < page)
				for _, t := range tools {
					if err := each(t); err != nil {
						return err
					}
					after = t.Tool
				}
				if len(tools) < page {
					break
				}
			}
			if err := end(); err != nil {
				return err
			}
		}
		if len(spaces) < page {
			return nil
		}
	}
}
