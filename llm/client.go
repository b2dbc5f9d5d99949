package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
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
	// Tracer is called before each attempt and returns the context to send it in. The returned
	// function end is called after the attempt, when it is complete, from the goroutine of Complete,
	// and must not block; may be nil.
	Tracer Tracer
}

// Tracer is told of an attempt before and after it.
type Tracer = func(ctx context.Context, a memoryd.Attempt) (within context.Context, end func(memoryd.Attempt))

// Client is a model server with its models, limits and queue. It is safe for concurrent use.
type Client struct {
	*limiter

	key    string
	http   *http.Client
	tracer Tracer
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
		limiter: newLimiter(cfg, cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))), key: key, tracer: opts.Tracer,
		http: &http.Client{Transport: cmp.Or[http.RoundTripper](opts.HTTP, newTransport(cfg)), CheckRedirect: noRedirect},
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

// backendOpenAI is the only backend: a server that speaks OpenAI's chat
// completions protocol.
const backendOpenAI = "openai_compatible"

// proxyEnvironment is the Proxy that stands for the environment's.
const proxyEnvironment = "environment"

// openAIURL is where requests go when the configuration names no base_url.
const openAIURL = "https://api.openai.com/v1"

// Config is one entry of the llm section. Limits of 0 are unknown: the client learns them from the
// server's headers, or from its refusals.
type Config struct {
	// Backend must be "openai_compatible".
	Backend string `yaml:"backend"`
	// ModelName is the name of the model.
	ModelName string `yaml:"model_name"`
	// BaseURL is the address before "/chat/completions"; "" means OpenAI's.
	BaseURL string `yaml:"base_url"`
	// APIKeyEnv is the environment variable that holds the key.
	APIKeyEnv string `yaml:"api_key_env"`
	// Proxy is the address of an HTTP proxy, "environment" to use HTTP_PROXY, HTTPS_PROXY and
	// NO_PROXY, or "" for none. A proxy can read unencrypted requests.
	Proxy string `yaml:"proxy"`

	// Temperature is sent with each request, even if it is 0, unless the model does not accept one.
	Temperature float64 `yaml:"temperature" must:"0 to 2"`
	// MaxTokens limits answers whose Prompt sets no limit; 0 leaves the limit to the server.
	MaxTokens int `yaml:"max_tokens" must:"0 to 2147483647"`

	// AttemptTimeout limits one HTTP request, up to the last byte of the reply.
	AttemptTimeout time.Duration `yaml:"attempt_timeout" must:"at least 1ms"`
	// TotalTimeout limits a request from its first attempt to its end, with the waits between
	// attempts. The context limits the wait in the queue before that. A request fails rather than
	// wait for a longer pause of the server.
	TotalTimeout time.Duration `yaml:"-"`
	// Retries is how often a request is repeated after a fault of the server or the network, within
	// the retry budget (a tenth of the first attempts, plus one every ten seconds). Refusals (429)
	// do not count: those requests return to the queue.
	Retries int `yaml:"retries" must:"0 to 2147483647"`

	// MaxConcurrency limits the requests in flight to each model.
	MaxConcurrency int `yaml:"max_concurrency" must:"1 to 2147483647"`
	// RequestsPerMinute and TokensPerMinute are the server's limits; 0 means unknown.
	RequestsPerMinute int `yaml:"requests_per_minute" must:"0 to 2147483647"`
	TokensPerMinute   int `yaml:"tokens_per_minute" must:"0 to 2147483647"`
	// Burst is how much of these limits can be used at once, as a duration: 60s is the share of a
	// whole minute. 0 means unknown, and spreads requests evenly.
	Burst time.Duration `yaml:"burst"`
	// MaxQueue limits the waiting requests of all workspaces.
	MaxQueue int `yaml:"-"`

	// PricePrompt and PriceCompletion are the prices of a million tokens of ModelName, in your
	// currency. They also apply where the model is a fallback of another entry. If both are 0, the
	// price is unknown.
	PricePrompt     float64 `yaml:"price_prompt" must:"0 to 1000000000"`
	PriceCompletion float64 `yaml:"price_completion" must:"0 to 1000000000"`

	// FallbackModels are used, in order, while the models before them are unknown to the server,
	// failing, or paused for longer than FallbackAfter.
	FallbackModels []string      `yaml:"fallback_models"`
	FallbackAfter  time.Duration `yaml:"-"`
	// BreakerFailures is the number of consecutive failures after which a model is paused.
	BreakerFailures int `yaml:"-"`
	// ProbeInterval is how long the client waits after the server rejected its key, its quota ran
	// out, or the model is unknown.
	ProbeInterval time.Duration `yaml:"probe_interval" must:"at least 1s"`
}

// UnmarshalYAML decodes an entry and keeps constants that are not settings: a request may
// take as long as three attempts; a queue of 20,000 is a day's work for a rate-limited model;
// a pause of five seconds justifies another model; eight failures in a row are no
// coincidence.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.MaxQueue, c.FallbackAfter, c.BreakerFailures = 20_000, 5*time.Second, 8
	err := unmarshal((*settings)(c))
	c.TotalTimeout = 3 * c.AttemptTimeout
	return err
}

// Validate returns the first setting, by its YAML key, that is invalid whatever the tags say.
func (c Config) Validate() error {
	if c.Backend != backendOpenAI {
		return fmt.Errorf("backend: %q is not known, want %q", c.Backend, backendOpenAI)
	}
	if c.ModelName == "" {
		return fmt.Errorf("model_name: must not be empty")
	}
	if err := checkURL(c.BaseURL); err != nil {
		return fmt.Errorf("base_url: %w", err)
	}
	if c.Proxy != proxyEnvironment {
		if err := checkURL(c.Proxy); err != nil {
			return fmt.Errorf("proxy: %w", err)
		}
	}
	if slices.Contains(c.FallbackModels, "") {
		return fmt.Errorf("fallback_models: a name must not be empty")
	}
	return nil
}

// checkURL accepts "" and an absolute http or https address without user,
// query and fragment.
func checkURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return fmt.Errorf("not an address")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("scheme %q is not http or https", u.Scheme)
	case u.Host == "":
		return fmt.Errorf("no host")
	case u.User != nil:
		return fmt.Errorf("must not hold a user or a password")
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("must not hold a query or a fragment")
	}
	return nil
}
