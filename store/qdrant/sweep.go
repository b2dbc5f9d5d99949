package qdrant

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"memoryd/internal/lifecycle"

	qd "github.com/qdrant/go-client/qdrant"
)

// sweepPage is the number of points per step of a sweep, and tombstoneTime how long what was deleted is
// remembered.
const (
	sweepPage     = 1000
	tombstoneTime = 24 * time.Hour
)

// Sweep drops the oldest calls beyond what is remembered, after adding them to the counters of
// their tools, the oldest verdicts beyond the cache, and what is left of deleted tools. A server does so
// every few minutes. Several processes can do it at once.
func (s *backend) Sweep(ctx context.Context) error {
	if err := s.drainer.Enter(ctx); err != nil {
		return err
	}
	defer s.drainer.Leave()
	if err := s.sweepTombstones(ctx); err != nil {
		return err
	}
	if err := s.shrinkCache(ctx); err != nil {
		return err
	}
	remembered, err := s.count(ctx, s.calls, all(qd.NewIsEmpty(fieldContent)))
	if err != nil {
		return err
	}
	from := int64(0)
	for over := remembered - int64(s.cfg.Remember); over > 0; {
		seen, next, err := s.forgetPage(ctx, from)
		if err != nil || next == 0 {
			return err
		}
		over -= seen
		from = next
	}
	return nil
}

// sweepTombstones removes, a second time, what writes under way may have left of
// ended tools.
func (s *backend) sweepTombstones(ctx context.Context) error {
	old := stampAt(time.Now().Add(-min(tombstoneTime, 24*s.grace)))
	found, err := s.scroll(ctx, s.tools, all(between(fieldTombstone, 0, old)), nil, sweepPage, fieldLife)
	if err != nil {
		return err
	}
	for _, p := range found {
		if err := s.removeLife(ctx, p.word(fieldLife)); err != nil {
			return err
		}
		if err := s.remove(ctx, s.tools, qd.NewPointsSelector(qd.NewIDUUID(p.id))); err != nil {
			return err
		}
	}
	return nil
}

// forgetPage folds, or removes, one page of the oldest points that no history
// keeps. It gives how many calls it saw and where the next page starts, 0 when
// there is none.
func (s *backend) forgetPage(ctx context.Context, from int64) (seen, next int64, err error) {
	aged := stampAt(time.Now().Add(-s.grace))
	page, err := s.scroll(ctx, s.calls, all(qd.NewIsEmpty(fieldKept), between(fieldStamp, from, aged)),
		ascending(fieldStamp), sweepPage, fieldLife, fieldContent, fieldStamp)
	if err != nil || len(page) == 0 {
		return 0, 0, err
	}
	last := page[len(page)-1].int(fieldStamp)
	groups := map[string][]point{}
	for _, p := range page {
		key := p.word(fieldLife) + " " + p.word(fieldContent)
		groups[key] = append(groups[key], p)
	}
	for _, points := range groups {
		if err := s.forgetOfLife(ctx, points, last); err != nil {
			return 0, 0, err
		}
		if points[0].has(fieldLife) {
			seen += int64(len(points))
		}
	}
	if len(page) < sweepPage {
		return seen, 0, nil
	}
	return seen, last + 1, nil
}

