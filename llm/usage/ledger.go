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

// Ledger counts the costs of one process. It is safe for concurrent use.
type Ledger struct {
	cfg     Config
	records store.Records
	log     *slog.Logger
	now     func() time.Time
	replica string // names this process among all that write to the store
	prices  Prices

	mu     sync.Mutex
	hours  map[hourID]*hour
	budget budget

	flushing sync.Mutex // one flush at a time
	failing  bool       // the newest flush failed; guarded by flushing, as is known
	known    bool       // what others spent today was read

	worker *lifecycle.Worker
}

// hourID names an hour: a workspace ("" for the server) and an hour's beginning.
type hourID struct {
	workspace string
	hour      time.Time
}

// hour holds what this process counted for a workspace in an hour. It needs to be
// written when changed is ahead of written.
type hour struct {
	rows             rows
	changed, written int64
}

// NewLedger returns a ledger. Nothing runs before Start.
func NewLedger(cfg Config, records store.Records, log *slog.Logger, now func() time.Time) *Ledger {
	return &Ledger{
		cfg: cfg, records: records, log: log, now: now, replica: uuid.NewString(),
		hours: map[hourID]*hour{}, budget: budget{spent: map[string]amount{}}, worker: lifecycle.NewWorker(log, "usage"),
	}
}

// Attempt counts a finished request to a model: for which workspace, tool and op, and whether it
// got an answer. Tool may be empty.
func (l *Ledger) Attempt(workspace, tool, op, model string, ok bool, u memoryd.Usage) {
	r := Row{
		Tool: tool, Op: op, By: shortBy("llm:" + model), Requests: 1,
		PromptTokens: believed(u.PromptTokens), CompletionTokens: believed(u.CompletionTokens), Cost: l.prices[model].Cost(u),
	}
	if !ok {
		r.Failed = 1
	}
	l.count(workspace, r)
}

// Verdict counts a verdict on a call of the tool; by is its Evaluation.JudgedBy.
func (l *Ledger) Verdict(ref memoryd.ToolRef, by string) {
	l.count(ref.Workspace, Row{Tool: ref.Tool, Op: opEvaluate, By: shortBy(by), Verdicts: 1})
}

func (l *Ledger) count(workspace string, r Row) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if workspace != "" {
		l.enter(hourID{workspace, hourOf(now)}, r)
	}
	r.Tool = ""
	l.enter(hourID{"", hourOf(now)}, r)
	if l.cfg.limited() {
		own := l.key(hourID{"", hourOf(now)}).ID
		l.budget.spent[own] = l.budget.spent[own].plus(amountOf([]Row{r}))
	}
}

// enter adds a row to an hour. The lock is held.
func (l *Ledger) enter(id hourID, r Row) {
	p := l.hours[id]
	if p == nil {
		p = &hour{rows: rows{}}
		l.hours[id] = p
	}
	p.rows.add(r)
	p.changed++
}

// Forget drops the counts of a deleted workspace, including those of a write in progress. The
// totals of the server remain.
func (l *Ledger) Forget(ctx context.Context, workspace string) {
	if workspace == "" {
		return
	}
	l.flushing.Lock() // a flush under way ends first
	defer l.flushing.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetTimeout) // the workspace has gone, whoever waits
	defer cancel()
	for _, id := range l.drop(workspace) {
		if err := l.records.DeleteRecord(ctx, l.key(id)); err != nil {
			l.log.WarnContext(ctx, "cannot delete the ledger of a workspace; it stays until it expires", "workspace", workspace, "err", err)
			return
		}
	}
}

// forgetTimeout bounds the writes of a Forget.
const forgetTimeout = 10 * time.Second

// drop takes the hours of a workspace out of memory.
func (l *Ledger) drop(workspace string) (gone []hourID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.hours {
		if id.workspace == workspace {
			delete(l.hours, id)
			gone = append(gone, id)
		}
	}
	return gone
}

func hourOf(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Timeouts of the store: for a flush, and at start and stop.
const (
	flushTimeout = 30 * time.Second
	edgeTimeout  = 5 * time.Second
)

// Start reads what all replicas used today. Then it writes changed rows every FlushInterval, until
// ctx ends or Stop is called. While the store cannot be read, budgets count this process only.
// Start may be called once.
func (l *Ledger) Start(ctx context.Context) {
	look, cancel := context.WithTimeout(ctx, edgeTimeout)
	defer cancel()
	l.flushing.Lock()
	l.logTurn(l.readOthers(look))
	l.flushing.Unlock()
	l.worker.Start(ctx, l.flushAgain)
}

func (l *Ledger) flushAgain(ctx context.Context) {
	tick := time.NewTicker(l.cfg.FlushInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), edgeTimeout)
			defer cancel()
			l.flush(last)
			return
		case <-tick.C:
			each, cancel := context.WithTimeout(ctx, flushTimeout)
			l.flush(each)
			cancel()
		}
	}
}

// Stop writes the remaining rows and stops. It may be called twice, or before Start.
func (l *Ledger) Stop() { l.worker.Stop() }
