package evaluate

import (
	"context"
	"time"

	"memoryd"
	"memoryd/evaluate/rules"
)

// Rules is the judge that needs no model (rules.Judge satisfies it). The
// profile is what the tool's own history shows; it may be nil.
type Rules interface {
	Judge(c *memoryd.Call, p *rules.Profile) rules.Result
	Version() string
}

// Ledger is what the evaluator needs of the store; package store says what each
// method promises. A store.Store is one.
type Ledger interface {
	// History gives the newest limit calls of a tool, oldest first.
	History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error)
	// Claim takes pending calls that are due and keeps them from others for the
	// length of the lease.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error)
	// Settle writes evaluations to calls that are still pending.
	Settle(ctx context.Context, settled []memoryd.Settlement) ([]bool, error)

	Cache
}

// Cache keeps evaluations of the model for calls that come again.
type Cache interface {
	CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error)
	CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error
}
