package journal

import (
	"context"

	"memoryd"
	"memoryd/store"
)

// History implements store.Calls.
func (s *Store) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	if err := store.CheckLimit(limit); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
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

// Samples implements store.Calls.
func (s *Store) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
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
func (s *Store) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	if err := s.enter(ctx); err != nil {
		return memoryd.Tool{}, err
	}
	defer s.leave()
	return s.tool(ctx, ref)
}

func (s *Store) tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
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
func (s *Store) keepGuide(ctx context.Context, t memoryd.Tool) {
	if err := s.guides.saw(ctx, t.ToolRef, t.Guideline); err != nil {
		s.log.Warn("a guideline was not kept locally", "err", err)
	}
}
