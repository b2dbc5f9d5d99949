package llmtest

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server is a model. It is safe for concurrent use.
type Server struct {
	handler Handler
	embed   Handler // nil: the server knows no embeddings

	mu     sync.Mutex
	limits *limiter
	counts Counts
	kept   []Request
}

// Counts is what a server has seen.
type Counts struct {
	Requests int // all, refused ones included
	Refused  int // by limits
	Served   int // sent to the end
	// PromptTokens and AnswerTokens are of requests that were not refused.
	PromptTokens int
	AnswerTokens int
	InFlight     int // now
	MaxInFlight  int // most at once, without refused ones
}

// New makes a server that answers by h.
func New(h Handler) *Server { return &Server{handler: h, limits: newLimiter(Limits{})} }

// Embeddings makes the server answer embeddings requests by h, in place of a 404.
// Set it before the first request.
func (s *Server) Embeddings(h Handler) *Server {
	s.embed = h
	return s
}

// Limit sets limits that refuse, with fresh credit, in place of earlier ones.
func (s *Server) Limit(l Limits) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = newLimiter(l)
	return s
}

// Counts gives the counters.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Requests gives all requests in the order of their arrival.
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
	answer := s.handler
	if x.request.embeds() && s.embed != nil {
		answer = s.embed
	}
	switch {
	case !strings.HasSuffix(r.Path, "/chat/completions") && (!x.request.embeds() || s.embed == nil):
		x.reply = Error(http.StatusNotFound, "invalid_request_error", "unknown_url", "Unknown request URL.")
	case r.Method != http.MethodPost:
		x.reply = Error(http.StatusMethodNotAllowed, "invalid_request_error", "method_not_supported", "Only POST is supported.")
	case !wellFormed:
		x.reply = Error(http.StatusBadRequest, "invalid_request_error", "", "We could not parse the JSON body of your request.")
	default:
		x.reply = answer(x.request)
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
