// Package api is the HTTP face: it turns requests into the typed data that
// pipelines work on and their results into the shapes of package wire. It is
// the only package that knows Echo. api/openapi.yaml is the source of truth
// for what it accepts and answers; tests hold it to that.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"memoryd/internal/access"
	"memoryd/ops"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"
)

// Config is the http section of the configuration.
type Config struct {
	// Listen is the address of the server, host:port.
	Listen string `yaml:"listen"`
	// PprofListen is the address of net/http/pprof, host:port; "" turns it off.
	// It must be a loopback address: profiles show what the memory holds.
	PprofListen string `yaml:"pprof_listen"`
	// AllowedHosts are further names that the server is asked for by, beside those
	// of this machine and the address that it listens on.
	AllowedHosts []string `yaml:"allowed_hosts"`
	// Keys says whether API keys are needed: on, off, or auto for on where Listen is
	// in reach of other machines or AdminKey is set.
	Keys string `yaml:"keys"`
	// KeyRate is how many requests a second a key may send that has no rate of its
	// own; 0 is no bound.
	KeyRate float64 `yaml:"key_rate"`
	// TLS names the files of a certificate; without them the server speaks HTTP.
	TLS TLS `yaml:"tls"`
	// BehindProxy says that what is before Listen encrypts, or that the network
	// between is trusted: Listen may then be in reach of others without TLS.
	BehindProxy bool `yaml:"behind_proxy"`
	// Socket says whether the server also listens on a Unix socket that only its user
	// can open, where it asks for no keys.
	Socket bool `yaml:"socket"`
	// LocalUsers says whom a server that asks for no keys answers on this machine: own
	// for the user who runs it, and root; any for every user.
	LocalUsers string `yaml:"local_users"`
	// BackgroundIdle is after how long without a request a server ends that was started
	// in the background; 0 is never.
	BackgroundIdle time.Duration `yaml:"background_idle"`
	// HealthListen is a further address, host:port, that only /health, /livez,
	// /readyz and /metrics are answered at; /metrics is then there alone.
	HealthListen string `yaml:"health_listen"`
	// AdminKey is an admin's key from the environment; "" is none.
	AdminKey string `yaml:"-"`
	// MaxBodyBytes bounds a request's body after decompression.
	MaxBodyBytes int64 `yaml:"max_body_bytes"`
	// MaxItems bounds the calls, or the tool names, of one request.
	MaxItems int `yaml:"max_items"`
	// MaxInFlight bounds how many requests are worked on at once; more are
	// answered with 429. One workspace takes no more than eight ninths of it.
	MaxInFlight int `yaml:"max_in_flight"`
	// MaxInFlightBytes bounds what the bodies of requests that are being
	// worked on hold together.
	MaxInFlightBytes int64 `yaml:"max_in_flight_bytes"`
	// ShutdownTimeout is how long requests under way may take to finish once
	// the server was told to stop.
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout"`
}

// Validate names the setting that is wrong.
func (c Config) Validate() error {
	if c.Listen == "" {
		return fmt.Errorf("listen: must be an address such as 127.0.0.1:8002")
	}
	if err := c.validatePprof(); err != nil {
		return err
	}
	errs := c.validateAccess()
	for _, n := range []struct {
		name string
		v    int64
	}{
		{"max_body_bytes", c.MaxBodyBytes},
		{"max_items", int64(c.MaxItems)},
		{"max_in_flight", int64(c.MaxInFlight)},
		{"max_in_flight_bytes", c.MaxInFlightBytes},
		{"shutdown_timeout", int64(c.ShutdownTimeout)},
	} {
		if n.v <= 0 {
			errs = append(errs, fmt.Errorf("%s: must be more than 0", n.name))
		}
	}
	if c.MaxInFlightBytes < c.MaxBodyBytes {
		errs = append(errs, fmt.Errorf("max_in_flight_bytes: must be at least max_body_bytes (%d)", c.MaxBodyBytes))
	}
	return errors.Join(errs...)
}

func (c Config) validatePprof() error {
	if c.PprofListen == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(c.PprofListen)
	if err != nil {
		return fmt.Errorf("pprof_listen: must be host:port, got %q", c.PprofListen)
	}
	if !isLoopback(host) {
		return fmt.Errorf("pprof_listen: must be a loopback address such as 127.0.0.1:6060, got %q", c.PprofListen)
	}
	return nil
}

// Check is one part of the readiness.
type Check struct {
	Name string
	// Vital says that the server is unready, not just degraded, while Run fails.
	Vital bool
	// Run returns nil, or what is wrong in words that a caller may see.
	Run func(ctx context.Context) error
}

// Deps are what the HTTP face works with.
type Deps struct {
	Flows     *ops.Flows
	Meter     Meter
	Tracer    Tracer // nil: nobody follows requests
	Checks    []Check
	Logger    *slog.Logger
	Scheduler *ops.Scheduler // of requests that compute; nil: no bound
	// Keys knows who callers are; nil: there are none. KeysNeeded refuses who shows
	// none. Audit is told who does what; nil: nobody is.
	Keys       *access.Keys
	KeysNeeded bool
	Audit      *access.Audit
	Mounts     []Mount
}

