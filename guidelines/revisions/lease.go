package revisions

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"memoryd"
	"memoryd/store"
)

// errElsewhere ends a round that another process has taken over.
var errElsewhere = errors.New("another process goes the rounds")

// lease says who goes the rounds, and until when.
type lease struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// leaseRounds is for how many intervals a process that died keeps the others from
// taking over, leastLease how long it does at least.
const (
	leaseRounds = 3
	leastLease  = 10 * time.Second
)

// term is how long a lease lasts.
func (r *Rounds) term() time.Duration {
	return max(leaseRounds*r.curator.Config.Interval, leastLease)
}

// lease takes or renews the lease of this process, and gives its end; zero when
// another process has it.
func (r *Rounds) lease(ctx context.Context) (time.Time, error) {
	key := store.RecordKey{Kind: "lease", ID: "guideline_rounds"}
	now := r.curator.Now()
	var held lease
	old, err := r.curator.Store.Record(ctx, key)
	if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
		return time.Time{}, err
	}
	if err == nil && json.Unmarshal(old.Data, &held) == nil && held.Holder != r.self && now.Before(held.Until) {
		return time.Time{}, nil
	}
	mine := lease{Holder: r.self, Until: now.Add(r.term())}
	data, err := json.Marshal(mine)
	if err != nil {
		return time.Time{}, err
	}
	_, err = r.curator.Store.PutRecord(ctx, store.Record{RecordKey: key, Revision: old.Revision, Data: data})
	switch {
	case memoryd.IsKind(err, memoryd.Conflict):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	}
	return mine.Until, nil
}
