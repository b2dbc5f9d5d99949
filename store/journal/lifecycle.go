package journal

import (
	"context"
	"errors"
	"sync"
	"time"
)

// loops are the two goroutines of a started store.
type loops struct {
	once    sync.Once
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Start starts the forwarding and the periodic repair, once.
func (s *Store) Start(ctx context.Context) {
	s.loops.once.Do(func() {
		ctx, s.loops.cancel = context.WithCancel(ctx)
		s.working.Store(true)
		s.loops.running.Go(func() { s.forwardLoop(ctx) })
		if s.cfg.RepairInterval > 0 {
			s.loops.running.Go(func() { s.repairLoop(ctx) })
		}
	})
}

// Stop ends both and waits for them. Requests to the remote store that are under
// way are cancelled. A store that was stopped first never starts.
func (s *Store) Stop() {
	s.loops.once.Do(func() {})
	s.working.Store(false)
	if s.loops.cancel != nil {
		s.loops.cancel()
		s.loops.running.Wait()
	}
	s.q.releaseAll()
}

func (s *Store) closeBoth() error { return errors.Join(s.remote.Close(), s.local.Close()) }

// pause waits, or ends with the context or a wake-up.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// repairLoop repairs now and then.
func (s *Store) repairLoop(ctx context.Context) {
	for {
		pause(ctx, s.cfg.RepairInterval, nil)
		if ctx.Err() != nil {
			return
		}
		if s.away.Load() {
			continue
		}
		report, err := s.Repair(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("the comparison with the remote store broke off", "err", err, "report", report)
			continue
		}
		if report.Damaged > 0 {
			s.log.Warn("the remote store had lost something; it was put back", "report", report)
		}
	}
}
