package llm

import (
	"time"

	"memoryd"
)

// class is what a failed attempt means for the machinery.
type class int

const (
	final     class = iota // this request cannot succeed; the model is fine
	transient              // the server or the network failed: retry, counts for the breaker
	badReply               // the model answered nonsense: retry, the breaker does not care
	refused                // too many requests: back to the queue, all slow down
	stopModel              // the server does not have the model
	stopAll                // the endpoint is of no use: key, quota, address
	adapt                  // the server wants another form of request: again at once
	cut                    // the answer met its token cap: again with a larger one
	cancelled              // the caller left
)

// fault is an attempt that failed.
type fault struct {
	class     class
	reason    string // of memoryd.ModelError
	health    string // stopAll: the reason that Health shows
	temporary bool
	tries     int           // retries that make sense for this fault; 0: as configured
	after     time.Duration // the wait that the server named; 0: none
	timedOut  bool          // no reply in time: the server may be overloaded
	err       error
}

// modelError is the fault as callers see it.
func (f *fault) modelError(after time.Duration) *memoryd.ModelError {
	return &memoryd.ModelError{Reason: f.reason, Temporary: f.temporary, RetryAfter: max(after, f.after), Err: f.err}
}

// outcome is the fault's word in Stats and Attempt.
func (f *fault) outcome() string {
	switch {
	case f == nil:
		return "ok"
	case f.class == cancelled:
		return "cancelled"
	case f.class == adapt:
		return "adapted"
	}
	return f.reason
}
