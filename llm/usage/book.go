package usage

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	"github.com/google/uuid"
)

// Book is the ledger of one process. It is safe for concurrent use.
type Book struct {
	cfg     Config
	records store.Records
	log     *slog.Logger
	now     func() time.Time
	replica string // names this process among all that write to the store
	prices  Prices

	mu     sync.Mutex
	pages  map[pageID]*page
	budget budget

	flushing sync.Mutex // one flush at a time
	failing  bool       // the newest flush failed; guarded by flushing

	worker *lifecycle.Worker
}

// pageID names a page: a workspace ("" for the server) and an hour's beginning.
type pageID struct {
	workspace string
	hour      time.Time
}

// page holds what this process counted for a workspace in an hour. It needs to be
// written when changed is ahead of written.
type page struct {
	rows             rows
	changed, written int64
}

// NewBook makes a book. Nothing runs before Start.
func NewBook(cfg Config, records store.Records, log *slog.Logger, now func() time.Time) (*Book, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "spend."+err.Error())
	}
	return &Book{
		cfg: cfg, records: records, log: log, now: now, replica: uuid.NewString(),
		pages: map[pageID]*page{}, budget: budget{others: map[string]amount{}}, worker: lifecycle.NewWorker(log, "usage"),
	}, nil
}

// Attempt counts a request to a model that ended: on whose behalf, for which op,
// and whether it brought an answer. Tool may be empty.
func (b *Book) Attempt(workspace, tool, op, model string, ok bool, u memoryd.Usage) {
	r := Row{
		Tool: tool, Op: op, By: shortBy("llm:" + model), Requests: 1,
		PromptTokens: believed(u.PromptTokens), CompletionTokens: believed(u.CompletionTokens),
		Cost: b.prices[model].Cost(u),
	}
	if !ok {
		r.Failed = 1
	}
	b.count(workspace, r)
}

// Verdict counts a verdict on a call of the tool; by is Evaluation.JudgedBy.
func (b *Book) Verdict(ref memoryd.ToolRef, by string) {
	b.count(ref.Workspace, Row{Tool: ref.Tool, Op: OpEvaluate, By: shortBy(by), Verdicts: 1})
}

func (b *Book) count(workspace string, r Row) {
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if workspace != "" {
		b.enter(pageID{workspace, hourOf(now)}, r)
	}
	r.Tool = ""
	b.enter(pageID{"", hourOf(now)}, r)
	b.budget.turn(now)
	b.budget.spend(amountOf([]Row{r}))
}

// enter adds a row to a page. The lock is held.
func (b *Book) enter(id pageID, r Row) {
	p := b.pages[id]
	if p == nil {
		p = &page{rows: rows{}}
		b.pages[id] = p
	}
	p.rows.add(r)
	p.changed++
}

// Forget drops what this process counted for a workspace, for when the workspace
// has been deleted: also what a write that was under way meanwhile brought back.
// The totals of the server stay.
func (b *Book) Forget(workspace string) {
	if workspace == "" {
		return
	}
	b.flushing.Lock() // a flush under way ends first
	defer b.flushing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), forgetTimeout)
	defer cancel()
	for _, id := range b.drop(workspace) {
		if err := b.records.DeleteRecord(ctx, b.key(id)); err != nil {
			b.log.Warn("the ledger of a deleted workspace may stay until it expires", "workspace", workspace, "err", err)
			return
		}
	}
}

// forgetTimeout bounds the writes of a Forget.
const forgetTimeout = 10 * time.Second

// drop takes the pages of a workspace out of memory.
func (b *Book) drop(workspace string) (gone []pageID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.pages {
		if id.workspace == workspace {
			delete(b.pages, id)
			gone = append(gone, id)
		}
	}
	return gone
}

func hourOf(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
