package usage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"memoryd"
)

// Budget is a limit and how much of it is used.
type Budget struct {
	Window string `json:"window" enum:"hour,day"`      // "hour" or "day"
	Unit   string `json:"unit" enum:"requests,tokens"` // "requests" or "tokens"
	Limit  int64  `json:"limit"`
	// Used is what all replicas used in this window, as far as this one knows.
	Used   int64     `json:"used"`
	Resets time.Time `json:"resets"` // the end of the window
}

// budget is what was spent today. The ledger's lock guards it.
type budget struct {
	// spent holds what each replica spent in each hour, by the id of its record.
	spent map[string]amount
	// held is what requests under way are expected to take.
	held amount
	// said is the end of the window whose exhaustion was logged last.
	said time.Time
}

// list gives the budgets that have a limit. What was spent before today goes.
func (g *budget) list(cfg Config, now time.Time) []Budget {
	var inHour, inDay amount
	hour, day := hourOf(now), dayOf(now)
	thisHour, today := hour.Format(hourForm), day.Format(hourForm)
	for id, a := range g.spent {
		if id < today {
			delete(g.spent, id)
			continue
		}
		inDay = inDay.plus(a)
		if strings.HasPrefix(id, thisHour) {
			inHour = inHour.plus(a)
		}
	}
	var some []Budget
	for _, b := range []Budget{
		{"hour", "requests", cfg.RequestsPerHour, inHour.requests, hour.Add(time.Hour)},
		{"hour", "tokens", cfg.TokensPerHour, inHour.tokens, hour.Add(time.Hour)},
		{"day", "requests", cfg.RequestsPerDay, inDay.requests, day.Add(24 * time.Hour)},
		{"day", "tokens", cfg.TokensPerDay, inDay.tokens, day.Add(24 * time.Hour)},
	} {
		if b.Limit > 0 {
			some = append(some, b)
		}
	}
	return some
}

// Budgets returns the configured limits and what is used of them.
func (l *Ledger) Budgets() []Budget {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.budget.list(l.cfg, now)
}

// readOthers reads what other replicas spent: of the whole day the first time, then of this
// hour and the one before.
func (l *Ledger) readOthers(ctx context.Context) error {
	now := l.now()
	from := hourOf(now).Add(-time.Hour)
	if !l.known || from.Before(dayOf(now)) {
		from = dayOf(now)
	}
	err := l.read(ctx, "", from, now.Add(time.Hour), func(id string, _ time.Time, own bool, list []Row) {
		if !own {
			l.mu.Lock()
			l.budget.spent[id] = amountOf(list)
			l.mu.Unlock()
		}
	})
	l.known = l.known || err == nil
	return err
}

// reasonBudget is the reason of a memoryd.ModelError after a budget is used up.
const reasonBudget = "budget"

// Limited is a Model that obeys the ledger's budgets. It does not count requests itself; see
// Ledger.Attempt.
type Limited struct {
	ledger *Ledger
	model  memoryd.Model
}

// Limited returns a Model that obeys the ledger's budgets.
func (l *Ledger) Limited(m memoryd.Model) *Limited { return &Limited{l, m} }

// Name returns the name of the model.
func (l *Limited) Name() string { return l.model.Name() }

// Complete forwards the prompt. If a budget is used up, it returns a temporary *memoryd.ModelError
// with the reason "budget", whose RetryAfter ends with the window of the budget.
func (l *Limited) Complete(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	guess := amount{1, int64(len(p.System)+len(p.User)+len(p.Schema)) / 4}
	if err := l.ledger.hold(guess); err != nil {
		return memoryd.Completion{}, err
	}
	defer l.ledger.release(guess)
	return l.model.Complete(ctx, p)
}

// hold takes a into the count of requests under way unless that, with what was
// spent, uses a budget up. Of several that are spent it names the one that lasts
// longest.
func (l *Ledger) hold(a amount) error {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	g := &l.budget
	var spent *Budget
	for _, s := range g.list(l.cfg, now) {
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
		l.log.Warn("the budget for model requests is used up", "window", spent.Window, "unit", spent.Unit, "limit", spent.Limit,
			"until", spent.Resets)
	}
	return &memoryd.ModelError{
		Reason: reasonBudget, Temporary: true, RetryAfter: max(spent.Resets.Sub(now), time.Second),
		Err: fmt.Errorf("%d %s in this %s", spent.Limit, spent.Unit, spent.Window),
	}
}

func (l *Ledger) release(a amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budget.held = l.budget.held.plus(amount{-a.requests, -a.tokens})
}
