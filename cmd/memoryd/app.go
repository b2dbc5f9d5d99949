package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"time"

	"memoryd"
	"memoryd/api"
	"memoryd/compact"
	"memoryd/config"
	"memoryd/evaluate"
	"memoryd/evaluate/monitor"
	"memoryd/guidelines/revisions"
	"memoryd/guidelines/search"
	"memoryd/internal/admission"
	"memoryd/internal/lifecycle"
	"memoryd/internal/telemetry/metrics"
	"memoryd/internal/telemetry/trace"
	"memoryd/llm/usage"
	"memoryd/ops"
	"memoryd/store"
	"memoryd/store/journal"
)

// readHeaderTimeout bounds how long a client may take to send its headers, and
// maxHeaderBytes how long they may be.
const (
	readHeaderTimeout = 10 * time.Second
	maxHeaderBytes    = 64 << 10
)

// statisticsCached is how many tools' statistics are remembered.
const statisticsCached = 4096

// app is the running server: everything that has to be started and stopped.
type app struct {
	cfg        *config.Config
	log        *slog.Logger
	store      store.Store
	journal    *journal.Store                // before the store; nil: none
	decorate   func(store.Store) store.Store // tests put faults between the store and its users
	storeName  string
	desks      []*evaluate.Desk
	judge      string // who judges, for people
	models     *models
	compactor  *compact.Compactor
	book       *usage.Book
	prices     usage.Prices
	curator    *revisions.Manager
	search     *search.Index // nil: searches go by words alone
	metrics    *metrics.Registry
	refresher  *revisions.Refresher
	forecaster *ops.Forecaster
	priors     *revisions.Priors
	watch      *monitor.Watch
	janitor    janitor
	tracer     *trace.Tracer // nil: tracing is off
	pprof      *pprofServer  // nil: off
	listener   net.Listener
	server     *http.Server
	panics     lifecycle.PanicCounter
	failed     <-chan error // why the server does not serve any more
}

// newApp wires everything and opens the listener; nothing runs yet. What it
// opened is closed again when it fails.
func newApp(ctx context.Context, cfg *config.Config, getenv func(string) string, log *slog.Logger) (*app, error) {
	a := &app{cfg: cfg}
	a.log = slog.New(a.panics.Handler(log.Handler()))
	if err := a.open(ctx, getenv); err != nil {
		if a.store != nil {
			err = errors.Join(err, a.store.Close())
		}
		return nil, err
	}
	return a, nil
}

func (a *app) open(ctx context.Context, getenv func(string) string) (err error) {
	if a.tracer, err = trace.New(a.cfg.Trace, trace.Build{Version: version}, a.log); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	a.log = a.tracer.Log(a.log)
	if a.store, a.storeName, err = openStore(ctx, a.cfg, getenv, a.log); err != nil {
		return err
	}
	a.janitor = janitor{records: a.store, log: a.log}
	a.janitor.tidy, _ = a.store.(interface {
		Sweep(ctx context.Context) error
	})
	if a.decorate != nil {
		a.store = a.decorate(a.store)
	}
	a.store = a.measure(a.store)
	if a.book, err = usage.NewBook(a.cfg.Spend, a.store, a.log, time.Now); err != nil {
		return err
	}
	a.prices = pricesOf(a.cfg.LLM)
	a.book.SetPrices(a.prices)
	a.watch = monitor.New(a.cfg.Watch, a.log, time.Now)
	if a.models, err = newModels(a.cfg, getenv, a.log, a.attempted, a.traceAttempts()); err != nil {
		return err
	}
	if err = a.newSearch(getenv); err != nil {
		return err
	}
	handler, err := a.handler()
	if err != nil {
		return err
	}
	if a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", a.cfg.HTTP.Listen); err != nil {
		return fmt.Errorf("http.listen: %w", err)
	}
	if a.pprof, err = openPprof(ctx, a.cfg.HTTP.PprofListen, a.log); err != nil {
		return errors.Join(fmt.Errorf("http.pprof_listen: %w", err), a.listener.Close())
	}
	a.server = &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout, MaxHeaderBytes: maxHeaderBytes,
		ReadTimeout: a.cfg.HTTP.ReadTimeout, WriteTimeout: a.cfg.HTTP.WriteTimeout, IdleTimeout: a.cfg.HTTP.IdleTimeout,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	return nil
}

