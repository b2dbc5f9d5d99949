package qdrant

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"memoryd/internal/lifecycle"
)

// rounds bring small requests together: a request costs a server more than a point in
// it. One round is under way at a time; what is asked meanwhile goes together after that,
// so what it finds is no older than any of the questions. It ends when all who asked have left.
type rounds[Q, A any] struct {
	do func(ctx context.Context, questions []Q) (A, error)

	mu   sync.Mutex
	busy bool
	next *round[Q, A] // what waits
}

type round[Q, A any] struct {
	questions []Q
	waiting   int                // who asked and has not left
	end       context.CancelFunc // nil: it has not begun
	done      chan struct{}      // closed when the rest is known
	answer    A
	err       error
}

// inRounds asks, with others if a round is under way.
func inRounds[Q, A any](ctx context.Context, s *backend, r *rounds[Q, A], questions ...Q) (none A, err error) {
	r.mu.Lock()
	if !r.busy {
		r.busy = true
		r.mu.Unlock()
		defer nextRound(s, r)
		return r.do(ctx, questions)
	}
	if r.next == nil {
		r.next = &round[Q, A]{done: make(chan struct{})}
	}
	mine := r.next
	mine.questions = append(mine.questions, questions...)
	mine.waiting++
	r.mu.Unlock()
	waiting, cancel := context.WithDeadline(ctx, s.lastTry(ctx))
	defer cancel()
	select {
	case <-mine.done:
		return mine.answer, mine.err
	case <-waiting.Done():
		r.mu.Lock()
		defer r.mu.Unlock()
		if mine.waiting--; mine.waiting == 0 && mine.end != nil {
			mine.end()
		}
		if ctx.Err() == nil {
			return none, kindOf("request", context.DeadlineExceeded, 0)
		}
		return none, fmt.Errorf("qdrant: request: %w", context.Cause(ctx))
	}
}

// nextRound lets those who wait go.
func nextRound[Q, A any](s *backend, r *rounds[Q, A]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.next
	r.next = nil
	if r.busy = next != nil; !r.busy {
		return
	}
	run := func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r.mu.Lock()
		if next.end = cancel; next.waiting == 0 {
			cancel()
		}
		r.mu.Unlock()
		defer nextRound(s, r)
		defer close(next.done)
		next.err = lifecycle.Do(ctx, s.log, "qdrant", func() (err error) {
			next.answer, err = r.do(ctx, next.questions)
			return err
		})
		return next.err
	}
	if !s.worker.Go(run) {
		r.busy = false
		next.err = kindOf("request", context.Canceled, 0)
		close(next.done)
	}
}

// gathering reads points by id.
type gathering = rounds[string, map[string]payload]

// gatherOf gives the rounds that read some fields of a collection's points.
func (s *backend) gatherOf(collection string, fields ...string) func(context.Context, []string) (map[string]payload, error) {
	with := whole()
	if len(fields) > 0 {
		with = include(fields...)
	}
	return func(ctx context.Context, ids []string) (map[string]payload, error) {
		return s.getMap(ctx, collection, distinctIDs(slices.Clone(ids)), with)
	}
}

// gather reads points by id, few with others' if a read is under way.
func (s *backend) gather(ctx context.Context, g *gathering, ids []string) (map[string]payload, error) {
	const maxGathered = 8 // for how many a caller may ask to share a request
	switch {
	case len(ids) == 0:
		return nil, nil
	case len(ids) > maxGathered:
		return g.do(ctx, ids)
	}
	return inRounds(ctx, s, g, ids...)
}
