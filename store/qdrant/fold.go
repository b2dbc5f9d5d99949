package qdrant

import (
	"context"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
)

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
	oldest, err := s.scroll(ctx, s.calls, all(is(fieldKept, t.life)), ascending(fieldStamp, nil), 1, fieldStamp)
	if err != nil {
		return 0, err
	}
	if len(oldest) > 0 {
		through = min(through, oldest[0].int(fieldStamp)-1)
	}
	cut := t.p.int(fieldCut)
	if t.p.int(fieldCutAt) <= stampAt(time.Now().Add(-min(s.grace, 2*s.cfg.Patience))) {
		removable = cut
	}
	if through <= cut {
		return removable, nil
	}
	within := []*qd.Condition{above(fieldStamp, cut), between(fieldStamp, 0, through)}
	calls, err := s.count(ctx, s.calls, all(append(within, is(fieldLife, t.life))...))
	if err != nil {
		return 0, err
	}
	contents, err := s.count(ctx, s.calls, all(append(within, is(fieldContent, t.life))...))
	if err != nil {
		return 0, err
	}
	verdicts, err := s.countVerdicts(ctx, t, cut, through)
	if err != nil {
		return 0, err
	}
	moves := t.p.int(fieldCutRev)
	same := all(qd.NewHasID(qd.NewIDUUID(t.id)), is(fieldLife, t.life), revisionIs(fieldCutRev, moves))
	return removable, s.set(ctx, s.tools, same, payload{
		fieldCut: integer(through), fieldCutAt: integer(s.clock.next(1)), fieldCutRev: integer(moves + 1),
		fieldBaseCalls: integer(t.p.int(fieldBaseCalls) + calls),
		fieldBaseDups:  integer(t.p.int(fieldBaseDups) + calls - contents),
		fieldBaseRev:   integer(t.p.int(fieldBaseRev) + calls + verdicts),
	})
}
