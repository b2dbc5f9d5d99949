package qdrant

import (
	"context"
	"slices"
	"time"

	"memoryd/internal/lifecycle"

	qd "github.com/qdrant/go-client/qdrant"
)

// A write costs a server nearly the same for one call and for fifty. So appends that arrive while
// others are in flight wait for those, and are then sent together (see rounds): the busier a
// process, the more calls share a request. An append that is alone is sent at once.
const (
	// ownRequest is from how many points on an append is not shared.
	ownRequest = 64
	// aloneFor is how long appends go alone after a shared request failed: what is
	// wrong may concern a part of them only, such as those of one shard.
	aloneFor = 5 * time.Second
)

// request is what an append sends, and what it wants to read after that.
type request struct {
	points       []*qd.PointStruct
	calls, tools []string // ids
}

// findings are points by id. Several appends may read them.
type findings struct{ calls, tools map[string]payload }

// deliver sends a request, with others' if some are waiting, and reads what it asks
// for. A failure is its own: when a shared request fails, or takes longer than one
// request may, each is sent alone.
func (s *backend) deliver(ctx context.Context, r *request) (*findings, error) {
	if len(r.points) < ownRequest && time.Now().UnixNano() >= s.aloneUntil.Load() {
		if found, err := inRounds(ctx, s, &s.deliveries, r); err == nil || ctx.Err() != nil {
			return found, err
		}
	}
	return s.deliverNow(ctx, []*request{r})
}

// deliverShared sends requests for as long as one request may take.
func (s *backend) deliverShared(ctx context.Context, together []*request) (found *findings, err error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	err = lifecycle.Do(limited, s.log, "qdrant", func() (err error) {
		found, err = s.deliverNow(limited, together)
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.aloneUntil.Store(time.Now().Add(aloneFor).UnixNano())
	}
	return found, err
}

// deliverNow sends requests as one, and reads what they ask for. Of points with the
// same id the first is sent.
func (s *backend) deliverNow(ctx context.Context, together []*request) (*findings, error) {
	all := merged(together)
	if err := s.insertAll(ctx, s.calls, s.appendOrder(), all.points); err != nil {
		return nil, err
	}
	var found findings
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", 0)
	read := func(into *map[string]payload, collection string, ids []string, fields ...string) {
		g.Go(func() (err error) {
			*into, err = s.getMap(gctx, collection, ids, include(fields...))
			return err
		})
	}
	read(&found.calls, s.calls, all.calls, fieldNonce, fieldLife, fieldOwner, fieldStamp)
	read(&found.tools, s.tools, all.tools, fieldLife)
	return &found, g.Wait()
}

// merged is all requests in one, each id once.
func merged(together []*request) *request {
	if len(together) == 1 {
		return together[0]
	}
	var all request
	for _, r := range together {
		all.points = append(all.points, r.points...)
		all.calls = append(all.calls, r.calls...)
		all.tools = append(all.tools, r.tools...)
	}
	all.points = distinct(all.points, func(p *qd.PointStruct) string { return p.GetId().GetUuid() })
	all.calls, all.tools = distinctIDs(all.calls), distinctIDs(all.tools)
	return &all
}

// distinct keeps the first of those with the same id, in their order and place.
func distinct[T any](all []T, id func(T) string) []T {
	there := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(one T) bool {
		again := there[id(one)]
		there[id(one)] = true
		return again
	})
}

func distinctIDs(ids []string) []string { return distinct(ids, func(id string) string { return id }) }
