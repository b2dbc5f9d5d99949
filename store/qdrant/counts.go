package qdrant

import (
	"context"
	"math"
	"time"

	"memoryd/internal/lifecycle"

	qd "github.com/qdrant/go-client/qdrant"
)

// A tool's counters are numbers of points, so counting costs what there is to count.
// What was accepted more than an hour ago cannot change any more: it is counted once and
// kept on the tool's point (see fold in sweep.go). What is left to count is what came since.
const (
	// foldEvery is how many calls a description counts before it has them folded,
	// foldPause the part of an hour between two such looks.
	foldEvery = 256
	foldPause = 30
	// recountAfter is for how long a watch's counts are believed: what was wrong, because a
	// clock was, is right again after that.
	recountAfter = 15 * time.Minute
)

// endOfStamps is above all stamps.
const endOfStamps = 1<<53 - 1

// callCounts is what the calls of a life that were accepted up to a stamp count for.
type callCounts struct{ through, calls, duplicates, revision int64 }

// base is the tally on the tool's point.
func (t *tool) base() callCounts {
	return callCounts{t.p.int(fieldCut), t.p.int(fieldBaseCalls), t.p.int(fieldBaseDups), t.p.int(fieldBaseRev)}
}

// countUpTo adds to a tally what was accepted after it, up to a stamp.
func (s *backend) countUpTo(ctx context.Context, life string, from callCounts, to int64) (callCounts, error) {
	var calls, contents, verdicts int64
	var within []*qd.Condition
	if from.through > 0 || to < endOfStamps {
		within = []*qd.Condition{qd.NewRange(fieldStamp, &qd.Range{Gt: new(float64(from.through)), Lte: new(float64(to))})}
	}
	of := func(c ...*qd.Condition) *qd.Filter { return all(append(c, within...)...) }
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", 0)
	g.Go(func() (err error) {
		calls, err = s.count(gctx, s.calls, of(is(fieldLife, life)))
		return err
	})
	g.Go(func() (err error) {
		contents, err = s.count(gctx, s.calls, of(is(fieldContent, life)))
		return err
	})
	g.Go(func() error {
		for n := int64(1); ; n++ { // nearly all calls have at most one
			found, err := s.count(gctx, s.calls, of(is(fieldLife, life), atLeast(fieldVerdict, n)))
			if err != nil || found == 0 {
				return err
			}
			verdicts += found
		}
	})
	err := g.Wait()
	return callCounts{to, from.calls + calls, from.duplicates + calls - contents, from.revision + calls + verdicts}, err
}

// foldWhenDue has what is settled of a tool folded, beside the caller, whose description
// counted much.
func (s *backend) foldWhenDue(t *tool, counted int64) {
	if counted < foldEvery {
		return
	}
	now := time.Now()
	if next, known := s.folds.Get(t.life); known && now.Before(next) {
		return
	}
	s.folds.Add(t.life, now.Add(s.grace/foldPause))
	s.worker.Go(func(ctx context.Context) error {
		if err := s.foldSettled(ctx, t); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot update the counts of a tool", "tool", t.info.Tool, "err", err)
		}
		return nil
	})
}

// foldSettled folds what cannot change any more: no write that is under way, or still to
// come, can bring a call there, and no call there is kept, which is to say judged.
func (s *backend) foldSettled(ctx context.Context, t *tool) error {
	low, err := s.lowWater(ctx)
	if err == nil {
		_, err = s.fold(ctx, t, min(low, stampAt(time.Now().Add(-s.grace))))
	}
	return err
}

// belowKept lowers a stamp to below the oldest call that the history holds, for a call
// that is kept may still get a verdict.
func (s *backend) belowKept(ctx context.Context, life string, stamp int64) (int64, error) {
	oldest, err := s.scroll(ctx, s.calls, all(is(fieldKept, life)), ascending(fieldStamp, nil), 1, fieldStamp)
	if err == nil && len(oldest) > 0 {
		stamp = min(stamp, oldest[0].int(fieldStamp)-1)
	}
	return stamp, err
}

// How late what was stamped may take effect. A process alone knows what it has under way
// itself; what others have, it believes done after all the tries that a request has and a
// minute in which their clocks may differ and a server may still be at a write that
// nobody waits for any more.
const (
	clockSlack  = time.Minute
	aloneMargin = 5 * time.Second // covers the renewal of a lease, and clocks that differ a little
)

func (s *backend) latest() time.Duration { return min(s.grace, 2*s.cfg.Patience+clockSlack) }

// lowWater is a stamp at or below which no call will be stored any more.
func (s *backend) lowWater(ctx context.Context) (int64, error) {
	now := time.Now()
	low := stampAt(now.Add(-s.latest()))
	alone, err := s.alone(ctx)
	if err != nil {
		return 0, err
	}
	if alone {
		low = stampAt(now.Add(-min(s.grace, aloneMargin)))
	}
	return min(low, s.clock.oldest()) - 1, nil
}

// beginning is an append from its first stamp on: under way, or one that failed and may
// take effect for a while still.
type beginning struct {
	stamp int64
	until time.Time // zero while it is under way
}

// begin is next for calls that are going to be stored; who begins says when that ended.
func (c *clock) begin(n int) *beginning {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &beginning{stamp: c.reserve(n)}
	if c.begun == nil {
		c.begun = map[*beginning]bool{}
	}
	c.begun[b] = true
	return b
}

// end is told how what began ended, and how late it may take effect after a failure.
func (c *clock) end(b *beginning, err error, late time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	b.until = now
	if err != nil {
		b.until = now.Add(late)
	}
	for old := range c.begun {
		if !old.until.IsZero() && !now.Before(old.until) {
			delete(c.begun, old)
		}
	}
}

// oldest is the first stamp of what may still be stored by this process.
func (c *clock) oldest() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	first := int64(math.MaxInt64)
	for b := range c.begun {
		if b.until.IsZero() || now.Before(b.until) {
			first = min(first, b.stamp)
		}
	}
	return first
}
