package qdrant

import (
	"context"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
)

// Tool implements store.Tools.
func (s *backend) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	t, err := s.find(ctx, ref)
	if err != nil {
		return memoryd.Tool{}, err
	}
	if t == nil {
		return memoryd.Tool{}, unknownTool()
	}
	out, err := s.describe(ctx, t)
	if err == nil && out.Lifetime == 0 {
		return memoryd.Tool{}, unknownTool() // made, but its first call did not arrive
	}
	return out, err
}

// describe adds what is counted. Counters are not kept anywhere: they are the
// numbers of the points there are, and so count a call once however often it is
// written, plus what was folded away.
func (s *backend) describe(ctx context.Context, t *tool) (memoryd.Tool, error) {
	var kept []point
	var calls, contents, verdicts int64
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", 0)
	fresh := above(fieldStamp, t.p.int(fieldCut))
	g.Go(func() (err error) { kept, err = s.look(gctx, t.life, 0); return err })
	g.Go(func() (err error) {
		calls, err = s.count(gctx, s.calls, all(is(fieldLife, t.life), fresh))
		return err
	})
	g.Go(func() (err error) {
		contents, err = s.count(gctx, s.calls, all(is(fieldContent, t.life), fresh))
		return err
	})
	g.Go(func() (err error) { verdicts, err = s.countVerdicts(gctx, t, 0, 1<<52); return err })
	if err := g.Wait(); err != nil {
		return memoryd.Tool{}, err
	}
	out := t.info
	out.Lifetime = t.p.int(fieldBaseCalls) + calls
	out.Duplicates = max(0, t.p.int(fieldBaseDups)+calls-contents)
	out.Revision = t.p.int(fieldBaseRev) + calls + verdicts
	out.Kept = len(kept)
	changed := t.p.int(fieldGuideAt)
	for _, p := range kept {
		if p.int(fieldPending) >= 0 {
			out.Pending++
		}
		s.clock.see(p.int(fieldStamp))
		if p.int(fieldStamp) > t.p.int(fieldRestored) {
			changed = max(changed, p.int(fieldStamp))
		}
		changed = max(changed, p.int(fieldJudged))
	}
	out.Modified = latest(out.Created, out.Modified, changed)
	return out, nil
}

// latest gives the later of two times and a stamp.
func latest(a, b time.Time, stamp int64) time.Time {
	if b.After(a) {
		a = b
	}
	if at := instant(stamp); stamp > 0 && at.After(a) {
		a = at
	}
	return a.UTC()
}

// countVerdicts counts the changes of evaluations of calls accepted after from
// and not after to. Nearly all calls have at most one.
func (s *backend) countVerdicts(ctx context.Context, t *tool, from, to int64) (total int64, err error) {
	for n := int64(1); ; n++ {
		found, err := s.count(ctx, s.calls, all(is(fieldLife, t.life), atLeast(fieldVerdict, n),
			above(fieldStamp, max(from, t.p.int(fieldCut))), between(fieldStamp, 0, to)))
		if err != nil || found == 0 {
			return total, err
		}
		total += found
	}
}
