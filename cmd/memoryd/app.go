package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"memoryd"
	"memoryd/api"
	"memoryd/config"
	"memoryd/evaluate"
	"memoryd/guidelines/revisions"
	"memoryd/guidelines/window"
	"memoryd/internal/access"
	"memoryd/internal/accounts"
	"memoryd/internal/lifecycle"
	"memoryd/internal/local"
	"memoryd/internal/telemetry/metrics"
	"memoryd/internal/telemetry/trace"
	"memoryd/llm/usage"
	"memoryd/ops/survey"
	"memoryd/store"
	"memoryd/store/backup"
	"memoryd/store/qdrant"
)

// readHeaderTimeout bounds how long a client may take to send its headers, and
// maxHeaderBytes how long they may be.
const (
	readHeaderTimeout = 10 * time.Second
	maxHeaderBytes    = 64 << 10
)

// app is the running server: everything that has to be started and stopped.
type app struct {
	cfg       *config.Config
	log       *slog.Logger
	store     store.Store
	qdrant    *qdrant.Store                 // nil: another store
	decorate  func(store.Store) store.Store // tests put faults between the store and its users
	storeName string
	judge     *evaluate.Evaluator
	models    models
	ledger    *usage.Ledger
	prices    usage.Prices
	revisions *revisions.Manager
	refresher *revisions.Refresher
	window    *window.Window
	survey    *survey.Survey
	metrics   *metrics.Registry
	agreement *evaluate.Agreement
	intake    *accounts.Intake
	tracer    *trace.Tracer // nil: tracing is off
	keys      *access.Keys
	audit     *access.Audit
	face      api.Deps // what the HTTP face works with
	handler   http.Handler
	listener  net.Listener
	post      *local.Post // the socket; nil: none
	server    *http.Server
	conns     *connections
	cert      *certificate // nil: HTTP

	pprofAddr net.Addr // nil: none
	newKey    string   // the admin's key that this start made; "" is none
	panics    lifecycle.PanicCounter
	failed    <-chan error // why the server does not serve any more

	parts   []part
	stopped sync.Once
	stopErr error
}

// part is what has to be started, in the order in which parts were made, and
// stopped, in the reverse order.
type part struct {
	start func(ctx context.Context)
	stop  func(ctx context.Context) error
}

// runs takes a part into the app's care; nil: it needs no start.
func (a *app) runs(start func(context.Context), stop func()) {
	a.own(start, func(context.Context) error {
		stop()
		return nil
	})
}

func (a *app) own(start func(context.Context), stop func(context.Context) error) {
	a.parts = append(a.parts, part{start, stop})
}

// newApp wires everything and opens the listener; nothing runs yet. What it
// opened is closed again when it fails.
func newApp(ctx context.Context, cfg *config.Config, getenv func(string) string, log *slog.Logger) (*app, error) {
	a := &app{cfg: cfg}
	a.log = slog.New(a.panics.Handler(log.Handler()))
	err := a.open(ctx, getenv)
	if err != nil {
		return nil, errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	}
	return a, nil
}

// openParts makes everything but the listeners and what only a server needs.
func (a *app) openParts(ctx context.Context, getenv func(string) string) (handler http.Handler, err error) {
	if err = a.newTracer(); err != nil {
		return nil, err
	}
	bare, name, err := openStore(ctx, a.cfg, getenv, a.log)
	if err != nil {
		return nil, err
	}
	a.storeName = name
	a.own(nil, func(context.Context) error { return bare.Close() })
	if err = backup.CheckWhole(ctx, bare); err != nil {
		if !a.cfg.Incomplete {
			return nil, fmt.Errorf("%w (serve --incomplete serves it anyway)", err)
		}
		a.log.WarnContext(ctx, "serving an incomplete store, because --incomplete is set", "err", err)
	}
	return a.wire(bare, getenv)
}

func (a *app) open(ctx context.Context, getenv func(string) string) (err error) {
	handler, err := a.openParts(ctx, getenv)
	if err != nil {
		return err
	}
	if err := a.noteSettings(ctx); err != nil {
		a.log.WarnContext(ctx, "cannot record whether the settings changed since the last start", "err", err)
	}
	if err = a.firstKey(ctx); err != nil {
		return err
	}
	if a.pprofAddr, err = a.beside(ctx, "http.pprof_listen", a.cfg.HTTP.PprofListen, pprofHandler()); err != nil {
		return err
	}
	if _, err = a.beside(ctx, "http.health_listen", a.cfg.HTTP.HealthListen, api.NewHealth(a.cfg.HTTP, a.face)); err != nil {
		return err
	}
	if err = a.listen(ctx, handler); err == nil {
		a.announce()
	}
	return err
}

// announce tells who finds the store in use where its server listens.
func (a *app) announce() {
	dir := a.cfg.StoreDir()
	if dir == "" {
		return
	}
	name := filepath.Join(dir, local.AddressFile)
	a.runs(func(ctx context.Context) {
		address := a.URL()
		if a.post != nil {
			address = a.post.URL()
		}
		if err := os.WriteFile(name, []byte(address), 0o600); err != nil {
			a.log.WarnContext(ctx, "cannot write the address file; to export the store while it is in use, give --url", "err", err)
		}
	}, func() {
		_ = os.Remove(name) // who reads it asks the server
	})
}

// ownFiles is how many open files are left to the program beside connections: store, logs,
// models. The embedded store takes some twenty.
const ownFiles = 32

