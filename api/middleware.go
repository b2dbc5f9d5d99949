package api

import (
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// maxRequestID bounds a client's own request id.
const maxRequestID = 128

// identify gives each request an id, the client's own where it sent a usable
// one, and tells it back.
func identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !printable(id) {
			id = uuid.NewString()
		}
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		return next(c)
	}
}

func printable(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// recoverPanics turns a panic into a 500 and logs it with its stack.
func recoverPanics(log *slog.Logger) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			err := lifecycle.Do(c.Request().Context(), log, "http", func() error { return next(c) })
			if _, panicked := errors.AsType[*lifecycle.PanicError](err); panicked {
				log.ErrorContext(c.Request().Context(), "a request panicked", "route", c.Path(), "request_id", requestID(c))
				return memoryd.Errorf(memoryd.Internal, "internal error")
			}
			return err
		}
	}
}

// sameOrigin refuses what a web page of another site makes a browser send here:
// a server on this machine is in reach of every page that its user opens.
// Programs send neither Origin nor Sec-Fetch-Site and are not concerned.
func sameOrigin() echo.MiddlewareFunc {
	protection := http.NewCrossOriginProtection()
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := protection.Check(c.Request()); err != nil {
				return memoryd.Wrap(memoryd.Forbidden, err, "requests of other sites' pages are refused")
			}
			return next(c)
		}
	}
}

// traced lets the tracer follow all requests but those that only ask how the
// server does. One that panics is answered with 500 further out.
func traced(tracer Tracer) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			switch c.Path() {
			case "/health", "/livez", "/readyz", "/metrics":
				return next(c)
			}
			ctx, end := tracer.Request(c.Request(), c.Path())
			c.SetRequest(c.Request().WithContext(ctx))
			status := http.StatusInternalServerError
			defer func() { end(status) }()
			err := next(c)
			status = c.Response().Status
			return err
		}
	}
}

// observe counts requests and writes a line for each: at debug level while all
// is well, so that the path of every tool call stays cheap, and louder when it is
// not.
func (s *server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		s.inFlight.Add(1)
		defer s.inFlight.Add(-1)
		if err := next(c); err != nil {
			c.Error(err)
		}
		status, took := c.Response().Status, time.Since(start)
		s.Meter.Observe(c.Path(), c.Request().Method, status, took)
		level := slog.LevelDebug // also of what clients did wrong: a flood of it must not become one of lines
		if status >= http.StatusInternalServerError && c.Request().Context().Err() == nil {
			level = slog.LevelWarn
		}
		if ctx := c.Request().Context(); s.Logger.Enabled(ctx, level) {
			s.Logger.Log(ctx, level, "request", "method", c.Request().Method, "route", c.Path(),
				"status", status, "bytes", c.Response().Size, "took", took, "request_id", requestID(c))
		}
		return nil
	}
}

// readHandler serves a request whose body has been read, on behalf of a workspace.
type readHandler func(c echo.Context, body []byte, workspace string) error

// admitted reads the body of a request that the server, and then the workspace,
// has room for.
func (s *server) admitted(handle readHandler) echo.HandlerFunc {
	return func(c echo.Context) error {
		lease, err := s.quota.Admit(announced(c.Request(), s.cfg.MaxBodyBytes))
		if err != nil {
			return err
		}
		defer lease.Release()
		body, err := readBody(c.Request(), s.cfg.MaxBodyBytes)
		if err != nil {
			return err
		}
		workspace := c.Param("workspace")
		if workspace == "" {
			workspace = cmp.Or(workspaceIn(body), memoryd.DefaultWorkspace)
		}
		if err := lease.Bind(workspace, int64(len(body))); err != nil {
			return err
		}
		return handle(c, body, workspace)
	}
}

// announced is the most that the body of a request may come to.
func announced(r *http.Request, most int64) int64 {
	n := r.ContentLength
	if n < 0 || n > most || r.Header.Get(echo.HeaderContentEncoding) != "" {
		return most
	}
	return n
}

// bodyHandler serves a request whose body has been read; what it returns is
// answered as JSON.
type bodyHandler func(c echo.Context, body []byte) (any, error)

func (s *server) withBody(handle bodyHandler) echo.HandlerFunc {
	return s.admitted(func(c echo.Context, body []byte, workspace string) error {
		v, err := s.inTurn(c, handle, body, workspace)
		if err != nil {
			return err
		}
		if c.Path() == "/"+FlowRetrieve {
			return writeTagged(c, v)
		}
		return writeJSON(c, http.StatusOK, jsonType, v)
	})
}

// inTurn lets the frequent requests compute only so many at a time. The answer is
// encoded within the turn and sent outside it, however slow the client reads.
func (s *server) inTurn(c echo.Context, handle bodyHandler, body []byte, workspace string) (any, error) {
	if path := c.Path(); path != "/"+FlowAdd && path != "/"+FlowRetrieve {
		return handle(c, body)
	}
	slot, err := s.Scheduler.Acquire(c.Request().Context(), workspace)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	c.SetRequest(c.Request().WithContext(slot))
	v, err := handle(c, body)
	if err != nil {
		return nil, err
	}
	return encode(v)
}

// drainFactor is how many times the limit is still read, and thrown away, from
// a body that is too large: a client that is cut off while it sends seldom
// looks at the answer.
const drainFactor = 8

// readBody reads a body of up to limit bytes, plain or gzipped.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	var in io.Reader = r.Body
	switch encoding := strings.ToLower(r.Header.Get(echo.HeaderContentEncoding)); encoding {
	case "", "identity":
	case "gzip":
		zr, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, memoryd.Wrap(memoryd.Invalid, err, "the body is not gzip, as Content-Encoding says")
		}
		in = zr
	default:
		return nil, echo.NewHTTPError(http.StatusUnsupportedMediaType)
	}
	body, err := readAll(in, limit, r.ContentLength)
	if err != nil && !memoryd.IsKind(err, memoryd.TooLarge) {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the body could not be read to its end")
	}
	if err != nil {
		_, _ = io.CopyN(io.Discard, r.Body, drainFactor*limit)
	}
	return body, err
}

func readAll(in io.Reader, limit, announced int64) ([]byte, error) {
	tooLarge := memoryd.Errorf(memoryd.TooLarge, "the body is larger than %d bytes", limit)
	if announced > limit {
		return nil, tooLarge
	}
	body := make([]byte, 0, max(512, announced+1))
	for {
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, tooLarge
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		case len(body) == cap(body):
			body = append(body, 0)[:len(body)]
		}
	}
}
