package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/access"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// statusOf is the one table from kinds of error to HTTP statuses.
var statusOf = map[memoryd.Kind]int{
	memoryd.Unauthenticated: http.StatusUnauthorized,
	memoryd.Misdirected:     http.StatusMisdirectedRequest,
	memoryd.Invalid:         http.StatusUnprocessableEntity,
	memoryd.Forbidden:       http.StatusForbidden,
	memoryd.NotFound:        http.StatusNotFound,
	memoryd.Conflict:        http.StatusConflict,
	memoryd.TooLarge:        http.StatusRequestEntityTooLarge,
	memoryd.Overloaded:      http.StatusTooManyRequests,
	memoryd.OverQuota:       http.StatusInsufficientStorage,
	memoryd.Unavailable:     http.StatusServiceUnavailable,
	memoryd.Closed:          http.StatusServiceUnavailable,
	memoryd.Internal:        http.StatusInternalServerError,
}

// failure is what a caller may see of an error.
type failure struct {
	status     int
	kind       memoryd.Kind
	msg        string
	retryAfter time.Duration
}

// defaultRetryAfter is what a client is told where nobody knows better.
const defaultRetryAfter = time.Second

func describe(err error) failure {
	if r, ok := errors.AsType[*ops.Refusal](err); ok {
		return failure{status: http.StatusOK, msg: access.Present(r.Answer)}
	}
	if fault, ok := errors.AsType[*memoryd.Fault](err); ok {
		return failure{status: http.StatusUnprocessableEntity, kind: memoryd.Invalid, msg: fault.Error()}
	}
	if he, ok := errors.AsType[*echo.HTTPError](err); ok {
		return failure{status: he.Code, kind: kindOfStatus(he.Code), msg: http.StatusText(he.Code)}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = memoryd.Wrap(memoryd.Unavailable, err, "the request ended before its work was done")
	}
	kind, msg := memoryd.KindOf(err)
	f := failure{status: statusOf[kind], kind: kind, msg: access.Present(msg)}
	if e, ok := errors.AsType[*memoryd.Error](err); ok {
		f.retryAfter = e.RetryAfter
	}
	if f.retryAfter == 0 && (f.status == http.StatusTooManyRequests || f.status == http.StatusServiceUnavailable) {
		f.retryAfter = defaultRetryAfter
	}
	return f
}

// kindOfStatus names Echo's own errors: an unknown path, a wrong method.
func kindOfStatus(status int) memoryd.Kind {
	switch {
	case status == http.StatusNotFound:
		return memoryd.NotFound
	case status == http.StatusRequestEntityTooLarge:
		return memoryd.TooLarge
	case status >= 500:
		return memoryd.Internal
	}
	return memoryd.Invalid
}

// handleError is the one place that writes errors. The tool-memory endpoints
// answer in the form that their clients read, all others as problems.
func (s *server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return // middleware may have reported this error already
	}
	f := describe(err)
	if f.status >= http.StatusInternalServerError && c.Request().Context().Err() == nil { // else nobody waits any more
		s.Logger.ErrorContext(c.Request().Context(), "request failed", "route", c.Path(), "request_id", requestID(c), "err", err)
	}
	if f.retryAfter > 0 {
		seconds := int(math.Ceil(f.retryAfter.Seconds()))
		c.Response().Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	if werr := s.writeFailure(c, err, f); werr != nil {
		s.Logger.WarnContext(c.Request().Context(), "error response not written", "request_id", requestID(c), "err", werr)
	}
}

func problemOf(c echo.Context, f failure) wire.Problem {
	return wire.Problem{
		Type: "about:blank", Title: http.StatusText(f.status), Status: f.status,
		Detail: f.msg, Code: string(f.kind), RequestID: requestID(c),
	}
}

func (s *server) writeFailure(c echo.Context, err error, f failure) error {
	if s.traits[c.Path()]&telemetry != 0 && !isJSON(c.Request()) {
		return c.Blob(f.status, protobufType, statusMessage(f.msg))
	}
	if !s.isToolMemory(c) {
		return writeJSON(c, f.status, problemType, problemOf(c, f))
	}
	if fault, ok := errors.AsType[*memoryd.Fault](err); ok {
		detail := wire.Detail{Type: fault.Code, Loc: fault.Loc, Msg: fault.Msg, Input: fault.Input}
		if fault.Broken {
			detail.Loc, detail.Msg, detail.Input = append(detail.Loc, fault.Offset), "JSON decode error", jsontext.Value("{}")
			detail.Context = map[string]string{"error": fault.Msg}
		}
		return writeJSON(c, f.status, jsonType, wire.ValidationError{Detail: []wire.Detail{detail}})
	}
	answer := wire.Response{Answer: f.msg, Metadata: struct{}{}}
	if s.traits[c.Path()]&updating != 0 {
		answer.Metadata = wire.NothingUpdated{}
	}
	return writeJSON(c, f.status, jsonType, answer)
}
