package compact

import (
	"errors"
	"sync"
	"time"
)

var (
	errPaused = errors.New("models are paused after failures in a row")
	errSpent  = errors.New("the conversation has spent its tokens for this hour")
)

// maxSpenders bounds how many conversations the guard remembers.
const maxSpenders = 4096

// guard stops the use of models after failures in a row, and keeps a
// conversation to its cap. It is safe for concurrent use.
type guard struct {
	cfg   ModelSettings
	clock func() time.Time

	mu     sync.Mutex
	failed int
	until  time.Time
	spend  map[string][]expense
}

type expense struct {
	at     time.Time
	tokens int
}

func newGuard(cfg ModelSettings, clock func() time.Time) *guard {
	return &guard{cfg: cfg, clock: clock, spend: map[string][]expense{}}
}

// allow says whether a request of about tokens may be made.
func (g *guard) allow(r Request, tokens int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	if now.Before(g.until) {
		return errPaused
	}
	if g.cfg.HourlyTokens == 0 {
		return nil
	}
	sum := tokens
	for _, e := range g.recent(spender(r), now) {
		sum += e.tokens
	}
	if sum > g.cfg.HourlyTokens {
		return errSpent
	}
	return nil
}

// spent notes what a request cost.
func (g *guard) spent(r Request, tokens int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, k := g.clock(), spender(r)
	if _, ok := g.spend[k]; !ok && len(g.spend) >= maxSpenders {
		for other := range g.spend {
			if len(g.recent(other, now)) == 0 || len(g.spend) >= maxSpenders {
				delete(g.spend, other)
			}
		}
	}
	g.spend[k] = append(g.recent(k, now), expense{now, tokens})
}

func (g *guard) recent(k string, now time.Time) []expense {
	var keep []expense
	for _, e := range g.spend[k] {
		if now.Sub(e.at) < time.Hour {
			keep = append(keep, e)
		}
	}
	return keep
}

func spender(r Request) string { return r.Workspace + "\x00" + r.Conversation }

func (g *guard) success() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = 0
}

func (g *guard) failure() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed++; g.failed >= g.cfg.BreakerFailures {
		g.failed, g.until = 0, g.clock().Add(g.cfg.BreakerPause)
	}
}