// listen opens the address of the server.
func (a *app) listen(ctx context.Context, handler http.Handler) (err error) {
	if a.cfg.HTTP.Encrypted() {
		a.cert = &certificate{files: a.cfg.HTTP.TLS, log: a.log}
		if err = a.cert.read(); err != nil {
			return a.cfg.Fault("http", fmt.Errorf("tls.cert_file: %w", err))
		}
	}
	if a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", a.cfg.HTTP.Listen); err != nil {
		return fmt.Errorf("http.listen: %w", err)
	}
	a.conns = newConnections(max(ownFiles/2, openFiles()-ownFiles))
	a.server = a.newServer(a.conns.handler(handler))
	a.server.ConnState = a.conns.changed
	a.tellOwners(ctx)
	serve := a.server.Serve
	if a.cert != nil {
		a.server.TLSConfig = a.cert.config()
		serve = func(l net.Listener) error { return a.server.ServeTLS(l, "", "") }
	}
	if a.cfg.HTTP.Socket && !a.cfg.HTTP.KeysNeeded() {
		if a.post, err = local.Listen(cmp.Or(a.cfg.StoreDir(), a.listener.Addr().String())); err != nil {
			a.log.WarnContext(ctx, "cannot create the socket; programs of this user need --url", "err", err)
			a.post = nil
		}
	}
	a.own(func(ctx context.Context) {
		if a.post != nil {
			lifecycle.Go(ctx, a.log, "socket", func() error { return a.server.Serve(a.post) })
		}
		a.failed = lifecycle.Go(ctx, a.log, "http", func() error { return fmt.Errorf("serve: %w", serve(a.listener)) })
	}, a.drain)
	return nil
}

// What a connection may take: a minute for a request of 16 MiB over a slow line, ten for
// an answer (a compaction asks models), two between requests.
const (
	readTimeout  = time.Minute
	writeTimeout = 10 * time.Minute
	idleTimeout  = 2 * time.Minute
)

func (a *app) newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout, MaxHeaderBytes: maxHeaderBytes,
		ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
}

// beside serves something on an address of its own, if a setting names one.
func (a *app) beside(ctx context.Context, setting, address string, handler http.Handler) (net.Addr, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // it is off
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	server, worker := a.newServer(handler), lifecycle.NewWorker(a.log, setting)
	a.runs(func(ctx context.Context) {
		a.log.InfoContext(ctx, "an address of its own is served", "setting", setting, "address", listener.Addr().String())
		worker.Start(ctx, func(context.Context) { _ = server.Serve(listener) }) // until it is closed
	}, func() {
		_ = server.Close()
		_ = listener.Close() // it is the server's only once started
		worker.Stop()
	})
	return listener.Addr(), nil
}

// How long a server that ends goes on while requests come, and after which silence none do.
const (
	lastRequests = 500 * time.Millisecond
	silence      = 100 * time.Millisecond
)

// drain lets those who are sending requests know that it ends, accepts no more and waits
// for those under way; those that ctx does not leave time for are cut off. Requests that wait for an evaluation go on
// without it: what is being judged stays pending in the store.
func (a *app) drain(ctx context.Context) error {
	a.conns.leaving.Store(true)
	drained := lifecycle.Go(ctx, a.log, "http", func() error {
		for end := time.Now().Add(lastRequests); a.conns.busy(silence) && time.Now().Before(end); {
			if !lifecycle.Sleep(ctx, silence/10) {
				break
			}
		}
		err := a.server.Shutdown(ctx)
		lifecycle.Sleep(ctx, silence/10) // a connection may have been accepted that it had not heard of
		return errors.Join(err, a.server.Shutdown(ctx))
	})
	a.judge.Stop()
	err := <-drained
	if err != nil {
		a.log.WarnContext(ctx, "running requests were cancelled at shutdown", "err", err)
		err = a.server.Close()
	}
	_ = a.listener.Close() // it is the server's only once started
	if a.post != nil {
		_ = a.post.Close()
	}
	return err
}

// firstKey reads the keys, and makes one where keys are needed and nobody has one
// to make more with. A store that is away is asked again later.
func (a *app) firstKey(ctx context.Context) (err error) {
	if token := a.cfg.HTTP.AdminKey; token != "" {
		if err := access.CheckToken(token); err != nil {
			return fmt.Errorf("MEMORYD_ADMIN_KEY: %w", err)
		}
	}
	if a.cfg.HTTP.KeysNeeded() {
		a.newKey, err = a.keys.First(ctx, a.cfg.HTTP.AdminKey)
	} else {
		err = a.keys.Load(ctx)
	}
	if memoryd.IsKind(err, memoryd.Unavailable) {
		a.log.WarnContext(ctx, "cannot read the API keys yet; requests are refused until then", "err", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("API keys: %w", err)
	}
	return nil
}

// Addr is where the server listens.
func (a *app) Addr() net.Addr { return a.listener.Addr() }

// URL is the server's address as clients write it.
func (a *app) URL() string {
	if a.cert != nil {
		return "https://" + a.Addr().String()
	}
	return "http://" + a.Addr().String()
}

// Start begins to serve. It does not stop when ctx ends; call Stop.
func (a *app) Start(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, p := range a.parts {
		if p.start != nil {
			p.start(ctx)
		}
	}
}

// Stop stops the server in reverse order: HTTP first, store and tracing last. It takes little
// longer than http.shutdown_timeout. It may be called before Start, and more than once.
func (a *app) Stop(ctx context.Context) error {
	a.stopped.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, a.cfg.HTTP.ShutdownTimeout)
		defer cancel()
		var errs []error
		for _, p := range slices.Backward(a.parts) {
			errs = append(errs, p.stop(ctx))
		}
		a.stopErr = errors.Join(errs...)
	})
	return a.stopErr
}
