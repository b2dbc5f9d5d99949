package llmtest

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server is a model. It is safe for concurrent use.
type Server struct {
	handler Handler

	mu     sync.Mutex
	limits *limiter
	counts Counts
	kept   []Request
}

// Counts are the counters of a server.
type Counts struct {
	Requests int // all requests, including refused ones
	Refused  int // by limits
	Served   int // replies that were sent completely
	// PromptTokens and AnswerTokens count only requests that were not refused.
	PromptTokens int
	AnswerTokens int
	InFlight     int // now
	MaxInFlight  int // the largest number of concurrent requests, without refused ones
}

// New returns a server that answers with h.
func New(h Handler) *Server { return &Server{handler: h, limits: newLimiter(Limits{})} }

// Limit replaces the limits of the server, with fresh credit.
func (s *Server) Limit(l Limits) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = newLimiter(l)
	return s
}

// Counts returns the counters.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Requests returns all requests in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.kept...)
}

// exchange is a request that was taken in and its reply.
type exchange struct {
	s       *Server
	request Request
	reply   Reply
	counted bool // in flight
	early   http.Header
}

// take takes a request in and decides the reply.
func (s *Server) take(r Request) *exchange {
	x := &exchange{s: s, request: r}
	wellFormed := x.request.parse()
	if refused, ok := x.admit(); ok {
		x.reply = refused
		return x
	}
	switch {
	case !strings.HasSuffix(r.Path, "/chat/completions"):
		x.reply = Error(http.StatusNotFound, "invalid_request_error", "unknown_url", "Unknown request URL.")
	case r.Method != http.MethodPost:
		x.reply = Error(http.StatusMethodNotAllowed, "invalid_request_error", "method_not_supported", "Only POST is supported.")
	case !wellFormed:
		x.reply = Error(http.StatusBadRequest, "invalid_request_error", "", "We could not parse the JSON body of your request.")
	default:
		x.reply = s.handler(x.request)
	}
	return x
}

// admit counts and records the request and holds it against the limits.
func (x *exchange) admit() (Reply, bool) {
	s := x.s
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.counts.Requests++
	x.request.N, x.request.Time = s.counts.Requests, now
	s.kept = append(s.kept, x.request)
	if kind, wait, ok := s.limits.admit(now, float64(x.request.PromptTokens), s.counts.InFlight); !ok {
		s.counts.Refused++
		return s.limits.refusal(kind, now, wait), true
	}
	if s.limits.EarlyHeaders {
		x.early = http.Header{}
		s.limits.headers(x.early, now)
	}
	s.counts.PromptTokens += x.request.PromptTokens
	s.counts.InFlight++
	s.counts.MaxInFlight = max(s.counts.MaxInFlight, s.counts.InFlight)
	x.counted = true
	return Reply{}, false
}

// header writes the headers that every reply has, when the reply goes out, and
// charges the answer's tokens.
func (x *exchange) header(h http.Header) {
	s := x.s
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if x.reply.Body == nil {
		s.counts.AnswerTokens += x.reply.answerTokens()
		s.limits.charge(now, 0, float64(x.reply.answerTokens()))
	}
	h.Set("Content-Type", "application/json")
	if x.request.Stream && x.reply.Body == nil {
		h.Set("Content-Type", "text/event-stream")
	}
	if x.early == nil {
		s.limits.headers(h, now)
	}
	maps.Copy(h, x.early)
	for name, values := range x.reply.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
}

// end takes the request out of flight. A second call does nothing.
func (x *exchange) end(served bool) {
	s := x.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !x.counted {
		return
	}
	x.counted = false
	s.counts.InFlight--
	if served {
		s.counts.Served++
	}
}

// Transport reaches the server in memory: without a connection or a goroutine, and with no
// delay but that of the replies. It works in a synctest bubble. It decompresses replies, as
// http.Transport does.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ s *Server }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := Request{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone()}
	if req.Body != nil {
		var err error
		r.Body, err = io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	x := t.s.take(r)
	if err := x.begin(ctx); err != nil {
		x.end(false)
		return nil, err
	}
	h := http.Header{}
	x.header(h)
	resp := &http.Response{
		StatusCode: x.reply.status(), Status: http.StatusText(x.reply.status()), Header: h, Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Body: x.stream(ctx),
	}
	return unzip(resp)
}

