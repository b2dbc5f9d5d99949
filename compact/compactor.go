package compact

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
	"memoryd/compact/chat"
	"memoryd/compact/tokens"
)

// Deps are what a Compactor works with. Every field may be left out.
type Deps struct {
	// Models are tried in order; none means that every summary is deterministic.
	Models []Model
	// Originals stores what is removed; nil keeps 64 MiB in memory.
	Originals Originals
	// Counter picks the counter for a model's name; nil estimates.
	Counter func(model string) tokens.Counter
	Logger  *slog.Logger
	// Clock gives the time; nil is time.Now.
	Clock func() time.Time
}

// Compactor compacts conversations. It is safe for concurrent use and starts no
// goroutine that outlives a call.
type Compactor struct {
	cfg     Config
	models  []Model
	store   Originals
	counter func(model string) tokens.Counter
	log     *slog.Logger
	clock   func() time.Time
	guard   *guard
	answers *memo[[]string] // descriptions by content
	results *memo[Result]   // results by request
	replays *memo[replay]   // compactions by beginning
	learned *factors

	mu    sync.Mutex
	doing map[string]chan struct{} // runs under way, by request
}

// answersKept and resultsKept bound what is remembered.
const (
	answersKept = 2048
	resultsKept = 128
)

// New makes a Compactor. cfg must be valid.
func New(cfg Config, d Deps) *Compactor {
	c := &Compactor{cfg: cfg, models: d.Models, store: d.Originals, counter: d.Counter, log: d.Logger, clock: d.Clock, doing: map[string]chan struct{}{}, learned: &factors{by: map[string]float64{}}}
	if c.clock == nil {
		c.clock = time.Now
	}
	if c.store == nil {
		c.store = NewMemoryFor(64<<20, cfg.KeepOriginals, c.clock)
	}
	if c.counter == nil {
		c.counter = func(model string) tokens.Counter { return tokens.ForModel(model) }
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.guard = newGuard(cfg.Model, c.clock)
	c.answers = newMemo[[]string](answersKept, 24*time.Hour, c.clock)
	c.results = newMemo[Result](resultsKept, cfg.RememberFor, c.clock)
	c.replays = newMemo[replay](replaysKept, 24*time.Hour, c.clock)
	return c
}

// Compact makes the conversation smaller, or returns it unchanged and says why.
// An error means that the request is wrong (kind Invalid) or that ctx ended; then
// nothing was stored or changed. The same request again, at the same time or
// soon after, is the same run and the same answer.
func (c *Compactor) Compact(ctx context.Context, r Request) (Result, error) {
	if r.Workspace == "" {
		r.Workspace = memoryd.DefaultWorkspace
	}
	name, prof, err := c.cfg.profileFor(r)
	if err != nil {
		return Result{}, err
	}
	if r.MaxInputTokens < 0 || r.TargetTokens < 0 || r.ReportedTokens < 0 {
		return Result{}, memoryd.Errorf(memoryd.Invalid, "max_input_tokens, target_tokens and reported_tokens must not be negative")
	}
	settings := settingsKey(name, r)
	key := requestKey(settings, r)
	prog := newProgress(r.Progress)
	for {
		if res, ok := c.results.get(key); ok {
			prog.end(res, nil)
			return res, nil
		}
		done, first := c.join(key)
		if first {
			res, err := c.run(ctx, r, name, prof, settings, prog)
			if err == nil && res.Reason != StoreFailed && len(res.Report.ModelFailures) == 0 {
				c.results.put(key, res)
			}
			c.leave(key)
			prog.end(res, err)
			return res, err
		}
		select {
		case <-done: // take the answer, or run if the other one failed
		case <-ctx.Done():
			err := context.Cause(ctx)
			prog.end(Result{}, err)
			return Result{}, err
		}
	}
}

// join says whether the caller is the first with this key; the others get a
// channel that closes when the first is through.
func (c *Compactor) join(key string) (done chan struct{}, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if done, ok := c.doing[key]; ok {
		return done, false
	}
	done = make(chan struct{})
	c.doing[key] = done
	return done, true
}

func (c *Compactor) leave(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.doing[key])
	delete(c.doing, key)
}

// settingsKey is equal for requests that ask for the same, whatever the messages.
func settingsKey(name string, r Request) string {
	return shortHash(fmt.Appendf(nil, "%s\x00%d\x00%d\x00%s", name, r.MaxInputTokens, r.TargetTokens, r.Overrides))
}

func requestKey(settings string, r Request) string {
	h := newHash()
	h.part(settings, r.Workspace, r.Conversation, r.Model, string(r.Tools), fmt.Sprint(r.Pins, r.Force, r.DryRun))
	for _, m := range r.Messages {
		h.part(string(m))
	}
	return h.sum()
}

