package search

import (
	"context"
	"log/slog"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Embedder makes vectors of texts: one for each, in their order, of one length.
type Embedder interface {
	// Embed asks on the workspace's behalf. It returns soon after ctx ends.
	Embed(ctx context.Context, workspace string, texts []string) ([][]float32, error)
}

// Store is what an Index needs of a store.Store.
type Store interface {
	store.Tools
	store.Records
}

// Deps are what an Index works with.
type Deps struct {
	Store Store
	// Guidelines and Queries make the vectors of either, with the same model.
	Guidelines Embedder
	Queries    Embedder
	// Barred, where it is not nil, names workspaces whose texts no model is shown.
	Barred func(workspace string) bool
	Logger *slog.Logger
	Now    func() time.Time
}

// Index keeps the vectors of guidelines and searches with them. It is safe for
// concurrent use, also by several processes on one store.
type Index struct {
	Deps
	cfg     Config
	queue   *queue
	cache   *vectorCache
	queries *lru.Cache[string, []float32]
	rest    rest
	slow    seldom // failed queries
	failed  seldom // vectors that were not written
	length  seen

	worker *lifecycle.Worker
}

// queriesKept is how many queries' vectors are remembered.
const queriesKept = 256

// New makes an index; cfg must be valid and name a model. Nothing runs before
// Start, but searches work.
func New(cfg Config, d Deps) *Index {
	queries, _ := lru.New[string, []float32](queriesKept) // fails of no size only
	x := &Index{Deps: d, cfg: cfg, queue: newQueue(cfg.Queue), queries: queries, worker: lifecycle.NewWorker(d.Logger, "searching")}
	x.cache = newVectorCache(cfg.CacheFor, cfg.CacheBytes, d.Now, x.read)
	x.rest.now, x.slow.now, x.failed.now = d.Now, d.Now, d.Now
	return x
}

// Start begins to write the vectors of guidelines.
func (x *Index) Start(ctx context.Context) {
	x.worker.Start(ctx, x.run)
}

// Stop ends the writing; what waits for its vector is left to a later round.
func (x *Index) Stop() { x.worker.Stop() }

// Wrote is told that the tool has a new guideline. It does not wait: the vector is
// written later, and where too many wait already, after a round.
func (x *Index) Wrote(ref memoryd.ToolRef) { x.queue.add(ref) }

// fresh reports whether e is what the model would give for the text now, as far as
// can be told without asking.
func (x *Index) fresh(e entry, text digest) bool {
	return x.ours(e) && e.text == text && x.length.fits(len(e.vector))
}

// ours reports whether e is of the model as it is configured.
func (x *Index) ours(e entry) bool {
	return e.model == x.cfg.EmbeddingModel && e.asked == x.cfg.Dimensions
}
