package curate

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"memoryd"
	"memoryd/store"

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
	})
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
func (r *Rounds) Once(ctx context.Context) (did Round, err error) {
	mine, err := r.lease(ctx)
	if err != nil || !mine {
		return Round{Elsewhere: !mine && err == nil}, err
	}
	var seen State
	err = r.eachTool(ctx, func(tool memoryd.Tool) error {
		seen.see(tool, r.curator.Now())
		if g := tool.Guideline; g.Revision > 0 && g.BasedOn == tool.Revision || did.Written+did.Failed >= r.curator.Config.PerRound {
			return nil
		}
		did.Looked++
		return r.tool(ctx, tool.ToolRef, &did)
	})
	if err == nil {
		r.note(seen)
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

// eachTool goes through all tools of all workspaces.
func (r *Rounds) eachTool(ctx context.Context, each func(memoryd.Tool) error) error {
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
		}
		if len(spaces) < page {
			return nil
		}
	}
}

// lease says who goes the rounds, and until when.
type lease struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// leaseRounds is for how many intervals a process that died keeps the others
// from taking over.
const leaseRounds = 3

// lease reports whether this process may go the round.
func (r *Rounds) lease(ctx context.Context) (bool, error) {
	key := store.RecordKey{Kind: "lease", ID: "guideline_rounds"}
	now := r.curator.Now()
	var held lease
	old, err := r.curator.Store.Record(ctx, key)
	if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
		return false, err
	}
	if err == nil && json.Unmarshal(old.Data, &held) == nil && held.Holder != r.self && now.Before(held.Until) {
		return false, nil
	}
	data, err := json.Marshal(lease{Holder: r.self, Until: now.Add(leaseRounds * max(r.curator.Config.Interval, time.Minute))})
	if err != nil {
		return false, err
	}
	_, err = r.curator.Store.PutRecord(ctx, store.Record{RecordKey: key, Revision: old.Revision, Data: data})
	if memoryd.IsKind(err, memoryd.Conflict) {
		return false, nil
	}
	return err == nil, err
}
