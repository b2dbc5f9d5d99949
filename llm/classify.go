package llm

import (
	"net/http"
	"strconv"
)

// classify says what an error of the server means. dialect is the form of
// request that met it. The order matters: gateways wrap one error in another's
// status, so a telling code beats the status.
func classify(e *apiError, d dialect) *fault {
	f := &fault{err: e}
	switch {
	case outOfQuota(e):
		return f.as(stopAll, "quota").showing(ReasonQuota)
	case e.status == http.StatusTooManyRequests:
		return f.as(refused, "rate_limited").temp()
	case e.status == http.StatusRequestEntityTooLarge || tooLong(e):
		return f.as(final, "too_long")
	case e.mentions("content_filter", "content_policy", "content management policy", "responsibleaipolicy"):
		return f.as(final, "filtered")
	case unknownModel(e):
		return f.as(stopModel, "unknown_model")
	case badKey(e):
		return f.as(stopAll, "credentials").showing(ReasonCredentials)
	case e.status == http.StatusRequestTimeout:
		f.timedOut = true
		return f.as(transient, "timeout").temp()
	case e.status == http.StatusConflict || e.status == http.StatusTooEarly || e.status >= 500:
		return classifyServer(f, e, d)
	}
	if next, ok := d.without(e); ok {
		f.err = &adaptError{cause: e, next: next}
		return f.as(adapt, "rejected")
	}
	return f.as(final, "rejected")
}

// classifyServer handles 5xx: some servers fail with a 500 or 501 over a form
// of answer that they do not know.
func classifyServer(f *fault, e *apiError, d dialect) *fault {
	if next, ok := d.without(e); ok && e.status <= http.StatusNotImplemented {
		f.err = &adaptError{cause: e, next: next}
		return f.as(adapt, "rejected")
	}
	return f.as(transient, "server").temp()
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

// The three below stop a model or the endpoint. A server may echo the prompt,
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
