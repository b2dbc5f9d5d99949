package journal

import (
	"context"
	"slices"

	"memoryd"
	"memoryd/store"
)

// History implements store.Calls.
func (s *backend) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	w := s.q.waitingFor(ref)
	if !w.any {
		calls, ok, err := ask(ctx, s, func(ctx context.Context) ([]memoryd.Call, error) {
			return s.remote.History(ctx, ref, limit)
		})
		if ok || err != nil {
			return calls, err
		}
	}
	v, err := s.view(ctx, ref, w)
	if err != nil {
		return nil, err
	}
	if limit > 0 && len(v.calls) > limit {
		v.calls = v.calls[len(v.calls)-limit:]
	}
	return v.calls, nil
}

// Call implements store.Calls.
func (s *backend) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	w := s.q.waitingFor(ref)
	if !w.any {
		c, ok, err := ask(ctx, s, func(ctx context.Context) (memoryd.Call, error) { return s.remote.Call(ctx, ref, key) })
		if ok || err != nil {
			return c, err
		}
	}
	v, err := s.view(ctx, ref, w)
	if err != nil {
		return memoryd.Call{}, err
	}
	i := slices.IndexFunc(v.calls, func(c memoryd.Call) bool { return c.Key == key })
	if i < 0 {
		return memoryd.Call{}, memoryd.Errorf(memoryd.NotFound, "the history keeps no such call")
	}
	return v.calls[i], nil
}

// ListCalls implements store.Calls.
func (s *backend) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	w := s.q.waitingFor(ref)
	if !w.any {
		calls, ok, err := ask(ctx, s, func(ctx context.Context) ([]memoryd.Call, error) { return s.remote.ListCalls(ctx, ref, p) })
		if ok || err != nil {
			return calls, err
		}
	}
	v, err := s.view(ctx, ref, w)
	if err != nil {
		return nil, err
	}
	return p.Of(v.calls), nil
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

// Samples implements store.Calls.
func (s *backend) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	w := s.q.waitingFor(ref)
	if !w.any {
		samples, ok, err := ask(ctx, s, func(ctx context.Context) ([]memoryd.Sample, error) {
			return s.remote.Samples(ctx, ref)
		})
		if ok || err != nil {
			return samples, err
		}
	}
	v, err := s.view(ctx, ref, w)
	if err != nil {
		return nil, err
	}
	out := make([]memoryd.Sample, len(v.calls))
	for i := range v.calls {
		out[i] = v.calls[i].Sample()
	}
	return out, nil
}

// Tool implements store.Tools.
func (s *backend) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	return s.tool(ctx, ref)
}

func (s *backend) tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	w := s.q.waitingFor(ref)
	if !w.any {
		t, ok, err := ask(ctx, s, func(ctx context.Context) (memoryd.Tool, error) { return s.remote.Tool(ctx, ref) })
		if err == nil && ok {
			s.keepGuide(ctx, t)
		}
		if ok || err != nil {
			return t, err
		}
	}
	v, err := s.view(ctx, ref, w)
	if err == nil && !v.exists {
		err = memoryd.Errorf(memoryd.NotFound, "there is no such tool")
	}
	return v.tool, err
}

// keepGuide keeps the tool's guideline for times when the remote store is away.
func (s *backend) keepGuide(ctx context.Context, t memoryd.Tool) {
	if err := s.guides.saw(ctx, t.ToolRef, t.Guideline); err != nil {
		s.log.Warn("a guideline was not kept locally", "err", err)
	}
}
