package revisions

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/internal/lifecycle"
)

// Neighbour describes a tool that a new tool of its workspace can be compared with.
type Neighbour struct {
	Tool string
	// Parameters are the names at the top level of its newest inputs, sorted.
	Parameters []string
	// Judged counts its judged calls, Failed those that scored 0.
	Judged, Failed int

	revision int64 // of the tool, when this was read
}

const (
	// leastLikeness is how alike a neighbour must be, leastJudged how many judged
	// calls it needs, mostNeighbours how many count.
	leastLikeness  = 0.5
	leastJudged    = 20
	mostNeighbours = 5
	// otherServer is what of its likeness is left to a tool of another server.
	otherServer = 0.6
	// mostWeight bounds a prior, in calls: so many calls of the tool's own count
	// as much.
	mostWeight = 10
)

// PriorOf estimates what a tool with these parameters may expect, from the outcomes of the
// most similar tools (partial pooling); nil if none is similar.
func PriorOf(tool string, parameters []string, others []Neighbour) *preflight.Prior {
	type like struct {
		*Neighbour
		likeness float64
	}
	var near []like
	for i := range others {
		o := &others[i]
		if l := likeness(tool, parameters, o); o.Tool != tool && o.Judged >= leastJudged && l >= leastLikeness {
			near = append(near, like{o, l})
		}
	}
	slices.SortFunc(near, func(a, b like) int {
		return cmp.Or(cmp.Compare(b.likeness, a.likeness), cmp.Compare(b.Judged, a.Judged), cmp.Compare(a.Tool, b.Tool))
	})
	var rate, weight float64
	for _, n := range near[:min(len(near), mostNeighbours)] {
		// One call is added to each side, so that a neighbour without failures does
		// not promise that there are none.
		rate += n.likeness * float64(n.Failed+1) / float64(n.Judged+2)
		weight += n.likeness
	}
	if weight == 0 {
		return nil
	}
	return &preflight.Prior{Risk: rate / weight, Weight: min(mostWeight, mostWeight*weight/2)}
}

// likeness is the share of parameter names that both have (Jaccard), less for
// tools of another server; unknown servers count as other ones.
func likeness(tool string, parameters []string, o *Neighbour) float64 {
	shared := 0
	for _, p := range parameters {
		if slices.Contains(o.Parameters, p) {
			shared++
		}
	}
	all := len(parameters) + len(o.Parameters) - shared
	if all == 0 {
		return 0
	}
	l := float64(shared) / float64(all)
	if s := serverOf(tool); s == "" || s != serverOf(o.Tool) {
		l *= otherServer
	}
	return l
}

// serverOf is the part of a tool's name that names its server by the usual
// conventions ("server__tool", "server.tool", "server/tool", "server:tool"); "" when
// there is none.
func serverOf(tool string) string {
	for _, mark := range []string{"__", "/", ":", "."} {
		if server, name, ok := strings.Cut(tool, mark); ok && server != "" && name != "" {
			return server
		}
	}
	return ""
}

// The bounds of what Priors keeps and reads.
const (
	lookedAtTools = 500 // of a workspace
	lookedAtCalls = 5   // of a tool, for its parameters
	keptTables    = 256 // workspaces, those asked about last
	tableAge      = time.Minute
)

// Priors keeps the parameters and outcomes of the tools in recently requested workspaces. It
// reads in the background: a request never waits for the store, and until a workspace has
// been read, its tools have no prior. It is safe for concurrent use.
type Priors struct {
	store  Store
	log    *slog.Logger
	now    func() time.Time
	worker *lifecycle.Worker

	mu     sync.Mutex
	tables map[string]*table
	busy   bool
}

// table is what is known of one workspace.
type table struct {
	tools []Neighbour
	read  time.Time // zero until it was read
	asked time.Time
}

