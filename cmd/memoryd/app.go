package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"memoryd/config"
	"memoryd/evaluate"
	"memoryd/evaluate/monitor"
	"memoryd/guidelines/revisions"
	"memoryd/guidelines/search"
	"memoryd/guidelines/window"
	"memoryd/internal/lifecycle"
	"memoryd/internal/telemetry/metrics"
	"memoryd/internal/telemetry/trace"
	"memoryd/llm/usage"
	"memoryd/store"
	"memoryd/store/journal"
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
	journal   *journal.Store                // before the store; nil: none
	decorate  func(store.Store) store.Store // tests put faults between the store and its users
	storeName string
	judge     *evaluate.Evaluator
	models    *models
	ledger    *usage.Ledger
	prices    usage.Prices
	revisions *revisions.Manager
	refresher *revisions.Refresher
	window    *window.Window
	search    *search.Index // nil: searches go by words alone
	metrics   *metrics.Registry
	monitor   *monitor.Monitor
	tracer    *trace.Tracer // nil: tracing is off
	pprof     *pprofServer  // nil: off
	listener  net.Listener
	server    *http.Server
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

// onStop takes a part into the app's care that needs no start.
func (a *app) onStop(stop func()) {
	a.own(nil, func(context.Context) error {
		stop()
		return nil
	})
}

// runs takes a part into the app's care.
func (a *app) runs(p interface {
	Start(ctx context.Context)
	Stop()
},
) {
	a.onStop(p.Stop)
	a.parts[len(a.parts)-1].start = p.Start
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

func (a *app) open(ctx context.Context, getenv func(string) string) (err error) {
	if err = a.newTracer(); err != nil {
		return err
	}
	if a.store, a.storeName, err = openStore(ctx, a.cfg, getenv, a.log); err != nil {
		return err
	}
	a.own(nil, func(context.Context) error { return a.store.Close() })
	handler, err := a.wire(getenv)
	if err != nil {
		return err
	}
	if a.pprof, err = openPprof(ctx, a.cfg.HTTP.PprofListen, a.log); err != nil {
		return fmt.Errorf("http.pprof_listen: %w", err)
	}
	a.own(func(context.Context) { a.pprof.start() }, func(context.Context) error {
		a.pprof.stop()
		return nil
	})
	return a.listen(ctx, a.withMCP(handler))
}

// listen opens the address of the server.
func (a *app) listen(ctx context.Context, handler http.Handler) (err error) {
	if a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", a.cfg.HTTP.Listen); err != nil {
		return fmt.Errorf("http.listen: %w", err)
	}
	a.server = &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout, MaxHeaderBytes: maxHeaderBytes,
		ReadTimeout: a.cfg.HTTP.ReadTimeout, WriteTimeout: a.cfg.HTTP.WriteTimeout, IdleTimeout: a.cfg.HTTP.IdleTimeout,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	a.own(func(ctx context.Context) {
		a.failed = lifecycle.Go(ctx, a.log, "http", func() error { return fmt.Errorf("serve: %w", a.server.Serve(a.listener)) })
	}, a.drain)
	return nil
}

// drain accepts no more requests and waits for those under way; those that ctx
// does not leave time for are cut off. Requests that wait for an evaluation go on
// without it: what is being judged stays pending in the store.
func (a *app) drain(ctx context.Context) error {
	drained := lifecycle.Go(ctx, a.log, "http", func() error { return a.server.Shutdown(ctx) })
	a.judge.Stop()
	err := <-drained
	if err != nil {
		a.log.WarnContext(ctx, "requests under way were cut off", "err", err)
		err = a.server.Close()
	}
	_ = a.listener.Close() // it is the server's only once started
	return err
}

// Addr is where the server listens.
func (a *app) Addr() net.Addr { return a.listener.Addr() }

// Start begins to serve. The end of ctx ends nothing; Stop does.
func (a *app) Start(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, p := range a.parts {
		if p.start != nil {
			p.start(ctx)
		}
	}
}

// Stop ends the server: what was made last, the HTTP face, goes first, store and
// tracing last. It takes little more than http.shutdown_timeout, and may be
// called before Start, and again.
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