func (r Reply) status() int {
	if r.Status == 0 {
		return http.StatusOK
	}
	return r.Status
}

func unzip(resp *http.Response) (*http.Response, error) {
	if resp.Header.Get("Content-Encoding") != "gzip" {
		return resp, nil
	}
	z, err := gzip.NewReader(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Header.Del("Content-Encoding")
	resp.Uncompressed = true
	resp.Body = struct {
		io.Reader
		io.Closer
	}{z, resp.Body}
	return resp, nil
}

// TB is the part of testing.TB that Start uses.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start serves HTTP on a free port of 127.0.0.1 until the test ends, and returns the base URL
// with "/v1".
func (s *Server) Start(t TB) string {
	t.Helper()
	l, err := Listen("127.0.0.1:0", s)
	if err != nil {
		t.Fatalf("llmtest: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Fatalf("llmtest: %v", err)
		}
	})
	return l.URL
}

// Listener is a server that listens on an address.
type Listener struct {
	URL  string // base URL, with "/v1"
	http *http.Server
	done chan error
}

// Listen serves s over HTTP on addr, such as "127.0.0.1:9100", until Close.
func Listen(addr string, s *Server) (*Listener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l := &Listener{
		URL:  "http://" + ln.Addr().String() + "/v1",
		http: &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second},
		done: make(chan error, 1),
	}
	go func() { l.done <- l.http.Serve(ln) }()
	return l, nil
}

// Close closes all connections and waits for the server to end.
func (l *Listener) Close() error {
	err := l.http.Close()
	if served := <-l.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	l.done <- http.ErrServerClosed // so that a second Close returns too
	return err
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	x := s.take(Request{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body})
	defer x.end(false)
	ctx := req.Context()
	if err := x.begin(ctx); err != nil {
		abort(w)
	}
	x.header(w.Header())
	w.WriteHeader(x.reply.status())
	out := http.NewResponseController(w)
	in := x.stream(ctx)
	buf := make([]byte, 4096)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return
			}
			if ferr := out.Flush(); ferr != nil {
				return
			}
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			abort(w)
		}
	}
}

// abort resets the connection.
func abort(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset instead of an orderly end
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// stream is a reply's body as it comes over the wire: with pauses, without an
// end, or cut.
type stream struct {
	ctx  context.Context
	x    *exchange
	data []byte
	at   int
	stop int // where the connection is cut; -1: nowhere
}

func (x *exchange) stream(ctx context.Context) *stream {
	s := &stream{ctx: ctx, x: x, data: x.payload(), stop: -1}
	if x.reply.end == cutBody {
		s.stop = len(s.data) / 2
	}
	return s
}

// Read returns the next bytes. It ends with syscall.ECONNRESET if the connection is reset.
func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	end := len(s.data)
	if s.stop >= 0 {
		end = s.stop
	}
	if s.at >= end && s.x.reply.end == endless {
		s.at = 0
	}
	if s.at >= end {
		if s.stop >= 0 {
			return 0, syscall.ECONNRESET
		}
		s.x.end(true)
		return 0, io.EOF
	}
	if s.x.reply.drip > 0 {
		if err := sleep(s.ctx, s.x.reply.drip); err != nil {
			return 0, err
		}
		end = s.at + 1
	}
	n := copy(p, s.data[s.at:end])
	s.at += n
	return n, nil
}

// Close discards the rest.
func (s *stream) Close() error {
	s.x.end(false)
	return nil
}

// begin passes the time before the first byte. It fails when nothing comes.
func (x *exchange) begin(ctx context.Context) error {
	if x.reply.end == hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if err := sleep(ctx, x.reply.Delay); err != nil {
		return err
	}
	if x.reply.end == reset {
		return syscall.ECONNRESET
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
