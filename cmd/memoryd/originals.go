package main

import (
	"context"
	"log/slog"
	"time"

	"memoryd/compact"
	"memoryd/internal/lifecycle"
	"memoryd/ops"
	"memoryd/store"
)

// originals keeps what compaction removes in the store, for a while.
type originals struct {
	records store.Records
	keep    time.Duration // 0: for ever
	now     func() time.Time
}

// originalKind is the kind of their records.
const originalKind = "original"

func originalKey(workspace, id string) store.RecordKey {
	key := store.RecordKey{Kind: originalKind, ID: id}
	key.Workspace = workspace
	return key
}

// Put implements compact.Originals.
func (o originals) Put(ctx context.Context, workspace string, items []compact.Original) error {
	records := make([]store.Record, len(items))
	for i, item := range items {
		records[i] = store.Record{RecordKey: originalKey(workspace, item.ID), Data: item.Data}
		if o.keep > 0 {
			records[i].Expires = o.now().Add(o.keep)
		}
	}
	return o.records.PutRecords(ctx, records)
}

// Get implements compact.Originals.
func (o originals) Get(ctx context.Context, workspace, id string) (compact.Original, error) {
	r, err := o.records.Record(ctx, originalKey(workspace, id))
	return compact.Original{ID: id, Data: r.Data}, err
}

// compactor is what ops compact with: measured, and with the originals.
type compactor struct {
	measuredCompactor
	originals
}

// Original implements ops.Compactor.
func (c compactor) Original(ctx context.Context, workspace, id string) ([]byte, error) {
	o, err := c.Get(ctx, workspace, id)
	return o.Data, err
}

// newCompactor makes the compactor of an op, with the op's model if there is one.
func (a *app) newCompactor(llmName string, params ops.CompactParams) ops.Compactor {
	deps := compact.Deps{Originals: a.originals(), Logger: a.log}
	if m := a.models.forOp(llmName, "compact", params.CompactSleepInterval); m != nil {
		deps.Models = []compact.Model{a.book.Limited(m)}
	}
	return compactor{measuredCompactor{compact.New(a.cfg.Compact, deps), a.metrics}, a.originals()}
}

func (a *app) originals() originals {
	return originals{records: a.store, keep: a.cfg.Compact.KeepOriginals, now: time.Now}
}

// sweeper removes records whose time has passed, and has the store tidy up.
type sweeper struct {
	store  store.Store
	log    *slog.Logger
	worker *lifecycle.Worker
}

// How often the sweeper sweeps, and how many records it removes at a time, so as
// to hold nobody up.
const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 500
)

func newSweeper(s store.Store, log *slog.Logger) sweeper {
	return sweeper{s, log, lifecycle.NewWorker(log, "sweeping")}
}

// Start begins to sweep.
func (s sweeper) Start(ctx context.Context) {
	s.worker.Start(ctx, func(ctx context.Context) {
		for ok := true; ok; ok = lifecycle.Sleep(ctx, sweepEvery) {
			if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "the store was not tidied up", "err", err)
			}
		}
	})
}

// Stop ends the sweeping.
func (s sweeper) Stop() { s.worker.Stop() }

func (s sweeper) sweep(ctx context.Context) error {
	for n := sweepBatch; n == sweepBatch; {
		var err error
		if n, err = s.store.ExpireRecords(ctx, time.Now(), sweepBatch); err != nil {
			return err
		}
	}
	if own, ok := s.store.(interface {
		Sweep(ctx context.Context) error
	}); ok { // the store's own cleaning
		return own.Sweep(ctx)
	}
	return nil
}
