package qdrant

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The waits between tries grow from firstWait, doubled each time, to maxWait;
// each is drawn from its upper half. A server that names a time is given it.
const (
	firstWait = 25 * time.Millisecond
	maxWait   = 2 * time.Second
)

// ask makes one request, with a deadline, and tries again when the server could
// not serve. This is the only place that does. All requests may be repeated: they
// read, or write the same bytes to the same ids, or compare before they write.
func ask[R any](ctx context.Context, s *Store, what string, request func(context.Context) (R, error)) (R, error) {
	end := time.Now().Add(s.cfg.Patience)
	wait := firstWait
	for try := 0; ; try++ {
		reply, err := once(ctx, s, request)
		if err == nil {
			return reply, nil
		}
		var none R
		if ctx.Err() != nil {
			return none, fmt.Errorf("qdrant: %s: %w", what, context.Cause(ctx))
		}
		again, named := retryable(err)
		if !again || try >= s.cfg.Retries {
			return none, kindOf(what, err, named)
		}
		pause := wait/2 + rand.N(wait/2+1)
		pause = max(pause, named)
		if time.Now().Add(pause).After(end) {
			return none, kindOf(what, err, named)
		}
		wait = min(2*wait, maxWait)
		if err := s.sleep(ctx, pause); err != nil {
			return none, fmt.Errorf("qdrant: %s: %w", what, err)
		}
	}
}

func once[R any](ctx context.Context, s *Store, request func(context.Context) (R, error)) (R, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	return request(ctx)
}

// retryable tells whether the request may succeed later, and after what time if
// the server named one.
func retryable(err error) (again bool, after time.Duration) {
	if limited, ok := errors.AsType[*qd.QdrantResourceExhaustedError](err); ok {
		return true, time.Duration(max(0, limited.RetryAfterS)) * time.Second
	}
	switch codeOf(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		return true, 0
	}
	return false, 0
}

func codeOf(err error) codes.Code {
	if errors.Is(err, context.DeadlineExceeded) {
		return codes.DeadlineExceeded
	}
	if st, ok := status.FromError(err); ok {
		return st.Code()
	}
	var carrier interface{ GRPCStatus() *status.Status }
	if errors.As(err, &carrier) {
		return carrier.GRPCStatus().Code()
	}
	return codes.Unknown
}

// kindOf gives a failed request its kind.
func kindOf(what string, err error, after time.Duration) error {
	err = fmt.Errorf("qdrant: %s: %w", what, err)
	if _, limited := errors.AsType[*qd.QdrantResourceExhaustedError](err); limited {
		return &memoryd.Error{Kind: memoryd.Unavailable, Msg: "the vector database limits its load", RetryAfter: after, Err: err}
	}
	switch codeOf(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.FailedPrecondition:
		return memoryd.Wrap(memoryd.Unavailable, err, "the vector database cannot be reached")
	case codes.ResourceExhausted:
		return memoryd.Wrap(memoryd.Unavailable, err, "the vector database has no room")
	case codes.Unauthenticated, codes.PermissionDenied:
		return memoryd.Wrap(memoryd.Unavailable, err, "the vector database refuses the credentials")
	}
	return memoryd.Wrap(memoryd.Internal, err, "the vector database failed")
}

// sleepFor waits, or ends with the context.
func sleepFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errNotDone is a write that the server noted but had not carried out in time.
func errNotDone(s qd.UpdateStatus) error {
	return status.Errorf(codes.Unavailable, "the write was not carried out: %s", s)
}
