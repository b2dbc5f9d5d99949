package journal

import (
	"context"
	"time"
)

// Start starts the forwarding and the periodic repair, once.
func (s *backend) Start(ctx context.Context) {
	loops := []func(context.Context){s.forwardLoop}
	if s.cfg.RepairInterval > 0 {
		loops = append(loops, s.repairLoop)
	}
	if s.worker.Start(ctx, loops...) {
		s.working.Store(true)
	}
}

// Stop ends both and waits for them. Requests to the remote store that are under
// way are cancelled. A store that was stopped first never starts.
func (s *backend) Stop() {
	s.working.Store(false)
	s.worker.Stop()
	s.q.releaseAll()
}

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
func (s *backend) repairLoop(ctx context.Context) {
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
