package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"memoryd"
	"memoryd/store"
)

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
		l := r.label()
		if rs[l] == nil {
			rs[l] = &Row{Tool: r.Tool, Op: r.Op, By: r.By}
		}
		rs[l].add(r)
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
