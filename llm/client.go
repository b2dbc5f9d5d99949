package llm

import (
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
)

// Options are what a Client may be given beside its Config.
type Options struct {
	// Logger hears of changes of state: stopped, answering again, a server that
	// needs another form of request. Never of prompts or keys. nil: silence.
	Logger *slog.Logger
	// HTTP carries the requests; nil is a transport of the client's own.
	HTTP http.RoundTripper
	// Observer is told of each attempt after it ended; nil: nobody. It is called
	// from the goroutine of Complete and must not block.
	Observer func(Attempt)
	// Tracer is called before each attempt, which is sent within the context that
	// it returns; end is called after it, when the Attempt is complete. nil: nobody.
	Tracer func(ctx context.Context, a Attempt) (within context.Context, end func(Attempt))
}

// Attempt is one HTTP request to a model, as an Observer sees it.
type Attempt struct {
	Op    string
	Model string // the name asked for
	// Workspace and Tool are the prompt's: on whose behalf it was sent.
	Workspace string
	Tool      string
	// Outcome is "ok", "cancelled", "adapted" (sent again in another form) or
	// the Reason of a memoryd.ModelError.
	Outcome string
	Waited  time.Duration // in the queue before this attempt
	Took    time.Duration // from sending to the last byte
	Usage   memoryd.Usage
}

// Client is one server with its models, limits and queue. It is safe for
// concurrent use.
type Client struct {
	cfg      Config
	key      string
	http     *http.Client
	own      *http.Transport // nil when Options.HTTP was given
	limiter  *limiter
	log      *slog.Logger
	observer func(Attempt)
	tracer   func(context.Context, Attempt) (context.Context, func(Attempt))
}

// New makes a client. It connects to nothing and starts nothing. The only
// error is a configuration that cannot work.
func New(cfg Config, key string, opts Options) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the model's configuration is not valid")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, memoryd.Errorf(memoryd.Invalid, "the API key holds a blank or a character outside ASCII")
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = openAIURL
	}
	c := &Client{cfg: cfg, key: key, log: opts.Logger, observer: opts.Observer, tracer: opts.Tracer}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.observer == nil {
		c.observer = func(Attempt) {}
	}
	if c.tracer == nil {
		c.tracer = func(ctx context.Context, _ Attempt) (context.Context, func(Attempt)) { return ctx, func(Attempt) {} }
	}
	if inClear(cfg, key) {
		c.log.Warn("the API key and all prompts are sent unencrypted: base_url is http", "base_url", cfg.BaseURL)
	}
	transport := opts.HTTP
	if transport == nil {
		c.own = newTransport(cfg)
		transport = c.own
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: noRedirect}
	c.limiter = newLimiter(cfg, c.log)
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

// ForOp is a view of the client for one op. The starts of its requests, retries
// included, keep at least spacing apart (a token bucket with burst 1); 0 means
// no spacing. Each call makes a view with a bucket of its own: make one per op,
// once.
func (c *Client) ForOp(op string, spacing time.Duration) *Model {
	return &Model{client: c, queue: c.limiter.addOp(op, spacing)}
}

// Health says whether the model can be asked now.
func (c *Client) Health() Health { return c.limiter.health() }

// Resting is how long the server wants to be left alone from now on; 0 where a
// request may start, or would be turned away at once.
func (c *Client) Resting() time.Duration { return c.limiter.resting() }

// Stats gives the counters since New.
func (c *Client) Stats() Stats { return c.limiter.snapshot() }

// Close turns away who waits and whoever comes later, and releases idle
// connections. Requests in flight run on; end them by their contexts. A second
// Close does nothing.
func (c *Client) Close() {
	c.limiter.close()
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// errClosed is what a closed client answers.
var errClosed = memoryd.Wrap(memoryd.Closed, errors.New("llm: client closed"), "the model client is closed")
