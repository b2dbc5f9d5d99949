package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

func (l *Ledger) key(id hourID) store.RecordKey {
	return store.RecordKey{
		ToolRef: memoryd.ToolRef{Workspace: id.workspace}, Kind: kind, ID: id.hour.Format(hourForm) + "/" + l.replica,
	}
}

// writing is an hour on its way to the store.
type writing struct {
	id      hourID
	changed int64
	rows    []Row
}

// flushWriters is how many hours are written at once, so that the store can
// commit them together.
const flushWriters = 8

// flush writes the hours that changed and reads what others spent.
func (l *Ledger) flush(ctx context.Context) {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	all, _ := lifecycle.NewGroup(ctx, l.log, "usage", flushWriters)
	for _, w := range l.changed() {
		all.Go(func() error { return l.write(ctx, w) })
	}
	err := all.Wait()
	if l.cfg.limited() {
		err = errors.Join(err, l.readOthers(ctx))
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return // the process ends, and the last flush follows
	}
	l.logTurn(err)
}

// logTurn logs the first failure of several in a row, and their end.
func (l *Ledger) logTurn(err error) {
	switch {
	case err != nil && !l.failing:
		l.log.Warn("cannot write or read the cost ledger; counting continues in memory", "err", err)
	case err == nil && l.failing:
		l.log.Info("the cost ledger can be written again")
	}
	l.failing = err != nil
}

// changed gives the hours to be written, and lets those go that are written and
// whose hour is over.
func (l *Ledger) changed() []writing {
	this := hourOf(l.now())
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []writing
	for id, p := range l.hours {
		switch {
		case p.changed > p.written:
			list = append(list, writing{id, p.changed, p.rows.sorted()})
		case id.hour.Before(this.Add(-time.Hour)):
			delete(l.hours, id)
		}
	}
	return list
}

func (l *Ledger) write(ctx context.Context, w writing) error {
	r := store.Record{RecordKey: l.key(w.id), Revision: store.AnyRevision, Expires: w.id.hour.Add(l.cfg.Keep)}
	if err := store.WriteJSON(ctx, l.records, r, w.rows); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.hours[w.id]; p != nil {
		p.written = w.changed
	}
	return nil
}

// Report sums up the workspace's rows from the hour of from up to to: what all replicas have
// written, and what this one has counted since. The empty workspace means the totals of the server.
// Rows are sorted by tool, op and judge.
func (l *Ledger) Report(ctx context.Context, workspace string, from, to time.Time) ([]Row, error) {
	total := rows{}
	own := l.own(workspace, from, to)
	err := l.read(ctx, workspace, from, to, func(_ string, hour time.Time, mine bool, list []Row) {
		if _, newer := own[hour]; mine && newer {
			return
		}
		total.sum(list)
	})
	if err != nil {
		return nil, err
	}
	for _, list := range own {
		total.sum(list)
	}
	list := total.sorted()
	for i := range list {
		list[i].Workspace, list[i].Cost = workspace, rounded(list[i].Cost)
	}
	return list, nil
}

// sum adds rows without the bound on their number.
func (rs rows) sum(list []Row) {
	for _, r := range list {
		rs.at(r.label()).add(r)
	}
}

// own gives the rows of the hours in memory, which are never behind the store,
// by hour.
func (l *Ledger) own(workspace string, from, to time.Time) map[time.Time][]Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	hours := map[time.Time][]Row{}
	for id, p := range l.hours {
		if id.workspace == workspace && !id.hour.Before(hourOf(from)) && id.hour.Before(to) {
			hours[id.hour] = p.rows.sorted()
		}
	}
	return hours
}

// read hands each record of the workspace and the hours to take, with its id,
// its hour and whether this process wrote it. What cannot be read is left out
// and logged: one bad record must not hide the others.
func (l *Ledger) read(ctx context.Context, workspace string, from, to time.Time,
	take func(id string, hour time.Time, own bool, list []Row),
) error {
	key := store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: workspace}, Kind: kind, ID: hourOf(from).Format(hourForm)}
	for r, err := range store.AllRecords(ctx, l.records, key) {
		if err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
		at, replica, _ := strings.Cut(r.ID, "/")
		hour, err := time.Parse(hourForm, at)
		if err == nil && !hour.Before(to) {
			return nil
		}
		var rows []Row
		if err == nil {
			err = json.Unmarshal(r.Data, &rows)
		}
		if err != nil {
			l.log.WarnContext(ctx, "cannot read a record of the cost ledger", "workspace", workspace, "id", r.ID, "err", err)
			continue
		}
		take(r.ID, hour, replica == l.replica, rows)
	}
	return nil
}
