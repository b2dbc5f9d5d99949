package journal

import (
	"context"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"
)

// ask puts a question to the remote store, for Config.RemoteWait at most. ok is
// false when it is away: then the local copy must do.
func ask[T any](ctx context.Context, s *backend, question func(context.Context) (T, error)) (v T, ok bool, err error) {
	if s.away.Load() {
		return v, false, nil
	}
	limited, cancel := context.WithTimeout(ctx, s.cfg.RemoteWait)
	defer cancel()
	v, err = question(limited)
	switch {
	case err == nil:
		return v, true, nil
	case ctx.Err() != nil:
		return v, false, context.Cause(ctx)
	case limited.Err() != nil || isAway(err):
		s.markAway(err)
		var none T
		return none, false, nil
	}
	return v, true, err
}

// isAway tells the errors of a store that cannot serve now.
func isAway(err error) bool {
	return memoryd.IsKind(err, memoryd.Unavailable) || memoryd.IsKind(err, memoryd.Overloaded)
}

// firmly puts to the remote store what only it can do: after all that was
// accepted before, and not at all while it is away.
func firmly[T any](ctx context.Context, s *backend, do func(context.Context) (T, error)) (v T, err error) {
	if err := s.barrier(ctx); err != nil {
		return v, err
	}
	if s.away.Load() {
		return v, s.unavailable()
	}
	if v, err = do(ctx); isAway(err) {
		s.markAway(err)
	}
	return v, err
}

// firmlyDone is firmly for what has no answer.
func (s *backend) firmlyDone(ctx context.Context, do func(context.Context) error) error {
	_, err := firmly(ctx, s, func(ctx context.Context) (none struct{}, err error) { return none, do(ctx) })
	return err
}

// read puts a question about a tool to the remote store if nothing waits for it,
// else, or when that is away, finds the answer in what is known here.
func read[T any](ctx context.Context, s *backend, ref memoryd.ToolRef, question func(context.Context) (T, error),
	answer func(view) (T, error),
) (none T, err error) {
	w := s.q.waitingFor(ref)
	if !w.any {
		if v, ok, err := ask(ctx, s, question); ok || err != nil {
			return v, err
		}
	}
	v, err := s.view(ctx, ref, w)
	if err != nil {
		return none, err
	}
	return answer(v)
}

// History implements store.Calls.
func (s *backend) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	return read(ctx, s, ref, func(ctx context.Context) ([]memoryd.Call, error) { return s.remote.History(ctx, ref, limit) },
		func(v view) ([]memoryd.Call, error) {
			if limit > 0 && len(v.calls) > limit {
				v.calls = v.calls[len(v.calls)-limit:]
			}
			return v.calls, nil
		})
}

// HistorySize implements store.Calls.
func (s *backend) HistorySize(ctx context.Context, ref memoryd.ToolRef) (store.Size, error) {
	return read(ctx, s, ref, func(ctx context.Context) (store.Size, error) { return s.remote.HistorySize(ctx, ref) },
		func(v view) (size store.Size, err error) {
			for i := range v.calls {
				size.Add(store.Size{Count: 1, Bytes: int64(store.TextBytes(&v.calls[i]))})
			}
			return size, nil
		})
}

// Samples implements store.Calls.
func (s *backend) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	return read(ctx, s, ref, func(ctx context.Context) ([]memoryd.Sample, error) { return s.remote.Samples(ctx, ref) },
		func(v view) ([]memoryd.Sample, error) { return v.samples(), nil })
}

// Described implements store.Calls.
func (s *backend) Described(ctx context.Context, ref memoryd.ToolRef) (store.Description, error) {
	return read(ctx, s, ref, func(ctx context.Context) (store.Description, error) {
		d, err := s.remote.Described(ctx, ref)
		if err == nil {
			s.keepGuideline(ctx, d.Tool)
		}
		return d, err
	}, func(v view) (store.Description, error) {
		if !v.exists {
			return store.Description{}, memoryd.Errorf(memoryd.NotFound, "there is no such tool")
		}
		return store.Description{Tool: v.tool, Samples: v.samples()}, nil
	})
}

func (v view) samples() []memoryd.Sample {
	out := make([]memoryd.Sample, len(v.calls))
	for i := range v.calls {
		out[i] = v.calls[i].Sample()
	}
	return out
}

// Call implements store.Calls.
func (s *backend) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	return read(ctx, s, ref, func(ctx context.Context) (memoryd.Call, error) { return s.remote.Call(ctx, ref, key) },
		func(v view) (memoryd.Call, error) {
			if i := slices.IndexFunc(v.calls, func(c memoryd.Call) bool { return c.Key == key }); i >= 0 {
				return v.calls[i], nil
			}
			return memoryd.Call{}, memoryd.Errorf(memoryd.NotFound, "the history keeps no such call")
		})
}

