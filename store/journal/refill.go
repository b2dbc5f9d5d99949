package journal

import (
	"context"
	"slices"

	"memoryd"
	"memoryd/store"
)

// refill puts the tools of the local copy into a remote store that lost everything, with
// their counters, before what waits is forwarded: that counts for itself. Where another
// process was faster, or all that the copy keeps of a tool waits, its calls come all the
// same, and what its history let go is counted no more: uncounted says how many those are.
func (s *backend) refill(ctx context.Context) (restored int, uncounted int64, err error) {
	for space, err := range store.AllWorkspaces(ctx, s.local) {
		if err != nil {
			return restored, uncounted, err
		}
		for t, err := range store.AllTools(ctx, s.local, space) {
			if err != nil {
				return restored, uncounted, err
			}
			missing, err := s.refillTool(ctx, t.ToolRef)
			if err != nil {
				s.log.WarnContext(ctx, "a tool was not put back whole", "workspace", space, "tool", t.Tool, "uncounted", missing, "err", err)
				uncounted += missing
				continue
			}
			restored++
		}
	}
	return restored, uncounted, nil
}

// refillTool puts back a tool while nothing new is accepted for it.
func (s *backend) refillTool(ctx context.Context, ref memoryd.ToolRef) (missing int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	unlock := s.order.lock([]memoryd.ToolRef{ref})
	defer unlock()
	mine, err := s.localView(ctx, ref)
	if err != nil || !mine.exists {
		return 0, err
	}
	return s.restore(ctx, mine)
}

// restore puts back a tool without what waits for it. When it fails, missing is how many
// calls the copy counts and no longer has.
func (s *backend) restore(ctx context.Context, mine view) (missing int64, err error) {
	w := s.q.waitingFor(mine.tool.ToolRef)
	if w.gone {
		return 0, nil
	}
	t, waits := mine.tool, map[memoryd.CallKey]bool{}
	for _, a := range w.appends {
		for _, c := range a.calls {
			if waits[c.key] || c.certain && !c.local.New {
				continue
			}
			waits[c.key] = true
			t.Lifetime--
			t.Revision--
			if c.local.Repeat {
				t.Duplicates--
			}
		}
	}
	if t.Lifetime <= 0 {
		return 0, nil // nothing of it is older than what waits
	}
	calls := slices.DeleteFunc(mine.calls, func(c memoryd.Call) bool { return waits[c.Key] })
	t.Duplicates = max(0, t.Duplicates)
	return t.Lifetime - int64(len(calls)), s.remote.RestoreTool(ctx, t, calls)
}
