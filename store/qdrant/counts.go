package qdrant

import (
	"context"
	"math"
	"time"

	"memoryd/internal/lifecycle"

	qd "github.com/qdrant/go-client/qdrant"
)

// A tool's counters are numbers of points, so counting costs what there is to count.
// What was accepted long enough ago cannot change any more: it is counted once and kept,
// in this process as soon as nothing is to come there (settle), and for all of them, on the
// tool's point, after an hour (fold in sweep.go). What is left to count is what came since.
const (
	// countedMuch is how many calls a description counts before it has them settled or
	// folded. settlePause is the time between two settlements, foldPause the part of an
	// hour between two looks for what can be folded.
	countedMuch = 256
	settlePause = time.Second
	foldPause   = 30
	// recountAfter is for how long a process believes what it counted: what was wrong,
	// because a clock was, is right again after that.
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

// tally is what this process counted of a life.
type tally struct {
	callCounts
	began  time.Time // when that was counted from what the tool's point says
	settle time.Time // when to count more
	fold   time.Time // when to look for what can be folded
}

// most is what is counted already, up to a stamp at most: in this process or on the tool's
// point.
func (s *backend) most(t *tool, to int64) callCounts {
	base := t.base()
	if own, ok := s.tallies.Get(t.life); ok && own.through > base.through && own.through <= to && time.Since(own.began) < recountAfter {
		return own.callCounts
	}
	return base
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

// settleWhenDue has a tool that was described settled and folded, beside the caller, where that
// saves much counting.
func (s *backend) settleWhenDue(t *tool, calls int64) {
	own, _ := s.tallies.Get(t.life)
	now := time.Now()
	settle := calls-s.most(t, endOfStamps).calls >= countedMuch && !now.Before(own.settle)
	fold := calls-t.base().calls >= countedMuch && !now.Before(own.fold)
	if !settle && !fold {
		return
	}
	own.settle = now.Add(settlePause)
	if fold {
		own.fold = now.Add(s.grace / foldPause)
	}
	s.tallies.Add(t.life, own)
	s.worker.Go(func(ctx context.Context) error {
		if err := s.settle(ctx, t, fold); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot update the counts of a tool", "tool", t.info.Tool, "err", err)
		}
		return nil
	})
}

// settle counts what cannot change any more: no write that is under way, or still to
// come, can bring a call there, and no call there is kept, which is to say judged. Where fold
// says so, what is an hour old is folded.
func (s *backend) settle(ctx context.Context, t *tool, fold bool) error {
	began := time.Now()
	low, err := s.lowWater(ctx)
	if err != nil {
		return err
	}
	through, err := s.belowKept(ctx, t.life, low)
	if err != nil {
		return err
	}
	if from := s.most(t, through); through > from.through {
		sum, err := s.countUpTo(ctx, t.life, from, through)
		if err != nil {
			return err
		}
		own, _ := s.tallies.Get(t.life)
		if own.callCounts != from {
			own.began = began
		}
		own.callCounts = sum
		s.tallies.Add(t.life, own)
	}
	if fold {
		_, err = s.fold(ctx, t, min(through, stampAt(began.Add(-s.grace))))
	}
	return err
}

// belowKept lowers a stamp to below the oldest call that the history holds, for a call
// that is kept may still get a verdict.
func (s *backend) belowKept(ctx context.Context, life string, stamp int64) (int64, error) {
	oldest, err := s.scroll(ctx, s.calls, all(is(fieldKept, life)), ascending(fieldStamp), 1, fieldStamp)
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
