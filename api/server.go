// Package api serves HTTP. It decodes requests into the types of package ops and encodes the
// results as they are, or in the types of package wire where answers have another form. It is the
// only package that imports Echo. api/openapi.json describes what it accepts and answers: a test
// makes it from the routes, the types and the comments on them.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"memoryd/internal/access"
	"memoryd/internal/admission"
	"memoryd/ops"

	jsonv2 "github.com/go-json-experiment/json"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/labstack/echo/v4"
)

// Config is the http section of the configuration.
type Config struct {
	// Listen is the address of the server, host:port.
	Listen string `yaml:"listen" must:"host:port"`
	// PprofListen is the address of net/http/pprof, host:port; "" turns it off. It must be a
	// loopback address, because profiles show what is in memory.
	PprofListen string `yaml:"pprof_listen" must:"host:port"`
	// AllowedHosts are further host names of the server. The names of this machine and of the
	// listen address are always allowed.
	AllowedHosts []string `yaml:"allowed_hosts"`
	// Keys says whether requests need API keys: on, off, or auto, which is on if Listen is not a
	// loopback address or AdminKey is set.
	Keys string `yaml:"keys" must:"auto, on or off"`
	// KeyRate is the rate limit, in requests per second, of keys without their own; 0 means no
	// limit.
	KeyRate float64 `yaml:"key_rate" must:"0 or more"`
	// TLS names the certificate files; without them, the server serves plain HTTP.
	TLS TLS `yaml:"tls"`
	// BehindProxy says that a proxy before Listen encrypts, or that the network is trusted. Then
	// Listen needs no TLS.
	BehindProxy bool `yaml:"behind_proxy"`
	// Socket makes the server also listen on a Unix socket that only its user can open. The socket
	// requires no keys.
	Socket bool `yaml:"socket"`
	// LocalUsers says who may use a server without keys: own for its user and root, any for every
	// user of this machine.
	LocalUsers string `yaml:"local_users" must:"own or any"`
	// BackgroundIdle is the time without requests after which a background server stops; 0 means
	// never.
	BackgroundIdle time.Duration `yaml:"background_idle"`
	// HealthListen is a second address, host:port, that serves only /health, /livez, /readyz and
	// /metrics. If it is set, /metrics is served only there.
	HealthListen string `yaml:"health_listen" must:"host:port"`
	// AdminKey is the admin key from the environment; "" means none.
	AdminKey string `yaml:"-"`
	// MaxBodyBytes limits the body of a request after decompression.
	MaxBodyBytes int64 `yaml:"max_body_bytes" must:"more than 0"`
	// MaxItems limits the calls, or the tool names, of a request.
	MaxItems int `yaml:"max_items" must:"more than 0"`
	// MaxInFlight limits concurrent requests; further ones get 429. One workspace can use eight
	// ninths of it.
	MaxInFlight int `yaml:"max_in_flight" must:"more than 0"`
	// MaxInFlightBytes limits the total size of the bodies of concurrent requests.
	MaxInFlightBytes int64 `yaml:"max_in_flight_bytes" must:"more than 0"`
	// ShutdownTimeout is how long current requests may take to finish when the server stops.
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout" must:"more than 0"`
}

// Validate returns the first invalid setting.
func (c Config) Validate() error {
	if c.Listen == "" {
		return fmt.Errorf("listen: must be an address such as 127.0.0.1:8002")
	}
	var errs []error
	if c.PprofListen != "" && !isLoopback(hostOf(c.PprofListen)) {
		errs = append(errs, fmt.Errorf("pprof_listen: must be a loopback address such as 127.0.0.1:6060, got %q", c.PprofListen))
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		errs = append(errs, errors.New("tls.cert_file: set it together with tls.key_file"))
	}
	if c.MaxInFlightBytes < c.MaxBodyBytes {
		errs = append(errs, fmt.Errorf("max_in_flight_bytes: must be at least max_body_bytes (%d)", c.MaxBodyBytes))
	}
	return errors.Join(errs...)
}

// Deps are the dependencies of the HTTP handlers.
type Deps struct {
	Flows     *ops.Flows
	Meter     Meter
	Tracer    Tracer // may be nil
	Checks    []ops.Check
	Logger    *slog.Logger
	Scheduler *admission.Scheduler // of requests that compute; nil means no limit
	// Keys identifies callers; nil means no keys. KeysNeeded rejects callers without a key. Audit
	// logs what they do with keys.
	Keys       *access.Keys
	KeysNeeded bool
	Audit      *access.Audit
	Mounts     []Mount
}

