package journal

import (
	"context"
	"log/slog"
	"time"

	"memoryd"
	"memoryd/store"
)

// Open is New for a remote store that may be away: it is opened here, for
// Config.RemoteWait at most, or else by the forwarding, which tries until it
// succeeds. A remote store that answers and cannot be used is an error here; when
// that is found out later, Ping fails and says so, and calls are still accepted
// into the journal. Open closes neither store's files when it fails but the remote
// one's.
func Open(ctx context.Context, local store.Store, open Opener, cfg Config, log *slog.Logger, now func() time.Time) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the spool's settings are wrong")
	}
	l := &late{open: open}
	limited, cancel := context.WithTimeout(ctx, cfg.RemoteWait)
	defer cancel()
	err := l.connect(limited)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() == nil && !isAway(err):
		return nil, err
	}
	s, newErr := New(local, l, cfg, log, now)
	if newErr != nil {
		if closeErr := l.Close(); closeErr != nil {
			log.Warn("the remote store was not closed", "err", closeErr)
		}
		return nil, newErr
	}
	s.late = l
	if err != nil {
		s.markAway(err)
	}
	return s, nil
}

// connect opens a remote store that could not be opened at the start. It tries
// until it succeeds or the context ends, and is loud about one that answers and
// cannot be used: nothing is forwarded until somebody mends that.
func (s *Store) connect(ctx context.Context) {
	if s.late == nil {
		return
	}
	for wait := s.cfg.RetryMin; ctx.Err() == nil; wait = min(2*wait, s.cfg.RetryMax) {
		limited, cancel := context.WithTimeout(ctx, requestTime)
		err := s.late.connect(limited)
		away := limited.Err() != nil || isAway(err)
		cancel()
		switch {
		case err == nil:
			s.fault.Store(nil)
			return
		case ctx.Err() != nil:
			return
		case away:
			s.fault.Store(nil)
			s.markAway(err)
		default:
			wait = s.cfg.RetryMax
			s.unusable(err)
		}
		jittered(ctx, wait)
	}
}

// unusable notes that the remote store answers and cannot be used as it is.
func (s *Store) unusable(err error) {
	s.fault.Store(&memoryd.Error{
		Kind: memoryd.Unavailable, Msg: "the remote store cannot be used: " + reason(err), RetryAfter: s.cfg.RetryMax, Err: err,
	})
	s.log.Error("the remote store cannot be used; what comes is kept in the journal", "err", err, "waiting", s.Status().Backlog)
}
