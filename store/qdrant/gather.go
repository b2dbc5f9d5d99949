package qdrant

import (
	"context"
	"fmt"
	"sync"

	"memoryd/internal/lifecycle"

	qd "github.com/qdrant/go-client/qdrant"
)

// gathering brings small reads by id together: a request costs a server more than a
// point in it. One is under way at a time; what is asked meanwhile goes together after
// that, so what it finds is no older than any of the questions.
type gathering struct {
	collection string
	with       *qd.WithPayloadSelector

	mu   sync.Mutex
	busy bool
	next *gathered // what waits
}

type gathered struct {
	ids   []string
	done  chan struct{} // closed when the rest is known
	found map[string]payload
	err   error
}

// maxGathered is how many points a caller may ask for to share a request.
const maxGathered = 8

// gather reads points by id, with others' if a read is under way.
func (s *backend) gather(ctx context.Context, g *gathering, ids []string) (map[string]payload, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if len(ids) > maxGathered {
		return s.getMap(ctx, g.collection, ids, g.with)
	}
	g.mu.Lock()
	if !g.busy {
		g.busy = true
		g.mu.Unlock()
		defer s.gatherNext(g)
		return s.getMap(ctx, g.collection, ids, g.with)
	}
	if g.next == nil {
		g.next = &gathered{done: make(chan struct{})}
	}
	mine := g.next
	mine.ids = append(mine.ids, ids...)
	g.mu.Unlock()
	waiting, cancel := context.WithDeadline(ctx, s.lastTry(ctx))
	defer cancel()
	select {
	case <-mine.done:
		return mine.found, mine.err
	case <-waiting.Done():
		if ctx.Err() == nil {
			return nil, kindOf("get", context.DeadlineExceeded, 0)
		}
		return nil, fmt.Errorf("qdrant: get: %w", context.Cause(ctx))
	}
}

// gatherNext lets those who wait go.
func (s *backend) gatherNext(g *gathering) {
	g.mu.Lock()
	defer g.mu.Unlock()
	next := g.next
	g.next = nil
	if g.busy = next != nil; !g.busy {
		return
	}
	read := func(ctx context.Context) error {
		defer s.gatherNext(g)
		defer close(next.done)
		next.err = lifecycle.Do(ctx, s.log, "qdrant", func() (err error) {
			next.found, err = s.getMap(ctx, g.collection, appendNew(nil, map[string]bool{}, next.ids), g.with)
			return err
		})
		return next.err
	}
	if !s.worker.Go(read) {
		g.busy = false
		next.err = kindOf("get", context.Canceled, 0)
		close(next.done)
	}
}
