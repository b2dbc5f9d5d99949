package llm

import (
	"time"
)

// breaker stops requests to a model, or to the whole server, for a reason that waiting a moment
// will not cure. After until, one request at a time may probe; the first
// success of a request that began after that closes it.
type breaker struct {
	reason string // "" when there is none
	fault  *fault
	until  time.Time
}

func (b *breaker) tripped() bool             { return b.reason != "" }
func (b *breaker) blocks(now time.Time) bool { return b.tripped() && now.Before(b.until) }

// open opens the breaker or keeps it open, and reports whether it is news.
func (b *breaker) open(reason string, f *fault, now time.Time, d time.Duration) bool {
	news := b.reason != reason
	b.reason, b.fault, b.until = reason, f, now.Add(d)
	return news
}

// lift closes the breaker if a request that began at started proves the server well, and
// reports whether it did.
func (b *breaker) lift(started time.Time) bool {
	if !b.tripped() || started.Before(b.until) {
		return false
	}
	*b = breaker{}
	return true
}

// The reasons for being degraded.
const (
	reasonCredentials  = "credentials"   // the key was rejected
	reasonQuota        = "quota"         // the account has no credit left
	reasonUnknownModel = "unknown_model" // the server does not have the model
	reasonBreakerOpen  = "breaker_open"  // too many failures in a row
	reasonEndpoint     = "endpoint"      // the address is wrong: it redirects, or its certificate is invalid
	reasonRateLimited  = "rate_limited"  // the server asked for a pause of more than a minute
)

// longPause is the pause from which on a refusing server counts as degraded.
const longPause = time.Minute

// Stats are the counters of a client.
type Stats struct {
	Available   bool   `metric:"model_available" help:"1 if the model is available, 0 while its circuit breaker is open or its server refuses."`
	Reason      string `metric:"model_halted" label:"reason" help:"1 for the reason why the model is unavailable: breaker_open, credentials, quota, unknown_model, endpoint or rate_limited."`
	Queued      int    `metric:"model_queue_depth" help:"Requests waiting for the model."`
	InFlight    int    `metric:"model_in_flight" help:"Running requests to the model."`
	Concurrency int    `metric:"model_concurrency_limit" help:"Current limit of concurrent requests; it adapts to the model's server."`
	Retries     int64  `metric:"model_retries_total" help:"Retries of requests to the model."`
}
