package journal

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/store"
)

// Opener opens the remote store. An error that is Unavailable or Overloaded, or
// the end of the context, says that it may succeed later; any other that the
// remote store can never be used as it is.
type Opener func(ctx context.Context) (store.Store, error)

// lazyRemote is a remote store that could not be opened yet. Until it is, every
// method fails as unavailable and nothing was done.
type lazyRemote struct {
	store.Store
	open   Opener
	opened atomic.Pointer[store.Store]
}

func newLazyRemote(open Opener) *lazyRemote {
	l := &lazyRemote{open: open}
	l.Store = store.Intercept(func(ctx context.Context, method string, call func(context.Context, store.Store) error) error {
		if remote := l.opened.Load(); remote != nil {
			return call(ctx, *remote)
		}
		if method == "Close" {
			return nil
		}
		return memoryd.Errorf(memoryd.Unavailable, "the remote store has not been reached yet")
	})
	return l
}

// connect opens the remote store unless that has been done. One goroutine at a
// time calls it.
func (l *lazyRemote) connect(ctx context.Context) error {
	if l.opened.Load() != nil {
		return nil
	}
	remote, err := l.open(ctx)
	if err == nil {
		l.opened.Store(&remote)
	}
	return err
}

// Open is New for a remote store that may be away: it is opened here, for
// Config.RemoteWait at most, or else by the forwarding, which tries until it
// succeeds. A remote store that answers and cannot be used is an error here; when
// that is found out later, Ping fails and says so, and calls are still accepted
// into the journal. Open closes neither store's files when it fails but the remote
// one's.
func Open(ctx context.Context, local store.Store, open Opener, cfg Config, log *slog.Logger, now func() time.Time) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the journal's settings are wrong")
	}
	l := newLazyRemote(open)
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
			log.WarnContext(ctx, "the remote store was not closed", "err", closeErr)
		}
		return nil, newErr
	}
	s.lazy = l
	if err != nil {
		s.markAway(err)
	}
	return s, nil
}

// connect opens a remote store that could not be opened at the start. It tries
// until it succeeds or the context ends, and is loud about one that answers and
// cannot be used: nothing is forwarded until somebody mends that.
func (s *backend) connect(ctx context.Context) {
	if s.lazy == nil {
		return
	}
	for wait := s.cfg.RetryMin; ctx.Err() == nil; wait = min(2*wait, s.cfg.RetryMax) {
		limited, cancel := context.WithTimeout(ctx, requestTime)
		err := s.lazy.connect(limited)
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
func (s *backend) unusable(err error) {
	s.fault.Store(&memoryd.Error{
		Kind: memoryd.Unavailable, Msg: "the remote store cannot be used: " + reason(err), RetryAfter: s.cfg.RetryMax, Err: err,
	})
	s.log.Error("the remote store cannot be used; what comes is kept in the journal", "err", err, "waiting", s.Status().Backlog)
}
