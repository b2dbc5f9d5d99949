package journal

import (
	"context"
	"time"

	"memoryd"
)

// view is a tool with its history, as the remote store has it together with what
// waits for it, or, while that is away, as the local copy has it.
type view struct {
	exists bool
	tool   memoryd.Tool
	calls  []memoryd.Call
}

// view looks at a tool. What waits must have been looked at before: then an
// operation that is forwarded meanwhile is seen twice, which can be told from
// the keys, and never not at all.
func (s *backend) view(ctx context.Context, ref memoryd.ToolRef, w waiting) (view, error) {
	mine, err := s.localView(ctx, ref)
	if err != nil || w.gone {
		return mine, err
	}
	theirs, ok, err := ask(ctx, s, func(ctx context.Context) (view, error) { return s.remoteView(ctx, ref) })
	if err != nil {
		return view{}, err
	}
	if ok {
		return merge(theirs, mine, w), nil
	}
	if !mine.exists {
		return view{}, s.unavailable(nil)
	}
	return mine, nil
}

func (s *backend) remoteView(ctx context.Context, ref memoryd.ToolRef) (v view, err error) {
	v.tool, err = s.remote.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return view{}, nil
	}
	if err != nil {
		return v, err
	}
	v.exists = true
	v.calls, err = s.remote.History(ctx, ref, 0)
	return v, err
}

// localView has the guideline that the remote store was last seen to hold.
func (s *backend) localView(ctx context.Context, ref memoryd.ToolRef) (v view, err error) {
	v.tool, err = s.local.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return view{}, nil
	}
	if err != nil {
		return v, err
	}
	v.exists = true
	if v.tool.Guideline, err = s.guides.load(ctx, ref); err != nil {
		return v, err
	}
	v.calls, err = s.local.History(ctx, ref, 0)
	return v, err
}

// merge adds to the remote store's view what waits, and verdicts that it lacks.
func merge(v, mine view, w waiting) view {
	if !v.exists && mine.exists && len(w.appends) > 0 {
		v.exists, v.tool = true, memoryd.Tool{ToolRef: mine.tool.ToolRef, Created: mine.tool.Created}
	}
	held := make(map[memoryd.CallKey]*memoryd.Call, len(mine.calls))
	for i := range mine.calls {
		held[mine.calls[i].Key] = &mine.calls[i]
	}
	known := make(map[memoryd.CallKey]bool, len(v.calls))
	for i := range v.calls {
		c := &v.calls[i]
		known[c.Key] = true
		if mc := held[c.Key]; mc != nil && isPending(c) && !isPending(mc) {
			c.Evaluation = mc.Evaluation
			v.tool.Revision++
		}
	}
	arrived(w, known)
	for _, a := range w.appends {
		v.add(a, known, held)
	}
	v.tool.Modified = later(v.tool.Modified, mine.tool.Modified)
	count(&v)
	return v
}

// arrived marks as known the waiting calls before one that the remote store has:
// they arrived before it, only the acknowledgement is missing, and were let go.
func arrived(w waiting, known map[memoryd.CallKey]bool) {
	there := false
	for i := len(w.appends) - 1; i >= 0; i-- {
		calls := w.appends[i].calls
		for j := len(calls) - 1; j >= 0; j-- {
			if !calls[j].certain || !calls[j].local.New {
				continue
			}
			if there = there || known[calls[j].key]; there {
				known[calls[j].key] = true
			}
		}
	}
}

// add does to the view what an append will do. A call that the local copy let go
// is only counted: as many newer ones as let it go there follow here too.
func (v *view) add(a waitingAppend, known map[memoryd.CallKey]bool, held map[memoryd.CallKey]*memoryd.Call) {
	last := v.tool.Lifetime
	if n := len(v.calls); n > 0 {
		last = max(last, v.calls[n-1].Seq)
	}
	for _, c := range a.calls {
		if known[c.key] || !c.local.New {
			continue
		}
		known[c.key] = true
		last++
		v.tool.Lifetime++
		v.tool.Revision++
		if c.local.Repeat {
			v.tool.Duplicates++
		}
		mc := held[c.key]
		if mc == nil {
			continue
		}
		if c.pending && !isPending(mc) {
			v.tool.Revision++
		}
		mc.Seq = last
		v.calls = append(v.calls, *mc)
	}
	if over := len(v.calls) - a.keep; over > 0 {
		v.calls = v.calls[over:]
	}
}

func isPending(c *memoryd.Call) bool { return c.Evaluation.State == memoryd.Pending }

func count(v *view) {
	v.tool.Kept, v.tool.Pending = len(v.calls), 0
	for i := range v.calls {
		if isPending(&v.calls[i]) {
			v.tool.Pending++
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
