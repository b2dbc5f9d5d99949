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
	Judge(c *memoryd.Call, p *rules.Profile) rules.Verdict
	Version() string
}

// Settlement is an evaluation for one stored call. It has the members of
// store.Verdict, so that one converts to the other.
type Settlement struct {
	memoryd.ToolRef
	Key        memoryd.CallKey
	Evaluation memoryd.Evaluation
}

// Ledger is what the desk needs of the store; package store says what each
// method promises. A store.Store becomes a Ledger with one method, which the
// program writes where it wires the two:
//
//	type ledger struct{ store.Store }
//
//	func (l ledger) Settle(ctx context.Context, settled []evaluate.Settlement) ([]bool, error) {
//		verdicts := make([]store.Verdict, len(settled))
//		for i, s := range settled {
//			verdicts[i] = store.Verdict(s)
//		}
//		return l.Store.Settle(ctx, verdicts)
//	}
type Ledger interface {
	// History gives the newest limit calls of a tool, oldest first.
	History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error)
	// Claim takes pending calls that are due and keeps them from others for the
	// length of the lease.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error)
	// Settle writes evaluations to calls that are still pending.
	Settle(ctx context.Context, settled []Settlement) ([]bool, error)

	Cache
}

// Cache keeps verdicts of the model for calls that come again.
type Cache interface {
	CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error)
	CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error
}