// NewPriors returns Priors over a store. Nothing runs before the first request.
func NewPriors(s Store, log *slog.Logger, now func() time.Time) *Priors {
	return &Priors{store: s, log: log, now: now, worker: lifecycle.NewWorker(log, "priors"), tables: map[string]*table{}}
}

// Stop cancels the reading in the background and waits for it. Requests are still answered
// from what was read.
func (p *Priors) Stop() { p.worker.Stop() }

// PriorFor implements preflight.Priors. It answers from what was read at most a minute or so
// ago; if that is older, the workspace is read again.
func (p *Priors) PriorFor(ref memoryd.ToolRef, calls []memoryd.Call) *preflight.Prior {
	parameters := parametersOf(calls)
	if len(parameters) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tables[ref.Workspace]
	if t == nil {
		t = &table{}
		p.makeRoom()
		p.tables[ref.Workspace] = t
	}
	t.asked = p.now()
	if t.asked.Sub(t.read) >= tableAge && !p.busy {
		workspace, known := ref.Workspace, t.tools
		p.busy = p.worker.Go(func(ctx context.Context) error { return p.read(ctx, workspace, known) })
	}
	return PriorOf(ref.Tool, parameters, t.tools)
}

// makeRoom lets the table go that was asked for longest ago. The lock is held.
func (p *Priors) makeRoom() {
	if len(p.tables) < keptTables {
		return
	}
	oldest := ""
	for w, t := range p.tables {
		if oldest == "" || t.asked.Before(p.tables[oldest].asked) {
			oldest = w
		}
	}
	delete(p.tables, oldest)
}

// read reads the tools of a workspace that changed since they were read.
func (p *Priors) read(ctx context.Context, workspace string, known []Neighbour) error {
	defer func() {
		p.mu.Lock()
		p.busy = false
		p.mu.Unlock()
	}()
	tools, err := p.neighbours(ctx, workspace, known)
	if err != nil {
		if ctx.Err() == nil {
			p.log.WarnContext(ctx, "cannot read the tools of a workspace", "workspace", workspace, "err", err)
		}
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tables[workspace]; t != nil {
		t.tools, t.read = tools, p.now()
	}
	return nil
}

func (p *Priors) neighbours(ctx context.Context, workspace string, known []Neighbour) ([]Neighbour, error) {
	before := make(map[string]Neighbour, len(known))
	for _, n := range known {
		before[n.Tool] = n
	}
	tools, err := p.store.ListTools(ctx, workspace, "", lookedAtTools)
	if err != nil {
		return nil, err
	}
	var list []Neighbour
	for _, t := range tools {
		if int64(t.Kept)-t.Pending < leastJudged {
			continue
		}
		n, isKnown := before[t.Tool]
		if !isKnown || n.revision != t.Revision {
			if n, err = p.neighbour(ctx, t); err != nil {
				return nil, err
			}
		}
		list = append(list, n)
	}
	return list, nil
}

func (p *Priors) neighbour(ctx context.Context, t memoryd.Tool) (Neighbour, error) {
	calls, err := p.store.History(ctx, t.ToolRef, lookedAtCalls)
	if err != nil {
		return Neighbour{}, err
	}
	samples, err := p.store.Samples(ctx, t.ToolRef)
	if err != nil {
		return Neighbour{}, err
	}
	n := Neighbour{Tool: t.Tool, Parameters: parametersOf(calls), revision: t.Revision}
	for _, s := range samples {
		if s.State == memoryd.Judged {
			n.Judged++
			if s.Score <= memoryd.ScoreFailure {
				n.Failed++
			}
		}
	}
	return n, nil
}

// parametersOf lists the names at the top level of the inputs of calls, sorted.
func parametersOf(calls []memoryd.Call) []string {
	names := map[string]bool{}
	for i := max(0, len(calls)-lookedAtCalls); i < len(calls); i++ {
		var input map[string]json.RawMessage
		if json.Unmarshal(calls[i].Input, &input) == nil {
			for name := range input {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
