package usage

import (
	"context"
	"fmt"
	"maps"
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

// budget is what was spent in the windows that now lies in. The ledger's lock
// guards it.
type budget struct {
	hour, day       time.Time // the windows' beginnings
	ownHour, ownDay amount
	// others holds what each of the other replicas spent in each hour of the day,
	// by the id of its record; the sums follow from it.
	others              map[string]amount
	otherHour, otherDay amount
	// held is what requests under way are expected to take.
	held amount
	// said is the end of the window whose exhaustion was logged last.
	said time.Time
}

// turn begins new windows when their time has come.
func (g *budget) turn(now time.Time) {
	if h := hourOf(now); !h.Equal(g.hour) {
		g.hour, g.ownHour, g.otherHour = h, amount{}, amount{}
	}
	if d := dayOf(now); !d.Equal(g.day) {
		g.day, g.ownDay, g.otherDay = d, amount{}, amount{}
		clear(g.others)
	}
}

func (g *budget) spend(a amount) {
	g.ownHour, g.ownDay = g.ownHour.plus(a), g.ownDay.plus(a)
}

// heard takes in what others spent, by record id.
func (g *budget) heard(news map[string]amount) {
	maps.Copy(g.others, news)
	g.otherHour, g.otherDay = amount{}, amount{}
	day, hour := g.day.Format("2006-01-02"), g.hour.Format(hourForm)
	for id, a := range g.others {
		if len(id) < len(hour) || id[:len(day)] != day {
			delete(g.others, id)
			continue
		}
		g.otherDay = g.otherDay.plus(a)
		if id[:len(hour)] == hour {
			g.otherHour = g.otherHour.plus(a)
		}
	}
}

// list gives the budgets that have a limit.
func (g *budget) list(cfg Config) []Budget {
	hour, day := g.ownHour.plus(g.otherHour), g.ownDay.plus(g.otherDay)
	hourEnds, dayEnds := g.hour.Add(time.Hour), g.day.Add(24*time.Hour)
	var some []Budget
	for _, b := range []Budget{
		{"hour", "requests", cfg.RequestsPerHour, hour.requests, hourEnds},
		{"hour", "tokens", cfg.TokensPerHour, hour.tokens, hourEnds},
		{"day", "requests", cfg.RequestsPerDay, day.requests, dayEnds},
		{"day", "tokens", cfg.TokensPerDay, day.tokens, dayEnds},
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
	l.budget.turn(now)
	return l.budget.list(l.cfg)
}

// readOthers reads what other replicas spent: of the whole day, or, once that is
// known, of this hour and the one before.
func (l *Ledger) readOthers(ctx context.Context) error {
	now := l.now()
	from := hourOf(now).Add(-time.Hour)
	l.mu.Lock()
	l.budget.turn(now)
	if len(l.budget.others) == 0 || from.Before(l.budget.day) {
		from = l.budget.day
	}
	l.mu.Unlock()
	news := map[string]amount{}
	err := l.read(ctx, "", from, now.Add(time.Hour), func(id string, _ time.Time, own bool, list []Row) {
		if !own {
			news[id] = amountOf(list)
		}
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budget.heard(news)
	return nil
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
	if !l.ledger.cfg.limited() {
		return l.model.Complete(ctx, p)
	}
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
	g.turn(now)
	var spent *Budget
	for _, s := range g.list(l.cfg) {
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
