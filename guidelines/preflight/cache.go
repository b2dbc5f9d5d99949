package preflight

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Config is the configuration of forecasts.
type Config struct {
	// FalseAlarms is the share of a tool's good calls that its warnings may affect; 0 turns
	// warnings off.
	FalseAlarms float64 `yaml:"false_alarms" must:"at least 0 and below 1"`
}

// Store is what a Cache reads.
type Store interface {
	History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error)
	RunCalls(ctx context.Context, workspace, run string, limit int) ([]store.RunCall, error)
	Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error)
}

// Cache keeps the models of recently requested tools. The first forecast for a tool learns
// only from its newest calls. The rest is learned in the background, one tool at a time, and
// so is a history that has grown. It is safe for concurrent use.
type Cache struct {
	store  Store
	window evidence.Window // nil for none
	cfg    Config
	log    *slog.Logger
	now    func() time.Time
	worker *lifecycle.Worker

	mu    sync.Mutex
	tools *simplelru.LRU[memoryd.ToolRef, *entry]
	held  int  // calls behind all models
	busy  bool // a model is being learned in the background
	lost  int  // how often a tool was forgotten: what was being learned then is not kept
}

// entry is a model and the state of the tool that it was learned from.
type entry struct {
	ref      memoryd.ToolRef
	revision int64
	at       time.Time
	isPart   bool // of the history
	model    *Model
	portable map[string]Elsewhere   // its rules that may hold for other tools, by id
	borne    []Elsewhere            // those of other tools that hold for it
	newest   []evidence.Observation // as of the revision newestAt, if anything changed since
	newestAt int64
}

// What is kept, and when it is learned anew.
const (
	heldCalls   = 50_000           // calls behind all models together, about 4 KB each
	firstCalls  = 100              // what a first forecast learns from
	modelAge    = 30 * time.Second // a model serves so long although something changed,
	modelShare  = 20               // or until a twentieth of its calls has changed
	fewCalls    = 50               // that are learned anew whenever one came: a forecast waits for that
	runLookup   = 200              // calls of a run that count, the newest
	newestCalls = 32               // that count before they are learned from
)

// part names this package where panics are counted: it learns from foreign text.
const part = "learning"

// NewCache returns a Cache over the histories of a store. Nothing runs before the first request.
func NewCache(s Store, cfg Config, log *slog.Logger, now func() time.Time) *Cache {
	c := &Cache{
		store: s, cfg: cfg, log: log, now: now, worker: lifecycle.NewWorker(log, part),
	}
	c.tools, _ = simplelru.NewLRU(math.MaxInt, func(_ memoryd.ToolRef, e *entry) { c.held -= e.model.Calls() }) // keep bounds it
	return c
}

// Stop cancels the learning in the background and waits for it. Forecasts then use what was
// learned.
func (c *Cache) Stop() { c.worker.Stop() }

// Caller describes who plans the call, as far as the request says; each field may be "".
type Caller struct {
	Run     string // as memoryd.RunOf returns it for recorded calls
	Session string // names the run if nothing is known about Run
	Source  string // the id of its API key
}

// Assess returns the forecast for a call of a tool with an input. An unknown tool is not an
// error.
func (c *Cache) Assess(ctx context.Context, ref memoryd.ToolRef, input json.RawMessage, by Caller) (Assessment, error) {
	m, newest, err := c.model(ctx, ref)
	if err != nil {
		return Assessment{}, err
	}
	p := Planned{Input: input, Run: by.Run, Now: c.now(), Since: newest, Elsewhere: c.standing(ref, m)}
	if c.window != nil {
		if p.World, err = c.window.World(ctx, ref.Workspace); err != nil {
			return Assessment{}, err
		}
	}
	if by.Source != "" {
		p.Source = evidence.WriterOf(by.Source)
	}
	for _, run := range []string{by.Run, by.Session} {
		if run == "" || len(p.RunCalls) > 0 {
			continue
		}
		p.Run = run
		if p.RunCalls, err = c.store.RunCalls(ctx, ref.Workspace, run, runLookup); err != nil {
			return Assessment{}, err
		}
	}
	return m.Assess(p), nil
}

// Forget drops the model of a tool after calls were deleted: the next forecast learns from
// those that are left.
func (c *Cache) Forget(ref memoryd.ToolRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools.Remove(ref)
	c.lost++
}

// Moved drops the models of a workspace whose tools were deleted or replaced: what one was learned from also warns of
// calls of others.
func (c *Cache) Moved(workspace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ref := range c.tools.Keys() {
		if ref.Workspace == workspace {
			c.tools.Remove(ref)
		}
	}
	c.lost++
}