// run is one compaction.
func (c *Compactor) run(ctx context.Context, r Request, name string, prof profile, settings string, prog *progress) (Result, error) {
	began := c.now()
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	conv, err := read(r, c.counterFor(r.Model), c.cfg.MediaTokens)
	if err != nil {
		return Result{}, err
	}
	c.learned.learn(r.Model, conv.total, r.ReportedTokens)
	w := &work{c: c, r: r, t: &tiers{c: conv, redactOn: c.cfg.Redact}, settings: settings, prog: prog}
	w.report = Report{
		Profile: name, TokensBefore: conv.total, TokensAfter: conv.total,
		MessagesBefore: len(conv.messages), MessagesAfter: len(conv.messages),
	}
	keys := prefixKeys(settings, r)
	var res Result
	if p, ok := c.replayed(r, keys); ok {
		conv.classify(prof.excluded())
		w.report.Before = conv.breakdown()
		res, err = w.runOn(ctx, prof, p)
	} else {
		res, err = w.do(ctx, prof)
	}
	if err != nil {
		return Result{}, err
	}
	if res.Compacted && !r.DryRun {
		c.replays.put(keys[len(r.Messages)], replay{len(r.Messages), res})
	}
	res.Report.WallSeconds = c.now().Sub(began).Seconds()
	c.log.DebugContext(ctx, "conversation compacted", "profile", name, "reason", string(res.Reason), "compacted", res.Compacted,
		"tokens_before", res.Report.TokensBefore, "tokens_after", res.Report.TokensAfter, "model_calls", res.Report.ModelCalls)
	return res, nil
}

// work is the state of one run.
type work struct {
	c        *Compactor
	r        Request
	t        *tiers
	settings string
	prog     *progress
	report   Report
	// sent are the request's messages when the run works on what their beginning
	// became earlier; nil otherwise.
	sent []chat.Message
}

func (w *work) do(ctx context.Context, prof profile) (Result, error) {
	conv := w.t.c
	if err := conv.recognise(ctx, w.c.store, w.r.Workspace); err != nil {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		conv.classify(prof.excluded())
		return w.unchanged(StoreFailed, "the store of originals cannot be read"), nil
	}
	conv.classify(prof.excluded())
	w.report.Before = conv.breakdown()
	w.report.ExcludedTools = conv.excludedTools()
	w.report.OldestCallAge = conv.oldestCall()
	if v := w.resting(); v != nil {
		return w.unchanged(v.reason, v.detail), nil
	}
	p, v := prof.plan(w.t, w.r)
	if v != nil {
		return w.unchanged(v.reason, v.detail), nil
	}
	w.prog.start(len(p.remove)+len(p.edits), conv.total)
	return w.carryOut(ctx, p)
}

// resting says no when too little is new since the last compaction.
func (w *work) resting() *verdict {
	conv := w.t.c
	for i := len(conv.messages) - 1; i >= 0; i-- {
		rec := conv.known[i]
		if rec == nil {
			continue
		}
		n, ok := conv.since(rec)
		if !ok {
			return nil
		}
		if n == len(conv.messages) && rec.Settings == w.settings {
			return &verdict{AlreadyCompacted, "no message was added since the last compaction"}
		}
		fresh := 0
		for j := n; j < len(conv.messages); j++ {
			fresh += conv.cost[j]
		}
		need := int(w.c.cfg.CoolDownFraction * float64(rec.Tokens))
		over := w.r.MaxInputTokens > 0 && conv.total > w.r.MaxInputTokens && rec.Tokens <= w.r.MaxInputTokens
		if !w.r.Force && rec.Settings == w.settings && fresh < need && !over {
			return &verdict{CoolingDown, fmt.Sprintf("%d tokens were added since the last compaction, the next waits for %d", fresh, need)}
		}
		return nil
	}
	return nil
}

// unchanged returns the input.
func (w *work) unchanged(reason Reason, detail string) Result {
	conv := w.t.c
	rep := w.report
	rep.After = rep.Before
	rep.Messages = make([]Fate, len(conv.messages))
	for i := range conv.messages {
		f := Fate{Index: i, Role: conv.messages[i].Role, Tokens: conv.cost[i], Output: i}
		f.Disposition, f.Why = conv.keptWhy(i)
		rep.Messages[i] = f
	}
	rep.Cache = cacheOf(conv.sized(), conv.sized())
	out := w.r.Messages
	if out == nil {
		out = []jsontext.Value{}
	}
	return Result{Reason: reason, Detail: detail, Messages: out, Report: rep}
}

// excludedTools counts the calls of excluded units by tool.
func (c *conversation) excludedTools() map[string]int {
	var by map[string]int
	for u := range c.units {
		if c.status[u] != excluded {
			continue
		}
		for _, t := range c.units[u].Tools {
			if by == nil {
				by = map[string]int{}
			}
			by[t]++
		}
	}
	return by
}

func (c *conversation) oldestCall() int {
	for u := range c.units {
		if c.units[u].Calls && c.status[u] == free {
			return c.age(c.units[u].First())
		}
	}
	return 0
}

// kept lists the messages that stay, as they will be.
func (t *tiers) kept(p *plan) []chat.Message {
	gone := map[int]bool{}
	for _, u := range p.remove {
		gone[u] = true
	}
	var ms []chat.Message
	for i := range t.c.messages {
		m := t.c.messages[i]
		if gone[t.c.unitOf[i]] || m.Kind == chat.System {
			continue
		}
		if e, ok := p.edits[i]; ok {
			m = e
		}
		ms = append(ms, m)
	}
	return ms
}