// forgetOfLife folds a tool's points up to a stamp and removes those of the page
// that were folded long enough ago, for a reader may just be counting.
func (s *backend) forgetOfLife(ctx context.Context, page []point, through int64) error {
	life := lifeOf(page[0])
	t, err := s.toolOfLife(ctx, life)
	if err != nil {
		return err
	}
	if t == nil {
		through = math.MaxInt64 // the tool has ended; all may go
	} else if through, err = s.fold(ctx, t, through); err != nil {
		return err
	}
	var ids []string
	for _, p := range page {
		if p.int(fieldStamp) <= through {
			ids = append(ids, p.id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return s.remove(ctx, s.calls, qd.NewPointsSelectorIDs(pointIDs(ids)))
}

// toolOfLife finds the tool that points belong to; nil when it has ended.
func (s *backend) toolOfLife(ctx context.Context, life string) (*tool, error) {
	found, err := s.scroll(ctx, s.tools, all(is(fieldLife, life), qd.NewIsEmpty(fieldTombstone)), nil, 1)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	whole, err := s.wholes(ctx, s.tools, found)
	if err != nil || len(whole) == 0 {
		return nil, err
	}
	return decodeTool(whole[0])
}

// fold moves a tool's cut up to a stamp: the points of calls up to there are
// added to the base on the tool's point, once, by a write that compares how
// often the cut moved; from then on counting starts above the cut. It gives the
// stamp up to which points may be removed: that of the last fold, if it is older
// than any reader's request.
//
// The cut stays below the oldest call that the history holds, for a call that is
// kept may still get a verdict, and all that is below it was accepted so long
// ago that nothing below it can still arrive.
func (s *backend) fold(ctx context.Context, t *tool, through int64) (removable int64, err error) {
	if through, err = s.belowKept(ctx, t.life, through); err != nil {
		return 0, err
	}
	base := t.base()
	if t.p.int(fieldCutAt) <= stampAt(time.Now().Add(-min(s.grace, 2*s.cfg.Patience))) {
		removable = base.through
	}
	if through <= base.through {
		return removable, nil
	}
	sum, err := s.countUpTo(ctx, t.life, base, through)
	if err != nil {
		return 0, err
	}
	moves := t.p.int(fieldCutRev)
	same := all(qd.NewHasID(qd.NewIDUUID(t.id)), is(fieldLife, t.life), revisionIs(fieldCutRev, moves))
	return removable, s.set(ctx, s.tools, s.compareOrder(), same, payload{
		fieldCut: integer(through), fieldCutAt: integer(s.clock.next(1)), fieldCutRev: integer(moves + 1),
		fieldBaseCalls: integer(sum.calls), fieldBaseDups: integer(sum.duplicates), fieldBaseRev: integer(sum.revision),
	})
}

// trimSlack is how many calls of a tool a process accepts between two clearings
// of its history.
const trimSlack = 32

// clearing is the state of a history in this process.
type clearing struct {
	due atomic.Int64 // calls accepted since it was cleared
	mu  sync.Mutex   // held while it is: two that clear at once do the same work
}

// clearingOf is that of a life.
func (s *backend) clearingOf(life string) *clearing {
	c, ok := s.trims.Get(life)
	if !ok {
		c = &clearing{}
		if first, there, _ := s.trims.PeekOrAdd(life, c); there {
			c = first
		}
	}
	return c
}

// clear clears a history until no more is due.
func (s *backend) clear(ctx context.Context, c *clearing, life, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.due.Load() >= trimSlack {
		c.due.Store(0)
		err := lifecycle.Do(ctx, s.log, "qdrant", func() error { return s.trim(ctx, life) })
		if err != nil && ctx.Err() == nil {
			s.notCleared(ctx, name, err)
		}
	}
}

// trim clears what a history no longer keeps. It is safe beside anybody: it
// takes only what is older than a call that newer ones have pushed out.
func (s *backend) trim(ctx context.Context, life string) error {
	kept, err := s.historyCalls(ctx, life)
	if err != nil || len(kept) == 0 {
		return err
	}
	return s.clearCalls(ctx, life, between(fieldSeq, 0, kept[len(kept)-1].Seq-1))
}

// shrink lets all but the newest keep calls go, for good.
func (s *backend) shrink(ctx context.Context, life string, keep int) error {
	kept, err := s.historyCalls(ctx, life)
	if err != nil || len(kept) < keep {
		return err
	}
	return s.clearCalls(ctx, life, between(fieldSeq, 0, kept[keep-1].Seq-1))
}

// clearCalls takes the bodies of those calls in a history that a condition holds for. Their
// points stay, small, so that the calls are recognised and counted.
func (s *backend) clearCalls(ctx context.Context, life string, which *qd.Condition) error {
	for {
		found, err := s.scroll(ctx, s.calls, all(is(fieldKept, life), which), nil, getBatch, fieldStamp, fieldOwner, fieldNonce, fieldVerdict)
		if err != nil || len(found) == 0 {
			return err
		}
		if err := s.pare(ctx, life, found); err != nil {
			return err
		}
	}
}

// pare writes points anew with what recognises their calls, which costs a server a tenth
// of taking field after field from them. It leaves those that got a verdict meanwhile,
// which is counted, to the next time.
func (s *backend) pare(ctx context.Context, life string, found []point) error {
	byVerdicts := map[int64][]*qd.PointStruct{}
	for _, p := range found {
		left := payload{
			fieldLife: word(life), fieldStamp: p.payload[fieldStamp], fieldOwner: p.payload[fieldOwner],
			fieldNonce: p.payload[fieldNonce],
		}
		n := p.int(fieldVerdict)
		left.putInt(fieldVerdict, n)
		byVerdicts[n] = append(byVerdicts[n], newCallPoint(p.id, left))
	}
	for n, points := range byVerdicts {
		if err := s.replace(ctx, s.calls, points, all(is(fieldKept, life), revisionIs(fieldVerdict, n))); err != nil {
			return err
		}
	}
	return nil
}
