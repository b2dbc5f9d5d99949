package journal

import (
	"context"

	"memoryd"
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
		return v, s.unavailable(nil)
	}
	if v, err = do(ctx); isAway(err) {
		s.markAway(err)
	}
	return v, err
}
