package summarize

import (
	"errors"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Reasons why a Guard rejects a request.
var (
	ErrPaused = errors.New("models are paused after repeated failures")
	ErrSpent  = errors.New("this hour's tokens are used up")
)

// Limits are the limits that a Guard enforces.
type Limits struct {
	// After Failures failures in a row, all requests stop for Pause; 0 never stops them.
	Failures int
	Pause    time.Duration
	// HourlyTokens limits what one spender may use in an hour, prompts and answers; 0 means
	// no limit.
	HourlyTokens int
}

// maxSpenders bounds how many spenders a Guard remembers.
const maxSpenders = 4096

// Guard stops requests to models after failures in a row, and enforces each spender's limit.
// It is safe for concurrent use.
type Guard struct {
	limits Limits
	clock  func() time.Time

	mu     sync.Mutex
	failed int
	until  time.Time
	spend  *lru.Cache[string, []expense]
}

type expense struct {
	at     time.Time
	tokens int
}

// NewGuard returns a Guard.
func NewGuard(l Limits, clock func() time.Time) *Guard {
	spend, _ := lru.New[string, []expense](maxSpenders) // it fails for no size
	return &Guard{limits: l, clock: clock, spend: spend}
}

// allow says whether a request of about tokens may be made. A nil Guard allows all.
func (g *Guard) allow(spender string, tokens int) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	if now.Before(g.until) {
		return ErrPaused
	}
	if g.limits.HourlyTokens == 0 {
		return nil
	}
	sum := tokens
	for _, e := range g.recent(spender, now) {
		sum += e.tokens
	}
	if sum > g.limits.HourlyTokens {
		return ErrSpent
	}
	return nil
}

// spent notes what a request cost.
func (g *Guard) spent(spender string, tokens int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	g.spend.Add(spender, append(g.recent(spender, now), expense{now, tokens}))
}

func (g *Guard) recent(spender string, now time.Time) []expense {
	all, _ := g.spend.Get(spender)
	return slices.DeleteFunc(slices.Clone(all), func(e expense) bool { return now.Sub(e.at) >= time.Hour })
}

// settled notes how a model did.
func (g *Guard) settled(ok bool) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if ok {
		g.failed = 0
		return
	}
	if g.failed++; g.limits.Failures > 0 && g.failed >= g.limits.Failures {
		g.failed, g.until = 0, g.clock().Add(g.limits.Pause)
	}
}
