package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
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
	stopAll                // the server is of no use: key, quota, address
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
	next      dialect       // adapt: the form of request that may cure it
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

// classify says what an error of the server means. dialect is the form of
// request that met it. The order matters: gateways wrap one error in another's
// status, so a telling code beats the status.
func classify(e *apiError, d dialect) *fault {
	f := &fault{err: e}
	switch {
	case outOfQuota(e):
		return f.as(stopAll, "quota").showing(reasonQuota)
	case e.status == http.StatusTooManyRequests:
		return f.as(refused, "rate_limited").temp()
	case e.status == http.StatusRequestEntityTooLarge || tooLong(e):
		return f.as(final, "too_long")
	case e.mentions("content_filter", "content_policy", "content management policy", "responsibleaipolicy"):
		return f.as(final, "filtered")
	case unknownModel(e):
		return f.as(stopModel, "unknown_model")
	case badKey(e):
		return f.as(stopAll, "credentials").showing(reasonCredentials)
	case e.status == http.StatusRequestTimeout:
		f.timedOut = true
		return f.as(transient, "timeout").temp()
	case e.status == http.StatusConflict || e.status == http.StatusTooEarly || e.status >= 500:
		// Some servers fail with a 500 or 501 over a form of answer that they do not know.
		if e.status <= http.StatusNotImplemented && f.adapts(d, e) {
			return f
		}
		return f.as(transient, "server").temp()
	}
	if f.adapts(d, e) {
		return f
	}
	return f.as(final, "rejected")
}

// adapts reports whether another form of request than d may cure e.
func (f *fault) adapts(d dialect, e *apiError) (ok bool) {
	if f.next, ok = d.without(e); ok {
		f.as(adapt, "rejected")
	}
	return ok
}

func (f *fault) as(c class, reason string) *fault { f.class, f.reason = c, reason; return f }
func (f *fault) showing(health string) *fault     { f.health = health; return f }
func (f *fault) temp() *fault                     { f.temporary = true; return f }
func (f *fault) retried(tries int) *fault         { f.tries = tries; return f }
func newFault(c class, reason string, e error) *fault {
	return &fault{class: c, reason: reason, err: e}
}

func tooLong(e *apiError) bool {
	return e.status < 500 && e.mentions("context_length_exceeded", "maximum context length", "context window",
		"context size", "prompt is too long", "input is too long", "too many tokens", "exceeds the model's context")
}

// The three below stop a model or the whole server. A server may echo the prompt,
// which holds hostile text, in its message; so they go by status and code, and
// by the message only where it begins as such messages do.

func outOfQuota(e *apiError) bool {
	return e.status == http.StatusPaymentRequired || e.coded("insufficient_quota", "billing_hard_limit", "insufficient_credits") ||
		e.begins("you exceeded your current quota", "insufficient credits", "insufficient balance", "your credit balance is too low")
}

func badKey(e *apiError) bool {
	return e.status == http.StatusUnauthorized || e.status == http.StatusForbidden ||
		e.coded("invalid_api_key", "api_key_invalid") || e.begins("api key not valid", "incorrect api key")
}

func unknownModel(e *apiError) bool {
	if e.status == http.StatusNotFound || e.coded("model_not_found", "invalid_model") {
		return true
	}
	return e.status == http.StatusBadRequest &&
		(e.param == "model" || e.begins("invalid model", "unknown model", "model not exist", "the model ", "model ")) &&
		e.mentions("does not exist", "not found", "invalid model", "unknown model", "not exist", "no such model", "not a valid model")
}

// innerStatus is the status that an error object inside a 200 stands for.
func innerStatus(e *apiError) int {
	if n, err := strconv.Atoi(e.code); err == nil && n >= 400 && n < 600 {
		return n
	}
	for _, s := range []struct {
		status int
		words  []string
	}{
		{http.StatusTooManyRequests, []string{"rate_limit", "rate limit", "too many requests", "resource_exhausted"}},
		{http.StatusUnauthorized, []string{"invalid_api_key", "authentication", "unauthorized", "permission"}},
		{http.StatusNotFound, []string{"model_not_found"}},
		{http.StatusBadRequest, []string{"invalid_request", "context_length", "content_filter", "content_policy", "bad_request"}},
	} {
		if e.mentions(s.words...) {
			return s.status
		}
	}
	return http.StatusServiceUnavailable
}

// faultOf says what a failed exchange means. attempt is the context under which
// it ran.
func faultOf(attempt context.Context, x *exchange, err error, d dialect) *fault {
	switch cause := context.Cause(attempt); {
	case x.api != nil:
		return classify(x.api, d)
	case errors.Is(cause, errAttemptTimeout):
		f := newFault(transient, "timeout", cause).temp().retried(1)
		f.timedOut = true
		return f
	case errors.Is(cause, errTotalTimeout):
		f := newFault(transient, "timeout", cause).temp()
		f.timedOut = true
		return f
	case cause != nil:
		return newFault(cancelled, "timeout", cause).temp()
	case x.err != nil:
		return networkFault(x.err)
	case x.status == 0: // the library did not send it
		return newFault(final, "rejected", err)
	}
	// Valid JSON of another shape.
	return newFault(badReply, "bad_reply", err).temp().retried(1)
}

// networkFault handles what went wrong below and above the reply's content.
func networkFault(err error) *fault {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address
	}
	switch {
	case errors.Is(err, errTooLarge):
		return newFault(final, "bad_reply", err)
	case errors.Is(err, errRedirected):
		return newFault(stopAll, "endpoint", err).showing(reasonEndpoint)
	case errors.Is(err, errNotJSON):
		return newFault(badReply, "bad_reply", err).temp().retried(2)
	case wrongCertificate(err):
		return newFault(stopAll, "network", err).showing(reasonEndpoint)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return newFault(transient, "network", err).temp().retried(2)
	}
	return newFault(transient, "network", err).temp()
}

// wrongCertificate tells a server that is not the one configured from one that
// cannot be reached: only the former is a mistake of the configuration.
func wrongCertificate(err error) bool {
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	return verify || host || authority
}
