package evaluate

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"memoryd"
)

// The reasons of memoryd.ModelError that the evaluator acts on, and one of its own.
const (
	reasonBadReply    = "bad_reply"
	reasonTooLong     = "too_long"
	reasonFiltered    = "filtered"
	reasonRefused     = "refused"
	reasonTimeout     = "timeout"
	reasonRateLimited = "rate_limited"
	reasonNetwork     = "network"
	reasonInternal    = "internal"
	reasonBudget      = "budget"
)

// concern says what a failure is about: what must change before it goes away.
type concern int

const (
	aboutMoment   concern = iota // waiting helps
	aboutEndpoint                // somebody must mend the configuration or pay
	aboutRequest                 // this call, or the model's answer to it
)

// reasons say to people what went wrong, and what that is about. The inner error stays in the
// log: it may hold an address or text of a server's.
var reasons = map[string]struct {
	sentence string
	about    concern
}{
	reasonBadReply:    {"the model's answer is unusable", aboutRequest},
	reasonTooLong:     {"the call is too long for the model", aboutRequest},
	reasonFiltered:    {"a content filter withheld the answer", aboutRequest},
	reasonRefused:     {"the model refused to judge this call", aboutRequest},
	reasonInternal:    {"the model failed", aboutRequest},
	"rejected":        {"the model's server rejected the request", aboutEndpoint},
	"credentials":     {"the model's server rejected the key", aboutEndpoint},
	"quota":           {"the model's quota or budget is used up", aboutEndpoint},
	"endpoint":        {"the model's server redirects", aboutEndpoint},
	"unknown_model":   {"the model's server does not know the model", aboutEndpoint},
	"server":          {"the model's server failed", aboutMoment},
	reasonTimeout:     {"the model timed out", aboutMoment},
	reasonRateLimited: {"the model's server limits the request rate", aboutMoment},
	reasonNetwork:     {"cannot reach the model", aboutMoment},
	reasonBudget:      {"the budget for model requests is used up", aboutMoment},
}

func sentence(reason string) string { return cmp.Or(reasons[reason].sentence, "the model failed") }

func concerning(err error) concern { return reasons[reasonOf(err)].about }

// reasonOf is the failure's stable word. A model that fails without one is taken
// to be out of reach for the moment.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*memoryd.ModelError](err); ok {
		return e.Reason
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return reasonTimeout
	case memoryd.IsKind(err, memoryd.Overloaded):
		return reasonRateLimited
	}
	return reasonNetwork
}

// failed is the evaluation of a call after a try that failed: pending with a
// time for the next try, given up with the reason, or the rules' evaluation, as
// configured. A server that rejects requests, or sends them elsewhere, is a mistake
// of the configuration more often than of the call: those wait until it is mended.
func (d *Evaluator) failed(j *job, err error) memoryd.Evaluation {
	now, reason := d.now(), reasonOf(err)
	d.counters.count(func(s *Stats) { s.Failures[reason]++ })
	d.health.degraded(d.log, reason, err)
	e := j.before
	e.State = memoryd.Pending
	e.LastError = reason + ": " + sentence(reason)
	if reason == reasonBudget {
		e.NotBefore = now.Add(d.untilBudget(err))
		return e
	}
	e.Attempts++
	if u, ok := errors.AsType[*unusable](err); ok {
		e.LastError += " (" + u.Error() + ")"
	}
	e.NotBefore = now.Add(d.retryIn(e.Attempts, err))
	switch {
	case concerning(err) == aboutEndpoint && d.cfg.OnModelFailure == takeRules:
		return d.degraded(j, e.LastError)
	case !d.final(j, e, reason):
		return e
	case d.cfg.OnUnjudgeable == takeRules:
		return d.degraded(j, e.LastError)
	}
	d.counters.count(func(s *Stats) { s.GivenUp++ })
	e.State, e.NotBefore = memoryd.Failed, time.Time{}
	e.JudgeVersion, e.JudgedAt = d.version, now
	e.Evaluation = "Not judged: " + sentence(reason) + "."
	return e
}

// final reports whether no further try makes sense. Answers that cannot be used
// are chance to a degree, so only the second in a row ends it, and not before
// the configured number of tries.
func (d *Evaluator) final(j *job, e memoryd.Evaluation, reason string) bool {
	switch reason {
	case reasonFiltered, reasonRefused, reasonTooLong:
		return true
	case reasonBadReply, reasonInternal:
		twice := strings.HasPrefix(j.before.LastError, reason+":")
		return e.Attempts >= d.cfg.MaxAttempts && (twice || d.cfg.MaxAttempts == 1)
	}
	return false
}

// degraded is the rules' evaluation in the model's place.
func (d *Evaluator) degraded(j *job, why string) memoryd.Evaluation {
	d.counters.count(func(s *Stats) { s.RuleVerdicts[j.ruled.Rule]++ })
	e := j.ruled
	e.JudgedAt, e.Attempts, e.LastError = d.now(), j.before.Attempts+1, why
	return e
}

// retryIn is the wait before the next try: what the server named, and at least a
// wait that doubles with each failure up to RetryMax, less up to half at random
// so that many calls do not come back at once.
func (d *Evaluator) retryIn(attempts int, err error) time.Duration {
	wait := d.cfg.RetryMax
	if concerning(err) != aboutEndpoint {
		wait = time.Duration(min(float64(wait), float64(d.cfg.RetryMin)*math.Exp2(float64(attempts-1))))
	}
	wait -= rand.N(wait/2 + 1)
	if named := retryAfter(err); named > wait {
		wait = named + rand.N(wait/2+1)
	}
	return wait
}

// retryAfter is the wait that the model's server named.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*memoryd.ModelError](err); ok {
		return min(e.RetryAfter, 24*time.Hour)
	}
	return 0
}

// untilBudget is the wait for the end of the budget's window, and up to a minute
// more at random. It is no failed try: nobody was asked.
func (d *Evaluator) untilBudget(err error) time.Duration {
	wait := max(d.cfg.RetryMin, retryAfter(err))
	return wait + rand.N(min(time.Minute, wait)+1)
}

// mood remembers whether the model works, so that a change is said once and not
// with every call.
type health struct {
	mu     sync.Mutex
	reason string
}

func (m *health) degraded(log *slog.Logger, reason string, err error) {
	m.mu.Lock()
	news := m.reason != reason && concerning(err) != aboutRequest
	if news {
		m.reason = reason
	}
	m.mu.Unlock()
	if news {
		log.Warn("the model is unavailable; calls stay pending or are judged by rules, as configured", "reason", reason, "err", err)
		return
	}
	log.Debug("an attempt to judge a call failed", "reason", reason, "err", err)
}

func (m *health) well(log *slog.Logger) {
	m.mu.Lock()
	was := m.reason
	m.reason = ""
	m.mu.Unlock()
	if was != "" {
		log.Info("the model is available again", "after", was)
	}
}
