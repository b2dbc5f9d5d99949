package main

import (
	"context"
	"log/slog"
	"time"

	"memoryd"
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

// compaction gives the HTTP face what compaction removed.
type compaction struct {
	*compact.Compactor
	originals
}

// Original implements api.Originals.
func (c compaction) Original(ctx context.Context, workspace, id string) ([]byte, error) {
	if !compact.ValidID(id) {
		return nil, memoryd.Errorf(memoryd.Invalid, "original: %q is not the id of one", id)
	}
	o, err := c.Get(ctx, workspace, id)
	return o.Data, err
}

// newCompactor makes the compactor of an op, with the op's model if there is one.
func (a *app) newCompactor(llmName string, params ops.CompactParams) *compact.Compactor {
	deps := compact.Deps{Originals: a.originals(), Logger: a.log}
	if m := a.models.forOp(llmName, "compact", params.CompactSleepInterval); m != nil {
		deps.Models = []compact.Model{a.book.Limited(m)}
	}
	return compact.New(a.cfg.Compact, deps)
}

func (a *app) originals() originals {
	return originals{records: a.store, keep: a.cfg.Compact.KeepOriginals, now: time.Now}
}

// janitor removes records whose time has passed, and has the store tidy up.
type janitor struct {
	records store.Records
	// tidy is the store's own cleaning, where it has one.
	tidy interface {
		Sweep(ctx context.Context) error
	}
	log    *slog.Logger
	worker *lifecycle.Worker
}

// The janitor's round.
const (
	janitorEvery = 10 * time.Minute
	janitorBatch = 500
)

func (j *janitor) start(ctx context.Context) {
	j.worker = lifecycle.NewWorker(j.log, "sweeping")
	j.worker.Start(context.WithoutCancel(ctx), func(ctx context.Context) {
		for {
			j.sweep(ctx)
			j.tidyUp(ctx)
			if !lifecycle.Sleep(ctx, janitorEvery) {
				return
			}
		}
	})
}

// sweep removes what has expired, in batches that hold nobody up.
func (j *janitor) sweep(ctx context.Context) {
	for {
		n, err := j.records.ExpireRecords(ctx, time.Now(), janitorBatch)
		if err != nil && ctx.Err() == nil {
			j.log.Warn("expired records were not removed", "err", err)
		}
		if err != nil || n < janitorBatch {
			return
		}
	}
}

func (j *janitor) tidyUp(ctx context.Context) {
	if j.tidy == nil {
		return
	}
	if err := j.tidy.Sweep(ctx); err != nil && ctx.Err() == nil {
		j.log.Warn("the store was not tidied up", "err", err)
	}
}

func (j *janitor) end() {
	if j.worker != nil {
		j.worker.Stop()
	}
}