// ListCalls implements store.Calls.
func (s *backend) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	return read(ctx, s, ref, func(ctx context.Context) ([]memoryd.Call, error) { return s.remote.ListCalls(ctx, ref, p) },
		func(v view) ([]memoryd.Call, error) { return p.Of(v.calls), nil })
}

// RunCalls implements store.Calls. Calls that wait here come before those that the
// remote store has; while that is away those that this process recorded are all.
func (s *backend) RunCalls(ctx context.Context, workspace, run string, limit int) ([]store.RunCall, error) {
	touched, gone := s.q.touched(workspace)
	waits, deleted := map[memoryd.CallKey]bool{}, map[string]bool{}
	for _, tool := range touched {
		w := s.q.waitingFor(memoryd.ToolRef{Workspace: workspace, Tool: tool})
		deleted[tool] = w.gone
		for _, a := range w.appends {
			for i := range a.calls {
				waits[a.calls[i].key] = true
			}
		}
	}
	theirs, ok, err := ask(ctx, s, func(ctx context.Context) ([]store.RunCall, error) {
		return s.remote.RunCalls(ctx, workspace, run, limit)
	})
	if err != nil || ok && len(touched) == 0 && !gone {
		return theirs, err
	}
	mine, err := s.local.RunCalls(ctx, workspace, run, limit)
	if err != nil || !ok || gone {
		return mine, err
	}
	held := map[memoryd.CallKey]store.RunCall{}
	for _, c := range mine {
		held[c.Key] = c
	}
	theirs = slices.DeleteFunc(theirs, func(c store.RunCall) bool { return deleted[c.Tool] && !waits[c.Key] })
	for i := range theirs {
		c := &theirs[i]
		if m, ok := held[c.Key]; ok && c.State == memoryd.Pending {
			c.State, c.Score = m.State, m.Score
		}
		waits[c.Key] = false
	}
	mine = slices.DeleteFunc(mine, func(c store.RunCall) bool { return !waits[c.Key] })
	out := append(mine, theirs...)
	return out[:min(len(out), limit, store.MaxRunCalls)], nil
}

// Tool implements store.Tools.
func (s *backend) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	return read(ctx, s, ref, func(ctx context.Context) (memoryd.Tool, error) {
		t, err := s.remote.Tool(ctx, ref)
		if err == nil {
			s.keepGuideline(ctx, t)
		}
		return t, err
	}, func(v view) (memoryd.Tool, error) {
		if !v.exists {
			return memoryd.Tool{}, memoryd.Errorf(memoryd.NotFound, "there is no such tool")
		}
		return v.tool, nil
	})
}

// keepGuideline keeps the tool's guideline for times when the remote store is away.
func (s *backend) keepGuideline(ctx context.Context, t memoryd.Tool) {
	if err := s.guidelines.saw(ctx, t.ToolRef, t.Guideline); err != nil {
		s.log.WarnContext(ctx, "a guideline was not kept locally", "err", err)
	}
}

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
		return view{}, s.unavailable()
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
	if v.tool.Guideline, err = s.guidelines.load(ctx, ref); err != nil {
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
	for _, a := range arrived(w.appends, known) {
		v.add(a, known, held)
	}
	v.tool.Modified = later(v.tool.Modified, mine.tool.Modified)
	count(&v)
	return v
}

// arrived gives the waiting appends from the newest on of which the remote store has
// a call: those before arrived too, and only their acknowledgement is missing. What it
// let go of that one's calls since is marked as known.
func arrived(appends []waitingAppend, known map[memoryd.CallKey]bool) []waitingAppend {
	for i, a := range slices.Backward(appends) {
		there := false
		for _, call := range slices.Backward(a.calls) {
			if !call.certain || !call.local.New {
				continue
			}
			if there = there || known[call.key]; there {
				known[call.key] = true
			}
		}
		if there {
			return appends[i:]
		}
	}
	return appends
}

// add does to the view what an append will do. A call that the local copy let go
// is only counted: as many newer ones as let it go there follow here too. One that
// the remote store has whole has trimmed the history there, and later appends may
// have let it grow since.
func (v *view) add(a waitingAppend, known map[memoryd.CallKey]bool, held map[memoryd.CallKey]*memoryd.Call) {
	last := v.tool.Lifetime
	if n := len(v.calls); n > 0 {
		last = max(last, v.calls[n-1].Seq)
	}
	added, there := false, false
	for _, c := range a.calls {
		if known[c.key] || !c.local.New {
			there = there || c.local.New
			continue
		}
		added, known[c.key] = true, true
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
	if over := len(v.calls) - a.keep; over > 0 && (added || !there) {
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
