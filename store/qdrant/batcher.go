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

// A write costs a server nearly the same for one call and for fifty. So appends that arrive while
// other requests are in flight wait for those, and are then sent together: the busier a process,
// the more calls share a request. An append that is alone is sent at once.
const (
	// maxShared is how many points a shared request holds at most, and an append
	// of ownRequest points or more is not shared at all.
	maxShared  = 512
	ownRequest = 64
	// aloneFor is how long appends go alone after a shared request failed: what is
	// wrong may concern a part of them only, such as those of one shard.
	aloneFor = 5 * time.Second
)

// request is what an append sends, and what it wants to read after that.
type request struct {
	points                 []*qd.PointStruct
	calls, contents, tools []string // ids

	ctx   context.Context // of its owner
	done  chan struct{}   // closed when the rest is known
	found *findings
	alone bool // nothing is known: the owner sends it
}

// findings are points by id. Several appends may read them.
type findings struct{ calls, contents, tools map[string]payload }

// batcher brings requests together.
type batcher struct {
	mu         sync.Mutex
	flushing   bool // one shared request of a process is under way at a time
	queue      []*request
	aloneUntil time.Time
}

// deliver sends a request, with others' if some are waiting, and reads what it asks
// for. A failure is its own: when a shared request fails, or takes longer than one
// request may, each is sent alone.
func (s *backend) deliver(ctx context.Context, c *request) (*findings, error) {
	c.done = make(chan struct{})
	waiting, cancel := context.WithDeadline(ctx, s.lastTry(ctx))
	defer cancel()
	c.ctx = waiting
	if !s.enqueue(c) {
		return s.deliverNow(ctx, []*request{c})
	}
	select {
	case <-c.done:
	case <-waiting.Done():
		if ctx.Err() == nil {
			return nil, kindOf("append", context.DeadlineExceeded, 0)
		}
		return nil, fmt.Errorf("qdrant: append: %w", context.Cause(ctx))
	}
	if c.alone {
		return s.deliverNow(ctx, []*request{c})
	}
	return c.found, nil
}

// enqueue queues a request and sees that somebody takes it; false means that it is to
// go alone.
func (s *backend) enqueue(c *request) bool {
	b := &s.batcher
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(c.points) >= ownRequest || time.Now().Before(b.aloneUntil) {
		return false
	}
	b.queue = append(b.queue, c)
	if !b.flushing {
		b.flushing = s.worker.Go(s.flush)
	}
	return true
}

// flush sends what waits until nothing does.
func (s *backend) flush(context.Context) error {
	for {
		together := s.batcher.take()
		if len(together) == 0 {
			return nil
		}
		var found *findings
		err := lifecycle.Do(context.Background(), s.log, "qdrant", func() (err error) {
			found, err = s.deliverFor(together)
			return err
		})
		if err != nil {
			s.batcher.failed()
		}
		for _, c := range together {
			c.found, c.alone = found, err != nil
			close(c.done)
		}
	}
}

// take gives the requests that go next; none ends the flush. Those whose owners
// have left stay behind.
func (b *batcher) take() (together []*request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	points, n := 0, 0
	for _, c := range b.queue {
		if points += len(c.points); points > maxShared && len(together) > 0 {
			break
		}
		n++
		if c.ctx.Err() == nil {
			together = append(together, c)
		}
	}
	b.queue = b.queue[n:]
	if len(together) == 0 {
		b.flushing = false
	}
	return together
}

// failed lets those who wait, and those who come soon, go alone.
func (b *batcher) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.aloneUntil = time.Now().Add(aloneFor)
	for _, c := range b.queue {
		c.alone = true
		close(c.done)
	}
	b.queue = nil
}

// deliverFor sends requests for as long as one request may take, and for as long as
// one of their owners waits.
func (s *backend) deliverFor(together []*request) (*findings, error) {
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

// deliverNow sends requests as one, and reads what they ask for. Of points with the
// same id the first is sent.
func (s *backend) deliverNow(ctx context.Context, together []*request) (*findings, error) {
	all := together[0]
	if len(together) > 1 {
		all = merged(together)
	}
	for points := all.points; len(points) > 0; {
		n := requestSize(points)
		if err := s.insert(ctx, s.calls, s.appendOrder(), points[:n]); err != nil {
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
		found.contents, err = s.getMap(gctx, s.calls, all.contents, include(fieldOwner, fieldStamp))
		return err
	})
	g.Go(func() (err error) {
		found.tools, err = s.getMap(gctx, s.tools, all.tools, include(fieldLife))
		return err
	})
	return &found, g.Wait()
}

// merged is all requests in one, each id once.
func merged(together []*request) *request {
	all := &request{}
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