// model gives the model of a tool, and the tool's newest calls if it was learned
// before the last of them.
func (c *Cache) model(ctx context.Context, ref memoryd.ToolRef) (*Model, []evidence.Observation, error) {
	tool, err := c.store.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return Learn(nil, c.options(ref)), nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	shared, err := c.shared(ctx, ref.Workspace)
	if err != nil {
		return nil, nil, err
	}
	if e, ok := c.find(tool); ok && e.model.shared == shared { //nolint:contextcheck // what find begins outlives the request
		newest, err := c.newest(ctx, tool, e)
		return e.model, newest, err
	}
	var m *Model
	err = lifecycle.Do(ctx, c.log, part, func() error {
		m, err = c.learn(ctx, tool, firstCalls)
		return err
	})
	return m, nil, err
}

// newest reads the calls that came after a model was learned, once for a revision
// of the tool.
func (c *Cache) newest(ctx context.Context, tool memoryd.Tool, e entry) ([]evidence.Observation, error) {
	if tool.Revision == e.revision || tool.Revision == e.newestAt {
		return e.newest, nil
	}
	calls, err := c.store.History(ctx, tool.ToolRef, newestCalls)
	if err != nil {
		return nil, err
	}
	var seen []evidence.Observation
	if c.window != nil && slices.ContainsFunc(e.model.options.Tested, func(t Tested) bool { return t.About() }) {
		if seen, err = c.window.Observations(ctx, tool.ToolRef); err != nil {
			return nil, err
		}
		seen = seen[max(0, len(seen)-newestCalls):]
	}
	list := slices.DeleteFunc(evidence.Merge(seen, calls), func(ob evidence.Observation) bool {
		_, known := e.model.keys[ob.Key]
		return known
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.tools.Peek(tool.ToolRef); ok && now.model == e.model {
		now.newest, now.newestAt = list, tool.Revision
	}
	return list, nil
}

// Use makes the learning in the background reach back as far as w. Call it before the first
// forecast.
func (c *Cache) Use(w evidence.Window) { c.window = w }

// learn learns a tool from its newest calls, 0 for all that are known, and keeps
// the model.
func (c *Cache) learn(ctx context.Context, tool memoryd.Tool, limit int) (*Model, error) {
	c.mu.Lock()
	lost := c.lost
	c.mu.Unlock()
	calls, err := c.store.History(ctx, tool.ToolRef, limit)
	if err != nil {
		return nil, err
	}
	obs, err := evidence.Gather(ctx, c.window, tool.ToolRef, calls)
	if err != nil {
		return nil, err
	}
	o := c.options(tool.ToolRef)
	o.Tested, o.Hints = evidence.RulesAndHints(tool.Tool, obs)
	borne := c.elsewhere(tool.ToolRef, obs)
	isPart := limit > 0 && max(tool.Kept, len(obs)) > limit
	if isPart {
		obs = obs[max(0, len(obs)-limit):]
	}
	m := Learn(obs, o)
	c.keep(entry{
		ref: tool.ToolRef, revision: tool.Revision, at: c.now(), isPart: isPart, model: m,
		portable: portableOf(tool.Tool, o.Tested), borne: borne,
	}, lost)
	return m, nil
}

// shared reports whether several sources recorded calls in a workspace.
func (c *Cache) shared(ctx context.Context, workspace string) (bool, error) {
	if c.window == nil {
		return false, nil
	}
	return c.window.Shared(ctx, workspace)
}

func (c *Cache) options(ref memoryd.ToolRef) Options {
	return Options{Tool: ref.Tool, FalseAlarms: c.cfg.FalseAlarms}
}

// find gives the model that there is, unless it is of few calls and another one came, and
// has it learned anew if it is time.
func (c *Cache) find(tool memoryd.Tool) (found entry, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.tools.Get(tool.ToolRef)
	if !ok {
		return found, false
	}
	grown, known := tool.Revision-e.revision, e.model.Calls()
	switch {
	case grown < 0: // the tool was deleted and began anew
		c.tools.Remove(tool.ToolRef)
		return found, false
	case grown > 0 && known <= fewCalls:
		return found, false
	case e.isPart || grown > 0 && (int(grown)*modelShare > known || c.now().Sub(e.at) >= modelAge):
		c.inBackground(tool)
	}
	return *e, true
}

// inBackground learns the tool anew unless another one is being learned: then the
// next forecast asks again. The lock is held.
func (c *Cache) inBackground(tool memoryd.Tool) {
	c.busy = c.busy || c.worker.Go(func(ctx context.Context) error {
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.busy = false
		}()
		_, err := c.learn(ctx, tool, 0)
		if err != nil && ctx.Err() == nil {
			c.log.WarnContext(ctx, "cannot learn from a tool's calls; forecasts use what was learned before",
				"workspace", tool.Workspace, "tool", tool.Tool, "err", err)
			return err
		}
		return nil
	})
}

// keep enters a model, unless a tool was forgotten since lost was read, and lets those
// asked for longest ago go.
func (c *Cache) keep(e entry, lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != lost {
		return
	}
	c.tools.Remove(e.ref)
	c.tools.Add(e.ref, &e)
	c.held += e.model.Calls()
	for c.held > heldCalls && c.tools.Len() > 1 {
		c.tools.RemoveOldest()
	}
}
