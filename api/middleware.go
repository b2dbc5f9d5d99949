package api

import (
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/admission"
	"memoryd/internal/lifecycle"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// maxRequestID bounds a client's own request id.
const maxRequestID = 128

// around is what is done for every request around the route that serves it. It is one function
// because Echo chains a list of them anew for each request.
func (s *server) around(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		identify(c)
		ctx := c.Request().Context()
		err := lifecycle.Do(ctx, s.Logger, "http", func() error { return s.traced(c, next) })
		if _, panicked := errors.AsType[*lifecycle.PanicError](err); panicked {
			s.Logger.ErrorContext(ctx, "a request panicked", "route", c.Path(), "request_id", requestID(c))
			return memoryd.Errorf(memoryd.Internal, "internal error")
		}
		return err
	}
}

// identify gives each request an id, the client's own where it sent a usable
// one, and tells it back.
func identify(c echo.Context) {
	id := c.Request().Header.Get(echo.HeaderXRequestID)
	if !printable(id) {
		id = uuid.NewString()
	}
	h := c.Response().Header()
	h[echo.HeaderXRequestID], h[echo.HeaderXContentTypeOptions] = []string{id}, nosniff
}

// nosniff is the value of a header of all answers, which nobody changes.
var nosniff = []string{"nosniff"}

// printable reports whether an id is short, and of ASCII without blanks.
func printable(id string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	return id != "" && len(id) <= maxRequestID && !strings.ContainsFunc(id, odd)
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// sameOrigin refuses what a web page of another site makes a browser send here:
// a server on this machine is in reach of every page that its user opens.
// Programs send neither Origin nor Sec-Fetch-Site and are not concerned.
func sameOrigin() guard {
	protection := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := protection.Check(c.Request()); err != nil {
			return memoryd.Wrap(memoryd.Forbidden, err, "requests from pages of other sites are refused")
		}
		return nil
	}
}

// traced lets the tracer, if there is one, follow all requests but those that only ask how the
// server does. One that panics is answered with 500 further out.
func (s *server) traced(c echo.Context, next echo.HandlerFunc) error {
	if s.Tracer == nil || s.traits[c.Path()]&free != 0 {
		return s.observe(c, next)
	}
	ctx, end := s.Tracer.Request(c.Request(), c.Path())
	c.SetRequest(c.Request().WithContext(ctx))
	status := http.StatusInternalServerError
	defer func() { end(status) }()
	err := s.observe(c, next)
	status = c.Response().Status
	return err
}

// room turns away what the server cannot take now, before anything is asked or read: a
// refusal must cost next to nothing, or those under overload take what others need.
func (s *server) room(c echo.Context) error {
	if s.traits[c.Path()]&withBody == 0 {
		return nil
	}
	if err := s.quota.Room(min(c.Request().ContentLength, s.cfg.MaxBodyBytes)); err != nil {
		return s.refuseBody(c, err)
	}
	return nil
}

// guard refuses requests, with an error, before a route serves them.
type guard = func(c echo.Context) error

// guarded serves what all guards let in.
func (s *server) guarded(c echo.Context, next echo.HandlerFunc) error {
	for _, g := range s.guards {
		if err := g(c); err != nil {
			return err
		}
	}
	return next(c)
}

// observe counts requests and writes a line for each: at debug level while all
// is well, so that the path of every tool call stays cheap, and louder when it is
// not.
func (s *server) observe(c echo.Context, next echo.HandlerFunc) error {
	start := time.Now()
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	if err := s.guarded(c, next); err != nil {
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

// readBody reads a body of up to limit bytes, plain or gzipped; what of it has arrived
// is reserved with the lease. begun is told the beginning of one that is larger than firstRoom.
func readBody(r *http.Request, limit int64, lease *admission.Lease, begun func(head []byte) error) ([]byte, error) {
	var in io.Reader = r.Body
	announced := r.ContentLength
	switch encoding := strings.ToLower(r.Header.Get(echo.HeaderContentEncoding)); encoding {
	case "", "identity":
	case "gzip":
		zr, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, memoryd.Wrap(memoryd.Invalid, err, "the body is not gzip, as Content-Encoding says")
		}
		in, announced = zr, -1
	default:
		return nil, echo.NewHTTPError(http.StatusUnsupportedMediaType)
	}
	body, err := readAll(in, limit, announced, lease, begun)
	if memoryd.Except(err, memoryd.TooLarge, memoryd.Overloaded) != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "cannot read the whole body")
	}
	return body, err
}

// firstRoom is the room that is made for a body at first. What arrives has at most nextRoom times
// as much made for it.
const (
	firstRoom = 8 << 10
	nextRoom  = 16
)

func readAll(in io.Reader, limit, announced int64, lease *admission.Lease, begun func(head []byte) error) ([]byte, error) {
	tooLarge := func() error { return memoryd.Errorf(memoryd.TooLarge, "the body is larger than %d bytes", limit) }
	if announced > limit {
		return nil, tooLarge()
	}
	first := int64(firstRoom)
	if announced >= 0 {
		first = min(announced+1, firstRoom)
	}
	if err := lease.Reserve(first); err != nil {
		return nil, err
	}
	body := make([]byte, 0, first)
	for {
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, tooLarge()
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		case len(body) == cap(body):
			if body, err = moreRoom(body, limit, announced, lease, begun); err != nil {
				return nil, err
			}
		}
	}
}

// moreRoom makes room for what follows: for all that was announced, unless what has arrived
// is little beside it.
func moreRoom(body []byte, limit, announced int64, lease *admission.Lease, begun func(head []byte) error) ([]byte, error) {
	has := int64(cap(body))
	if has == firstRoom {
		if err := begun(body); err != nil {
			return nil, err
		}
	}
	room := min(2*has, limit+1)
	if announced >= has {
		room = min(announced+1, nextRoom*has)
	}
	if err := lease.Reserve(room - has); err != nil {
		return nil, err
	}
	return append(make([]byte, 0, room), body...), nil
}
