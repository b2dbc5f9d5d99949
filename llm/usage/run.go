package usage

import (
	"context"
	"time"
)

// Patience with the store: for a flush, and at the start and the end.
const (
	flushTimeout = 30 * time.Second
	edgeTimeout  = 5 * time.Second
)

// Start reads what was spent today, by all replicas, and then writes what
// changed at every FlushInterval until ctx ends or Stop. Where the store cannot
// be read, budgets count only what this process spent, until it can. A ledger
// starts once.
func (b *Ledger) Start(ctx context.Context) {
	b.look(ctx)
	b.worker.Start(ctx, b.flushAgain)
}

func (b *Ledger) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, edgeTimeout)
	defer cancel()
	b.flushing.Lock()
	defer b.flushing.Unlock()
	b.told(b.readOthers(ctx))
}

func (b *Ledger) flushAgain(ctx context.Context) {
	tick := time.NewTicker(b.cfg.FlushInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), edgeTimeout)
			defer cancel()
			b.flush(last)
			return
		case <-tick.C:
			each, cancel := context.WithTimeout(ctx, flushTimeout)
			b.flush(each)
			cancel()
		}
	}
}

// Stop writes what is left and ends. It may be called twice, or before Start.
func (b *Ledger) Stop() { b.worker.Stop() }
