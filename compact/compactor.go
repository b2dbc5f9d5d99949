package compact

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"memoryd"
	"memoryd/compact/tokens"
)

// Deps are the dependencies of a Compactor.
type Deps struct {
	// Model picks lines for summaries; without it, every summary is deterministic.
	Model Model
	// Originals stores what is removed.
	Originals Originals
	// Counter returns the counter for a model's name; nil estimates.
	Counter func(model string) tokens.Counter
	// Mask removes secrets from texts of summaries, previews and requests to the model. The store of
	// the originals redacts those itself.
	Mask   func(text string) string
	Logger *slog.Logger
}

// Compactor compacts conversations. It is safe for concurrent use. No goroutine outlives a
// call.
type Compactor struct {
	cfg     Config
	model   Model
	store   Originals
	counter func(model string) tokens.Counter
	log     *slog.Logger
	mask    func(text string) string
	answers *memo[[]string] // descriptions by content
	results *memo[Result]   // results by request
	replays *memo[replay]   // compactions by beginning
	learned *memo[float64]  // factors by model

	doing sync.Map // of runs under way, channels that close at their ends, by request
}

// answersKept and resultsKept bound what is remembered.
const (
	answersKept = 2048
	resultsKept = 128
)

// New returns a Compactor. cfg must be valid.
func New(cfg Config, d Deps) *Compactor {
	c := &Compactor{cfg: cfg, model: d.Model, store: d.Originals, counter: d.Counter, log: d.Logger, mask: d.Mask}
	c.answers = newMemo[[]string](answersKept, 24*time.Hour)
	c.results = newMemo[Result](resultsKept, cfg.RememberFor)
	c.learned = newMemo[float64](learnedKept, learnedFor)
	c.replays = newMemo[replay](replaysKept, 24*time.Hour)
	return c
}

// Compact makes the conversation smaller, or returns it unchanged with the reason. An error
// means that the request is invalid (kind Invalid) or that ctx ended; then nothing was stored
// or changed. An equal request at the same time, or soon after, shares the run and the
// answer.
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
	k := keysOf(name, r)
	prog := &progress{to: r.Progress}
	for {
		if res, ok := c.results.get(k.request); ok {
			prog.end(res, nil)
			return res, nil
		}
		done := make(chan struct{})
		under, busy := c.doing.LoadOrStore(k.request, done)
		if !busy {
			defer func() { c.doing.Delete(k.request); close(done) }()
			return c.runFirst(ctx, r, k, prog, func(earlier *replay) (Result, error) {
				return c.compactNow(ctx, r, earlier, name, prof, k.settings, prog)
			})
		}
		select {
		case <-under.(chan struct{}): //nolint:forcetypeassert // nothing else is stored; take the answer, or run if the other one failed
		case <-ctx.Done():
			err := context.Cause(ctx)
			prog.end(Result{}, err)
			return Result{}, err
		}
	}
}