// Meter observes requests and shows what it saw; metrics.Registry is one.
type Meter interface {
	Routes(templates ...string)
	Observe(route, method string, status int, took time.Duration)
	InFlight(n func() int64)
	Handler() http.Handler
}

// Tracer follows requests. Request is called when a request begins, with the
// template of its route ("" where none matched); the request is worked on within
// the context that it returns, and end is told the status of the answer.
type Tracer interface {
	Request(r *http.Request, route string) (within context.Context, end func(status int))
}

// server carries the dependencies of the handlers.
type server struct {
	Deps
	cfg      Config
	inFlight atomic.Int64
	answers  answers
	quota    *ops.Quota
	reading  jsonv2.Options    // of requests
	traits   map[string]traits // by the routes' paths
}

// New builds the handler of all routes.
func New(cfg Config, d Deps) (http.Handler, error) {
	docs, err := newDocs()
	if err != nil {
		return nil, err
	}
	s := newServer(cfg, d)
	d.Meter.InFlight(s.inFlight.Load)
	return s.handle(docs, func(path string) bool { return path != metricsPath || cfg.HealthListen == "" }), nil
}

const metricsPath = "/metrics"

// probes are asked for by whoever wants to know whether the server lives.
var probes = []string{"/health", "/livez", "/readyz"}

// NewHealth builds the handler of cfg.HealthListen.
func NewHealth(cfg Config, d Deps) http.Handler {
	cfg.Listen, d.Mounts = cfg.HealthListen, nil
	return newServer(cfg, d).handle(&docs{}, func(path string) bool {
		return path == metricsPath || slices.Contains(probes, path)
	})
}

func newServer(cfg Config, d Deps) *server {
	return &server{Deps: d, cfg: cfg, quota: quotaOf(cfg), reading: reading(cfg.MaxItems), traits: map[string]traits{}}
}

// handle builds the handler of the routes whose path has.
func (s *server) handle(docs *docs, has func(path string) bool) http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.handleError
	e.Use(identify, recoverPanics(s.Logger))
	if s.Tracer != nil {
		e.Use(s.traced(s.Tracer))
	}
	e.Use(s.observe, s.hosts, sameOrigin(), s.localUsers)
	for _, r := range s.endpoints(docs) {
		if !has(r.path) {
			continue
		}
		s.traits[r.path] |= r.traits
		e.Add(r.method, r.path, s.handler(r))
		s.Meter.Routes(r.path)
	}
	for _, m := range s.Mounts {
		s.traits[m.Path] |= free
		s.mount(e, m)
		s.Meter.Routes(m.Path)
	}
	return e
}

func quotaOf(cfg Config) *ops.Quota {
	return ops.NewQuota(int64(cfg.MaxInFlight), cfg.MaxInFlightBytes)
}

// TLS names the files (PEM) of a certificate and its key. They are read again when
// they change.
type TLS struct {
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

// The values of Config.Keys.
const (
	keysAuto = "auto"
	keysOn   = "on"
	keysOff  = "off"
)

// OwnUsers reports whether the server answers its own user and root alone.
func (c *Config) OwnUsers() bool { return !c.KeysNeeded() && c.LocalUsers != usersAny }

// The values of Config.LocalUsers.
const (
	usersOwn = "own"
	usersAny = "any"
)

func (c *Config) validateAccess() (errs []error) {
	if c.Keys != "" && !slices.Contains([]string{keysAuto, keysOn, keysOff}, c.Keys) {
		errs = append(errs, fmt.Errorf("keys: must be auto, on or off, got %q", c.Keys))
	}
	if c.LocalUsers != "" && c.LocalUsers != usersOwn && c.LocalUsers != usersAny {
		errs = append(errs, fmt.Errorf("local_users: must be own or any, got %q", c.LocalUsers))
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		errs = append(errs, errors.New("tls.cert_file: set it together with tls.key_file"))
	}
	if _, _, err := net.SplitHostPort(c.HealthListen); c.HealthListen != "" && err != nil {
		errs = append(errs, fmt.Errorf("health_listen: must be host:port, got %q", c.HealthListen))
	}
	if c.KeyRate < 0 {
		errs = append(errs, errors.New("key_rate: must be 0 or more"))
	}
	return errs
}

// Encrypted reports whether the server speaks HTTPS.
func (c *Config) Encrypted() bool { return c.TLS.CertFile != "" }

// KeysNeeded reports whether the server asks for keys.
func (c *Config) KeysNeeded() bool {
	if c.Keys == keysOn || c.Keys == keysOff {
		return c.Keys == keysOn
	}
	return !c.local() || c.AdminKey != ""
}

// local reports whether only this machine reaches Listen.
func (c *Config) local() bool { return isLoopback(hostOf(c.Listen)) }

// CheckExposure refuses an address in reach of other machines that anybody there
// could use, or listen to keys at.
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
