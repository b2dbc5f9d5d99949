package qdrant

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"memoryd/internal/lifecycle"

	qd "github.com/qdrant/go-client/qdrant"
)

// A write costs a server nearly the same whether it brings one call or fifty. So
// appends that come while others' requests are under way wait for these, and then
// go together: the busier a process, the more calls share a request. Nobody waits
// for company, and an append that is alone is sent at once.
const (
	// maxFlights is how many shared requests of a process are under way at once.
	maxFlights = 1
	// maxShared is how many points a shared request holds at most, and an append
	// of ownRequest points or more is not shared at all.
	maxShared  = 512
	ownRequest = 64
	// aloneFor is how long appends go alone after a shared request failed: what is
	// wrong may concern a part of them only, such as those of one shard.
	aloneFor = 5 * time.Second
)

// cargo is what an append sends, and what it wants to read after that.
type cargo struct {
	points                 []*qd.PointStruct
	calls, contents, tools []string // ids

	ctx   context.Context // of its owner
	done  chan struct{}   // closed when the rest is known
	found *findings
	alone bool // nothing is known: the owner sends it
}

// findings are points by id. Several appends may read them.
type findings struct{ calls, contents, tools map[string]payload }

// sharing brings cargoes together.
type sharing struct {
	mu         sync.Mutex
	flights    int
	queue      []*cargo
	aloneUntil time.Time
}

// deliver sends a cargo, with others' if some are waiting, and reads what it asks
// for. A failure is its own: when a shared request fails, or takes longer than one
// request may, each is sent alone.
func (s *backend) deliver(ctx context.Context, c *cargo) (*findings, error) {
	c.ctx, c.done = ctx, make(chan struct{})
	if !s.board(c) {
		return s.deliverNow(ctx, []*cargo{c})
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("qdrant: append: %w", context.Cause(ctx))
	}
	if c.alone {
		return s.deliverNow(ctx, []*cargo{c})
	}
	return c.found, nil
}

// board queues a cargo and sees that somebody takes it; false means that it is to
// go alone.
func (s *backend) board(c *cargo) bool {
	sh := &s.sharing
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if len(c.points) >= ownRequest || time.Now().Before(sh.aloneUntil) {
		return false
	}
	sh.queue = append(sh.queue, c)
	if sh.flights < maxFlights {
		sh.flights++
		s.worker.Go(s.fly)
	}
	return true
}

// fly sends what waits until nothing does.
func (s *backend) fly(context.Context) error {
	for {
		together := s.sharing.take()
		if len(together) == 0 {
			return nil
		}
		var found *findings
		err := lifecycle.Do(context.Background(), s.log, "qdrant", func() (err error) {
			found, err = s.deliverFor(together)
			return err
		})
		if err != nil {
			s.sharing.failed()
		}
		for _, c := range together {
			c.found, c.alone = found, err != nil
			close(c.done)
		}
	}
}

// take gives the cargoes that go next; none ends the flight. Those whose owners
// have left stay behind.
func (sh *sharing) take() (together []*cargo) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	points, n := 0, 0
	for _, c := range sh.queue {
		if points += len(c.points); points > maxShared && len(together) > 0 {
			break
		}
		n++
		if c.ctx.Err() == nil {
			together = append(together, c)
		}
	}
	sh.queue = sh.queue[n:]
	if len(together) == 0 {
		sh.flights--
	}
	return together
}

// failed lets those who wait, and those who come soon, go alone.
func (sh *sharing) failed() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.aloneUntil = time.Now().Add(aloneFor)
	for _, c := range sh.queue {
		c.alone = true
		close(c.done)
	}
	sh.queue = nil
}

// deliverFor sends cargoes for as long as one request may take, and for as long as
// one of their owners waits.
func (s *backend) deliverFor(together []*cargo) (*findings, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Timeout)
	defer cancel()
	var waiting atomic.Int64
	waiting.Store(int64(len(together)))
	for _, c := range together {
		defer context.AfterFunc(c.ctx, func() {
			if waiting.Add(-1) == 0 {
				cancel()
			}
		})()
	}
	return s.deliverNow(ctx, together)
}

// deliverNow sends cargoes as one, and reads what they ask for. Of points with the
// same id the first is sent.
func (s *backend) deliverNow(ctx context.Context, together []*cargo) (*findings, error) {
	all := together[0]
	if len(together) > 1 {
		all = merged(together)
	}
	for points := all.points; len(points) > 0; {
		n := requestSize(points)
		if err := s.insert(ctx, s.calls, s.appendOrder, points[:n]); err != nil {
			return nil, err
		}
		points = points[n:]
	}
	var found findings
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", 0)
	g.Go(func() (err error) {
		found.calls, err = s.getMap(gctx, s.calls, all.calls, include(fieldNonce, fieldLife, fieldOwner, fieldStamp))
		return err
	})
	g.Go(func() (err error) {
		found.contents, err = s.getMap(gctx, s.calls, all.contents, include(fieldOwner))
		return err
	})
	g.Go(func() (err error) {
		found.tools, err = s.getMap(gctx, s.tools, all.tools, include(fieldLife))
		return err
	})
	return &found, g.Wait()
}

// merged is all cargoes in one, each id once.
func merged(together []*cargo) *cargo {
	all := &cargo{}
	sent := map[string]bool{}
	calls, contents, tools := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range together {
		for _, p := range c.points {
			if id := p.GetId().GetUuid(); !sent[id] {
				sent[id] = true
				all.points = append(all.points, p)
			}
		}
		all.calls = appendNew(all.calls, calls, c.calls)
		all.contents = appendNew(all.contents, contents, c.contents)
		all.tools = appendNew(all.tools, tools, c.tools)
	}
	return all
}

func appendNew(to []string, there map[string]bool, ids []string) []string {
	for _, id := range ids {
		if !there[id] {
			there[id] = true
			to = append(to, id)
		}
	}
	return to
}
