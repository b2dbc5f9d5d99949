package qdrant

import (
	"context"
	"sync"

	qd "github.com/qdrant/go-client/qdrant"
)

// trimSlack is how many calls of a tool a process accepts between two clearings
// of its history.
const trimSlack = 32

// trimDue counts what was accepted since a tool's history was cleared.
type trimDue struct {
	mu    sync.Mutex
	calls map[string]int
	busy  map[string]bool // lives whose history is being cleared
}

// add counts n calls of a life and reports whether to clear now; then the caller
// says when that is done. Until then nobody else is told to: two that clear at
// once do the same work.
func (t *trimDue) add(life string, n int) bool {
	const maxLives = 100_000
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls == nil || len(t.calls) > maxLives {
		t.calls = map[string]int{}
	}
	t.calls[life] += n
	if t.calls[life] < trimSlack || t.busy[life] {
		return false
	}
	delete(t.calls, life)
	if t.busy == nil {
		t.busy = map[string]bool{}
	}
	t.busy[life] = true
	return true
}

func (t *trimDue) done(life string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.busy, life)
}

// trim clears what a history no longer keeps. It is safe beside anybody: it
// takes only what is older than a call that newer ones have pushed out.
func (s *backend) trim(ctx context.Context, life string) error {
	kept, err := s.look(ctx, life, 0)
	if err != nil || len(kept) == 0 {
		return err
	}
	return s.clearBelow(ctx, life, kept[len(kept)-1].int(fieldSeq))
}

// shrink lets all but the newest keep calls go, for good.
func (s *backend) shrink(ctx context.Context, life string, keep int) error {
	kept, err := s.look(ctx, life, keep)
	if err != nil || len(kept) < keep {
		return err
	}
	return s.clearBelow(ctx, life, kept[keep-1].int(fieldSeq))
}

// clearBelow takes the bodies of the calls that are older than a number. Their
// points stay, small, so that the calls are recognised.
func (s *backend) clearBelow(ctx context.Context, life string, seq int64) error {
	const page = 512
	gone := all(is(fieldKept, life), qd.NewRange(fieldSeq, &qd.Range{Lt: qd.PtrOf(float64(seq))}))
	for {
		found, err := s.scroll(ctx, s.calls, gone, nil, page)
		if err != nil || len(found) == 0 {
			return err
		}
		ids := make([]string, len(found))
		for i, p := range found {
			ids[i] = p.id
		}
		if err := s.strip(ctx, s.calls, pointIDs(ids), bodyFields[:]); err != nil {
			return err
		}
		if len(found) < page {
			return nil
		}
	}
}
