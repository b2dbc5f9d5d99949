package llm

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/fairqueue"

	"golang.org/x/time/rate"
)

// Options are optional parts of a Client.
type Options struct {
	// Logger logs changes of state, such as a stopped model, a recovery, or a server that needs
	// another form of request. It never logs prompts or keys. nil logs nothing.
	Logger *slog.Logger
	// HTTP sends the requests; nil uses the client's own transport.
	HTTP http.RoundTripper
	// Observer is called after each attempt, from the goroutine of Complete, and must not block;
	// may be nil.
	Observer func(memoryd.Attempt)
	// Tracer is called before each attempt and returns the context to send it in. The returned
	// function end is called after the attempt, when it is complete; may be nil.
	Tracer Tracer
}

// Tracer is told of an attempt before and after it.
type Tracer = func(ctx context.Context, a memoryd.Attempt) (within context.Context, end func(memoryd.Attempt))

// Client is a model server with its models, limits and queue. It is safe for concurrent use.
type Client struct {
	*limiter

	key      string
	http     *http.Client
	observer func(memoryd.Attempt)
	tracer   Tracer
}

// New returns a client. It makes no connection and starts no goroutine. It fails only if the
// configuration is invalid.
func New(cfg Config, key string, opts Options) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the model's configuration is not valid")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, memoryd.Errorf(memoryd.Invalid, "the API key contains a space or a non-ASCII character")
	}
	cfg.BaseURL = cmp.Or(cfg.BaseURL, openAIURL)
	c := &Client{
		limiter: newLimiter(cfg, cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))), key: key, observer: opts.Observer, tracer: opts.Tracer,
		http: &http.Client{Transport: cmp.Or[http.RoundTripper](opts.HTTP, newTransport(cfg)), CheckRedirect: noRedirect},
	}
	if c.observer == nil {
		c.observer = func(memoryd.Attempt) {}
	}
	if c.tracer == nil {
		c.tracer = func(ctx context.Context, _ memoryd.Attempt) (context.Context, func(memoryd.Attempt)) {
			return ctx, func(memoryd.Attempt) {}
		}
	}
	if inClear(cfg, key) {
		c.log.Warn("the API key and all prompts are sent unencrypted: base_url is http", "base_url", cfg.BaseURL)
	}
	return c, nil
}

// noRedirect hands the redirect itself back: following one would carry prompts
// and the key to an address that nobody configured.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// proxyOf finds the proxy of a request: none, unless one is configured.
func proxyOf(cfg Config) func(*http.Request) (*url.URL, error) {
	switch cfg.Proxy {
	case "":
		return nil
	case proxyEnvironment:
		return http.ProxyFromEnvironment
	}
	to, err := url.Parse(cfg.Proxy) // validated with the configuration
	return func(*http.Request) (*url.URL, error) { return to, err }
}

// inClear reports whether others between here and the server could read the key.
func inClear(cfg Config, key string) bool {
	to, err := url.Parse(cfg.BaseURL)
	if err != nil || key == "" || to.Scheme != "http" {
		return false
	}
	addr, err := netip.ParseAddr(to.Hostname())
	local := to.Hostname() == "localhost" || err == nil && addr.Unmap().IsLoopback()
	return !local || cfg.Proxy != "" && cfg.Proxy != proxyEnvironment
}

func newTransport(cfg Config) *http.Transport {
	return &http.Transport{
		Proxy:                  proxyOf(cfg),
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    cfg.MaxConcurrency,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// ForOp returns a view of the client for one op. At least spacing lies between the starts of its
// requests, retries included (a token bucket with burst 1); 0 means no spacing. Each view has its
// own bucket, so call ForOp once per op.
func (c *Client) ForOp(op string, spacing time.Duration) *Model {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &opQueue{op, rate.NewLimiter(rate.Every(spacing), 1), fairqueue.New[*job](&c.clock)}
	c.ops = append(c.ops, q)
	return &Model{client: c, queue: q}
}

// Close rejects waiting and new requests, and closes idle connections. Requests in flight continue;
// cancel their contexts to stop them. Calling Close again does nothing.
func (c *Client) Close() {
	c.close()
	c.http.CloseIdleConnections()
}

// errClosed is what a closed client answers.
var errClosed = memoryd.Wrap(memoryd.Closed, errors.New("llm: client closed"), "the model client is closed")