// Meter measures requests and serves the results; metrics.Registry implements it.
type Meter interface {
	Observe(route, method string, status int, took time.Duration)
	InFlight(n func() int64)
	Handler() http.Handler
}

// Tracer traces requests. Request is called with the template of the route ("" if none matched) and
// returns the context to serve the request in; end is called with the status.
type Tracer interface {
	Request(r *http.Request, route string) (within context.Context, end func(status int))
}

// server carries the dependencies of the handlers.
type server struct {
	Deps
	cfg      Config
	guards   []guard
	inFlight atomic.Int64
	answers  *answers
	quota    *admission.Quota
	reading  jsonv2.Options    // of requests
	traits   map[string]traits // by the routes' paths
}

// New returns the handler of all routes.
func New(cfg Config, d Deps) http.Handler {
	s := newServer(cfg, d)
	d.Meter.InFlight(s.inFlight.Load)
	return s.handle(func(path string) bool { return path != metricsPath || cfg.HealthListen == "" })
}

const metricsPath = "/metrics"

// probes are asked for by whoever wants to know whether the server lives.
var probes = []string{"/health", "/livez", "/readyz"}

// NewHealth returns the handler of cfg.HealthListen.
func NewHealth(cfg Config, d Deps) http.Handler {
	cfg.Listen, d.Mounts = cfg.HealthListen, nil
	return newServer(cfg, d).handle(func(path string) bool {
		return path == metricsPath || slices.Contains(probes, path)
	})
}

func newServer(cfg Config, d Deps) *server {
	s := &server{Deps: d, cfg: cfg, quota: quotaOf(cfg), reading: reading(cfg.MaxItems), traits: map[string]traits{}}
	s.answers, _ = lru.New[string, remembered](maxAnswers) // it refuses only sizes below 1
	s.guards = []guard{s.room, s.hosts, sameOrigin(), s.localUsers}
	return s
}

// handle builds the handler of the routes whose path has.
func (s *server) handle(has func(path string) bool) http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.handleError
	e.Use(s.around)
	for _, r := range s.endpoints() {
		if !has(r.path) {
			continue
		}
		s.traits[r.path] |= r.traits
		e.Add(r.method, r.path, s.handler(r))
	}
	for _, m := range s.Mounts {
		s.traits[m.Path] |= free
		s.mount(e, m)
	}
	return e
}

func quotaOf(cfg Config) *admission.Quota {
	return admission.NewQuota(int64(cfg.MaxInFlight), cfg.MaxInFlightBytes)
}

// TLS names the files (PEM) of a certificate and its key. They are read again when they change.
type TLS struct {
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

// OwnUsers reports whether the server admits only its own user and root.
func (c *Config) OwnUsers() bool { return !c.KeysNeeded() && c.LocalUsers != "any" }

// Encrypted reports whether the server serves HTTPS.
func (c *Config) Encrypted() bool { return c.TLS.CertFile != "" }

// KeysNeeded reports whether the server requires keys.
func (c *Config) KeysNeeded() bool {
	switch c.Keys {
	case "on":
		return true
	case "off":
		return false
	}
	return !c.local() || c.AdminKey != ""
}

// local reports whether only this machine reaches Listen.
func (c *Config) local() bool { return isLoopback(hostOf(c.Listen)) }

// CheckExposure rejects an address that other machines could reach without keys, or that would
// receive keys unencrypted.
func (c *Config) CheckExposure() error {
	switch {
	case c.local():
		return nil
	case !c.KeysNeeded():
		return fmt.Errorf("keys: other machines can reach %s, so keys are required: set http.keys to on, or listen on 127.0.0.1", c.Listen)
	case !c.Encrypted() && !c.BehindProxy:
		return fmt.Errorf("behind_proxy: keys would be sent to %s unencrypted: set http.tls.cert_file and http.tls.key_file, "+
			"or http.behind_proxy (MEMORYD_HTTP_BEHIND_PROXY=true) if a proxy encrypts or the network is private, or listen on 127.0.0.1", c.Listen)
	}
	return nil
}
