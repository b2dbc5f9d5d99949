package main

import (
	"context"
	"log/slog"
	"time"

	"memoryd/internal/lifecycle"
	"memoryd/store"
)

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
