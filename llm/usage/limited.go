package usage

import (
	"context"
	"fmt"
	"time"

	"memoryd"
)

// ReasonBudget is the reason of the memoryd.ModelError that refuses a request
// because a budget is spent.
const ReasonBudget = "budget"

// Limited is a Model that keeps to the ledger's budgets. It does not count: that
// is done by who sees each attempt (see Ledger.Attempt).
type Limited struct {
	book  *Ledger
	model memoryd.Model
}

// Limited puts m under the ledger's budgets, which it shares with all others.
func (b *Ledger) Limited(m memoryd.Model) *Limited { return &Limited{b, m} }

// Name is the model's.
func (l *Limited) Name() string { return l.model.Name() }

// Complete hands the prompt on, or refuses with a temporary *memoryd.ModelError
// of the reason "budget" whose RetryAfter ends with the budget's window.
func (l *Limited) Complete(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	if !l.book.cfg.limited() {
		return l.model.Complete(ctx, p)
	}
	guess := amount{1, int64(len(p.System)+len(p.User)+len(p.Schema)) / 4}
	if err := l.book.hold(guess); err != nil {
		return memoryd.Completion{}, err
	}
	defer l.book.release(guess)
	return l.model.Complete(ctx, p)
}

// hold takes a into the count of requests under way unless that, with what was
// spent, uses a budget up. Of several that are spent it names the one that lasts
// longest.
func (b *Ledger) hold(a amount) error {
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	g := &b.budget
	g.turn(now)
	var spent *Budget
	for _, s := range g.list(b.cfg) {
		held := g.held.requests
		if s.Unit == "tokens" {
			held = g.held.tokens
		}
		if s.Used+held >= s.Limit && (spent == nil || s.Resets.After(spent.Resets)) {
			spent = &s
		}
	}
	if spent == nil {
		g.held = g.held.plus(a)
		return nil
	}
	if !g.said.Equal(spent.Resets) {
		g.said = spent.Resets
		b.log.Warn("the budget for model requests is spent", "window", spent.Window, "unit", spent.Unit, "limit", spent.Limit, "until", spent.Resets)
	}
	return &memoryd.ModelError{
		Reason: ReasonBudget, Temporary: true, RetryAfter: max(spent.Resets.Sub(now), time.Second),
		Err: fmt.Errorf("%d %s in this %s", spent.Limit, spent.Unit, spent.Window),
	}
}

func (b *Ledger) release(a amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.budget.held = b.budget.held.plus(amount{-a.requests, -a.tokens})
}
