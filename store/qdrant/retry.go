package qdrant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/store"

	"github.com/cenkalti/backoff/v5"
	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The waits between attempts start at firstWait and double up to maxWait, with jitter in their
// upper half. A wait that the server asks for takes precedence.
const (
	firstWait = 25 * time.Millisecond
	maxWait   = 2 * time.Second
)

// ask makes one request, with a deadline, and tries again when the server could
// not serve. This is the only place that does. All requests may be repeated: they
// read, or write the same bytes to the same ids, or compare before they write.
func ask[R any](ctx context.Context, s *backend, what string, request func(context.Context) (R, error)) (R, error) {
	end := s.lastTry(ctx)
	waits := backoff.ExponentialBackOff{InitialInterval: firstWait, RandomizationFactor: 1. / 3, Multiplier: 2, MaxInterval: maxWait}
	waits.Reset()
	for try := 0; ; try++ {
		reply, err := once(ctx, s, end, request)
		if err == nil {
			return reply, nil
		}
		var none R
		if ctx.Err() != nil {
			return none, fmt.Errorf("qdrant: %s: %w", what, context.Cause(ctx))
		}
		if codeOf(err) == codes.Internal {
			s.copyAwayUntil.Store(time.Now().Add(awayFor).UnixNano())
		}
		again, named := retryable(err)
		pause := max(waits.NextBackOff(), named)
		if !again || try >= s.cfg.Retries || time.Now().Add(pause).After(end) {
			return none, kindOf(what, err, named)
		}
		if !s.sleep(ctx, pause) {
			return none, fmt.Errorf("qdrant: %s: %w", what, context.Cause(ctx))
		}
	}
}

// lastTry is when patience ends: counted from when the caller began, if it says so, for
// an append is many requests and takes no longer than one may.
func (s *backend) lastTry(ctx context.Context) time.Time {
	if begun, ok := store.Begun(ctx); ok {
		return begun.Add(s.cfg.Patience)
	}
	return time.Now().Add(s.cfg.Patience)
}

// once makes a try, which ends with its time-out and with all patience.
func once[R any](ctx context.Context, s *backend, end time.Time, request func(context.Context) (R, error)) (R, error) {
	limit := time.Now().Add(s.cfg.Timeout)
	if end.Before(limit) {
		limit = end
	}
	ctx, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	return request(ctx)
}

// retryable tells whether the request may succeed later, and after what time if
// the server named one.
func retryable(err error) (again bool, after time.Duration) {
	if limited, ok := errors.AsType[*qd.QdrantResourceExhaustedError](err); ok {
		return true, time.Duration(max(0, limited.RetryAfterS)) * time.Second
	}
	return slices.Contains(unreachable, codeOf(err)) && !distrusted(err), 0
}

// distrusted tells a server whose certificate does not fit, or that speaks no TLS where
// it should: asking again does not help. grpc-go gives that no code of its own.
func distrusted(err error) bool {
	text := err.Error()
	return strings.Contains(text, "authentication handshake failed") &&
		(strings.Contains(text, "certificate") || strings.Contains(text, "tls: ") || strings.Contains(text, "x509: "))
}

// unreachable are the codes of a server that cannot serve now. Internal is among
// them: a cluster of which a node is away gives it for reads that want a majority
// and for writes that the nodes could not agree on, with texts that change from
// version to version. Unknown is an answer that is none of gRPC's: a server that
// ends a request at its own time-out sends it, or a proxy.
var unreachable = []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.Internal, codes.Unknown}

// awayFor is how long reads ask a quorum of the copies, and not every living one
// for a majority, after a request failed as it does when a copy is away: while a
// server believes the dead one alive it asks that in vain for a majority, and from
// when a write to it has failed it refuses at once.
const awayFor = 10 * time.Second

// asksQuorum tells that a copy was away a moment ago.
func (s *backend) asksQuorum() bool { return time.Now().UnixNano() < s.copyAwayUntil.Load() }

func codeOf(err error) codes.Code {
	if errors.Is(err, context.DeadlineExceeded) {
		return codes.DeadlineExceeded
	}
	return status.Code(err)
}

// kindOf gives a failed request its kind.
func kindOf(what string, err error, after time.Duration) error {
	err = fmt.Errorf("qdrant: %s: %w", what, err)
	if _, limited := errors.AsType[*qd.QdrantResourceExhaustedError](err); limited {
		return &memoryd.Error{Kind: memoryd.Unavailable, Msg: "Qdrant limits its load", RetryAfter: after, Err: err}
	}
	switch code := codeOf(err); {
	case distrusted(err):
		return memoryd.Wrap(memoryd.Unavailable, fmt.Errorf("%w: %w", errUnfit, err), "Qdrant's certificate is not trusted, or it speaks no TLS")
	case slices.Contains(unreachable, code), code == codes.FailedPrecondition:
		return memoryd.Wrap(memoryd.Unavailable, err, "Qdrant cannot be reached")
	case code == codes.NotFound:
		e := memoryd.Wrap(memoryd.Unavailable, err, "Qdrant has lost its collections")
		e.RetryAfter = 5 * time.Second
		return e
	case code == codes.ResourceExhausted:
		return memoryd.Wrap(memoryd.Unavailable, err, "Qdrant is out of space")
	case code == codes.Unauthenticated, code == codes.PermissionDenied:
		return memoryd.Wrap(memoryd.Unavailable, fmt.Errorf("%w: %w", errUnfit, err), "Qdrant refuses the credentials")
	}
	return memoryd.Wrap(memoryd.Internal, err, "Qdrant failed")
}

// errNotDone is a write that the server noted but had not carried out in time.
func errNotDone(s qd.UpdateStatus) error {
	return status.Errorf(codes.Unavailable, "the write was not carried out: %s", s)
}