// handler builds the pipelines and the HTTP face before them.
func (a *app) handler() (http.Handler, error) {
	recent, err := a.recent()
	if err != nil {
		return nil, err
	}
	reader := ops.MemoryReader{Store: a.store, Recent: recent, Cache: ops.NewStatisticsCache(statisticsCached)}
	flows, err := a.catalog(reader).Assemble(a.cfg.Flow, a.cfg.Specs())
	if err != nil {
		return nil, err
	}
	a.refresher = revisions.NewRefresher(a.curator, a.log)
	a.measureParts()
	a.traceOps(flows)
	return api.New(a.cfg.HTTP, api.Deps{
		Flows: flows, Store: a.store, Search: a.searcher(), Reader: reader, Checks: a.checks(), Logger: a.log,
		Corrector: ops.Corrector{Store: a.store, Now: time.Now, Told: a.corrected},
		Ledger:    a.book, Judges: a.watch, Curator: a.curator,
		Meter: a.metrics, Tracer: a.traceRequests(),
		Originals: compaction{a.compactor, a.originals()},
		Scheduler: admission.NewScheduler(slotsFor(a.cfg.Store.Backend, runtime.GOMAXPROCS(0)), a.cfg.HTTP.MaxWait),
	})
}

// slotsFor is how many requests compute at a time: enough to keep the processors
// busy, few enough that none waits long for its slice. A request to a store on
// another machine mostly waits for that; many at a time share its requests.
func slotsFor(backend string, processors int) int {
	if backend == config.BackendQdrant {
		return 64 * processors
	}
	return processors + 1
}

// checks are the parts of the readiness: without the store nothing can be
// acknowledged; without a model recording and retrieving go on.
func (a *app) checks() []api.Check {
	checks := []api.Check{{Name: "store", Vital: true, Run: a.store.Ping}}
	if a.journal != nil {
		checks = append(checks, api.Check{Name: "store.remote", Run: remoteOf(a.journal)})
	}
	for name, client := range a.models.clients {
		checks = append(checks, api.Check{Name: "llm." + name, Run: healthOf(client)})
	}
	return checks
}

// remoteOf says how the store behind a journal does, and what waits for it.
func remoteOf(journal *journal.Store) func(context.Context) error {
	return func(context.Context) error {
		s := journal.Status()
		if s.Fault != nil {
			return s.Fault
		}
		if !s.Away {
			return nil
		}
		return memoryd.Errorf(memoryd.Unavailable, "the remote store is away (%s); %d calls, verdicts and deletions wait for it", s.Why, s.Backlog)
	}
}

// Addr is where the server listens.
func (a *app) Addr() net.Addr { return a.listener.Addr() }

// Start begins to serve.
func (a *app) Start(ctx context.Context) {
	a.tracer.Start()
	a.pprof.start()
	a.book.Start(context.WithoutCancel(ctx))
	for _, d := range a.desks {
		d.Start(context.WithoutCancel(ctx)) // Stop ends them, in order
	}
	if a.search != nil {
		a.search.Start(context.WithoutCancel(ctx))
	}
	a.refresher.Start(context.WithoutCancel(ctx))
	a.janitor.start(ctx)
	a.failed = lifecycle.Go(ctx, a.log, "http", func() error { return fmt.Errorf("serve: %w", a.server.Serve(a.listener)) })
}

// Stop ends the server. First the desks: judging in flight goes back to pending
// and requests that wait for a verdict go on without it. Then no new requests
// are accepted, and those under way finish or are cut off after the shutdown
// timeout. Models and store are closed last; then what is left of traces is sent.
func (a *app) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.HTTP.ShutdownTimeout)
	defer cancel()
	for _, d := range a.desks {
		d.Stop()
	}
	a.refresher.Stop()
	if a.search != nil {
		a.search.Stop()
	}
	a.forecaster.Stop()
	a.priors.Stop()
	a.janitor.end()
	var errs []error
	if err := a.server.Shutdown(ctx); err != nil {
		a.log.Warn("requests under way were cut off", "err", err)
		errs = append(errs, a.server.Close())
	}
	a.models.close()
	a.book.Stop()
	a.pprof.stop()
	errs = append(errs, a.store.Close())
	a.tracer.Stop()
	return errors.Join(errs...)
}
