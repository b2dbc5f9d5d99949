package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// kind marks the ledger's records.
const kind = "spend"

// hourForm begins the id of a record, so that ids are in the order of time. The
// replica's name follows behind a slash.
const hourForm = "2006-01-02T15"

func (b *Ledger) key(id hourID) store.RecordKey {
	return store.RecordKey{
		ToolRef: memoryd.ToolRef{Workspace: id.workspace}, Kind: kind, ID: id.hour.Format(hourForm) + "/" + b.replica,
	}
}

// writing is a page on its way to the store.
type writing struct {
	id      hourID
	changed int64
	rows    []Row
}

// flushWriters is how many hours are written at once, so that the store can
// commit them together.
const flushWriters = 8

// flush writes the hours that changed and reads what others spent.
func (b *Ledger) flush(ctx context.Context) {
	b.flushing.Lock()
	defer b.flushing.Unlock()
	all, _ := lifecycle.NewGroup(ctx, b.log, "usage", flushWriters)
	for _, w := range b.changed() {
		all.Go(func() error { return b.write(ctx, w) })
	}
	err := all.Wait()
	if b.cfg.limited() {
		err = errors.Join(err, b.readOthers(ctx))
	}
	b.told(err)
}

// told logs the first failure of several in a row, and their end.
func (b *Ledger) told(err error) {
	switch {
	case err != nil && !b.failing:
		b.log.Warn("the cost ledger could not be written or read; counting goes on", "err", err)
	case err == nil && b.failing:
		b.log.Info("the cost ledger is written again")
	}
	b.failing = err != nil
}

// changed gives the hours to be written, and lets those go that are written and
// whose hour is over.
func (b *Ledger) changed() []writing {
	this := hourOf(b.now())
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []writing
	for id, p := range b.hours {
		switch {
		case p.changed > p.written:
			list = append(list, writing{id, p.changed, p.rows.sorted()})
		case id.hour.Before(this.Add(-time.Hour)):
			delete(b.hours, id)
		}
	}
	return list
}

func (b *Ledger) write(ctx context.Context, w writing) error {
	data, err := json.Marshal(w.rows)
	if err != nil {
		return fmt.Errorf("encode the ledger: %w", err)
	}
	_, err = b.records.PutRecord(ctx, store.Record{
		RecordKey: b.key(w.id), Revision: store.AnyRevision, Expires: w.id.hour.Add(b.cfg.Keep), Data: data,
	})
	if err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.hours[w.id]; p != nil {
		p.written = w.changed
	}
	return nil
}
