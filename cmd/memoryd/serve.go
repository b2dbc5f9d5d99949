package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"memoryd"
	"memoryd/api"
	"memoryd/config"
	"memoryd/internal/access"
	"memoryd/internal/local"
	"memoryd/store/backup"
	"memoryd/store/mem"
	"memoryd/store/sqlite"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/google/uuid"
)

type serveCmd struct {
	Config string `type:"path" env:"MEMORYD_CONFIG" placeholder:"FILE" help:"Configuration file; it only needs the settings that differ from default.yaml."`
	Listen string `env:"MEMORYD_LISTEN" placeholder:"ADDR" help:"Address to listen on (default 127.0.0.1:8002)."`
	Data   string `env:"MEMORYD_DATA" placeholder:"DIR" help:"Folder of the embedded store (default ./memoryd-data)."`

	Incomplete bool `help:"Serve a store that holds a part of a restore, a load or a copy that was interrupted. Until that is completed, /readyz says degraded."`

	Background bool `hidden:"" help:"Serve in the background for other commands: on the socket and a free port, until there are no requests for a while."`

	bound int64 // of memoryBound
}

// load reads the configuration, with what the command line and the machine change of it.
func (c *serveCmd) load() (*config.Config, error) {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return nil, err
	}
	if c.Listen != "" {
		cfg.HTTP.Listen = c.Listen
	}
	if c.Data != "" {
		cfg.SetDataDir(c.Data)
	}
	if c.Background {
		cfg.HTTP.Listen, cfg.HTTP.HealthListen, cfg.HTTP.PprofListen = "127.0.0.1:0", "", ""
		cfg.HTTP.Keys, cfg.HTTP.TLS, cfg.HTTP.Socket = "off", api.TLS{}, true
		if c.Data == "" {
			if c.Data, err = local.DataDir(); err != nil {
				return nil, err
			}
			cfg.SetDataDir(c.Data)
		}
	}
	cfg.HTTP.AdminKey, cfg.Incomplete = os.Getenv("MEMORYD_ADMIN_KEY"), c.Incomplete
	cfg.HTTP.MaxInFlightBytes = inFlightWithin(c.bound, cfg.HTTP.MaxInFlightBytes, cfg.HTTP.MaxBodyBytes)
	return cfg, nil
}

// Run serves until ctx ends, then stops cleanly.
func (c serveCmd) Run(ctx context.Context, std streams) error {
	spareThreads()
	uuid.EnableRandPool() // an id is no secret; a system call for each is a cost
	c.bound = memoryBound()
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if before, err := local.Of(cfg.StoreDir()); err == nil && before.Background && !c.Background {
		if err := before.End(stopPatience); err != nil { // its store is wanted here
			return err
		}
	}
	out, level := startLog(cfg.Log, std.err), levelOf(cfg.Log)
	defer out.Stop()
	log := loggerAt(level, cfg.Log.Format, out)
	for _, name := range cfg.Unused {
		log.WarnContext(ctx, "no setting uses this environment variable", "variable", name)
	}
	memory := serveMemory + 2*cfg.HTTP.MaxInFlightBytes
	if c.Background {
		memory = backgroundMemory
	}
	defer limitMemory(min(memory, c.bound-c.bound/4))()
	a, err := newApp(ctx, cfg, os.Getenv, log)
	if err != nil {
		return err
	}
	a.Start(ctx)
	idle := a.publish(ctx, c.Background, std)
	defer survive(log, func() { c.reload(ctx, a, level) })()
	if a.newKey != "" { // not to the log, which is kept
		fmt.Fprintf(std.err, "The admin's API key (save it now; it is not shown again): %s\n", a.newKey)
	}
	if _, err := fmt.Fprintf(std.out, "memoryd is ready on %s (store: %s; judge: %s)\n", a.URL(), a.storeName,
		a.judge.Describe()); err != nil {
		a.log.WarnContext(ctx, "cannot write the ready line", "err", err)
	}
	debug.FreeOSMemory() // most of what a start took is garbage
	if !c.Background {
		defer collectLess()()
	}
	select {
	case <-ctx.Done():
	case err = <-a.failed:
	case <-idle:
	}
	if stopErr := a.Stop(context.WithoutCancel(ctx)); err == nil {
		err = stopErr
	}
	return err
}

// reload reads again what a running server can take over: the certificate, the keys and the
// level of the log. It says which other settings wait for a new start.
func (c *serveCmd) reload(ctx context.Context, a *app, level *slog.LevelVar) {
	if a.cert != nil {
		a.cert.again()
	}
	if err := a.keys.Load(ctx); err != nil {
		a.log.WarnContext(ctx, "SIGHUP: cannot read the keys; the old ones stay in use", "err", err)
	}
	cfg, err := c.load()
	if err != nil {
		a.log.WarnContext(ctx, "SIGHUP: cannot read the configuration; the old one stays in use", "err", err)
		return
	}
	level.Set(levelOf(cfg.Log).Level())
	cfg.Log.Level = a.cfg.Log.Level
	before, err := a.cfg.Digests()
	after, errAfter := cfg.Digests()
	if err = errors.Join(err, errAfter); err != nil {
		a.log.WarnContext(ctx, "SIGHUP: cannot compare the settings", "err", err)
	}
	a.log.InfoContext(ctx, "SIGHUP: reloaded certificate, keys and log level", "level", level.Level().String())
	if waiting := differing(before, after); len(waiting) > 0 {
		a.log.WarnContext(ctx, "SIGHUP: some changed settings need a restart", "sections", waiting)
	}
}

// levelOf is the level of the log.
func levelOf(cfg config.Log) *slog.LevelVar {
	level := new(slog.LevelVar)
	_ = level.UnmarshalText([]byte(cfg.Level)) // validated with the configuration
	return level
}

func newLogger(cfg config.Log, w io.Writer) *slog.Logger {
	return loggerAt(levelOf(cfg), cfg.Format, w)
}

func loggerAt(level slog.Leveler, format string, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

type checkConfigCmd struct {
	File string `arg:"" help:"The configuration file."`
}

// Run prints every problem with its line. It builds everything that serve builds, except the
// store and the listeners, so that the two never disagree.
func (c checkConfigCmd) Run(ctx context.Context, std streams) error {
	cfg, err := config.Load(c.File, os.Environ())
	if err != nil {
		return err
	}
	for _, name := range cfg.Unused {
		fmt.Fprintf(std.err, "%s: no setting uses this variable\n", name)
	}
	if err := wireOnly(ctx, cfg); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "%s: valid\n", c.File)
	return err
}

// wireOnly makes all parts of a server over a store in memory, and lets them go.
func wireOnly(ctx context.Context, cfg *config.Config) error {
	a := &app{cfg: cfg, log: slog.New(slog.DiscardHandler)}
	err := a.newTracer()
	if err == nil {
		_, err = a.wire(mem.New(), os.Getenv)
	}
	return errors.Join(err, a.Stop(ctx))
}

// version is the release that this program is of.
var version = memoryd.Version()

type versionCmd struct{}

// Run prints one line.
func (versionCmd) Run(std streams) error {
	_, err := fmt.Fprintln(std.out, versionLine())
	return err
}

func versionLine() string {
	return fmt.Sprintf("memoryd %s (commit %s, %s)", version, commit(), runtime.Version())
}

// commit is the revision that the binary was built from, where Go recorded it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "unknown"
}

type checkCmd struct {
	opened
	Repair bool `help:"Rebuild a damaged store from everything that can be read. The old file is kept."`
}

// Run checks a whole store that no server uses. The exit code is 1 if damage remains.
func (c checkCmd) Run(ctx context.Context, std streams) error {
	cfg, err := c.load()
	if err == nil {
		err = noStore(cfg.StoreDir())
	}
	if err != nil {
		return err
	}
	r, err := sqlite.Check(ctx, cfg.Store.SQLite, c.Repair, newLogger(cfg.Log, std.err))
	for _, fault := range r.Faults {
		fmt.Fprintln(std.out, fault)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "Readable: %d tools, %d calls and %d records. Unreadable: %d calls.\n", r.Tools, r.Calls, r.Records, r.LostCalls)
	switch {
	case r.Repaired:
		fmt.Fprintf(std.out, "The store was rebuilt from them. The old file is %s.\n", r.Aside)
	case len(r.Faults) > 0:
		return fmt.Errorf("the store in %s is damaged", cfg.Store.SQLite.Dir)
	}
	if !r.Repaired {
		fmt.Fprintln(std.out, "Nothing is damaged.")
	}
	return checkAudit(ctx, cfg, std)
}

// checkAudit verifies the chain of the audit log.
func checkAudit(ctx context.Context, cfg *config.Config, std streams) error {
	s, err := sqlite.Open(ctx, cfg.Store.SQLite, newLogger(cfg.Log, std.err))
	if err != nil {
		return err
	}
	n, err := access.VerifyAudit(ctx, s)
	if err = errors.Join(err, backup.CheckWhole(ctx, s), s.Close()); err == nil && n > 0 {
		fmt.Fprintf(std.out, "The audit log has %d entries, and their chain is intact.\n", n)
	}
	return err
}

// serveMemory is the memory of a server beside the bodies of its requests, which stand there
// twice while they are worked on: as they came and decoded.
const serveMemory = 320 << 20

// backgroundMemory is that of a server that a command started, beside the programs of one
// person. Learn on a gigabyte of transcripts then takes 42 to 46 s on two cores, 83 s at 192 MiB.
const backgroundMemory = 236 << 20

// memoryBound is how many bytes this process may use: the least of what GOMEMLIMIT, its
// control group and the limit of its address space (ulimit -v) leave. MaxInt64 is no bound.
func memoryBound() int64 {
	bound := freeAddresses()
	if limit, err := memlimit.FromCgroup(); err == nil && limit < uint64(bound) { //nolint:gosec // above 0
		bound = int64(limit) //nolint:gosec // below MaxInt64
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		bound = min(bound, debug.SetMemoryLimit(-1))
	}
	return bound
}

// inFlightWithin is what the bodies of requests may hold together where there is so much
// memory: a sixth of what a server that rests leaves of it, for each body stands there as it
// came, decoded, on its way into the store, and where a collection has not come by yet. One
// body always has room.
func inFlightWithin(bound, most, one int64) int64 {
	if bound == math.MaxInt64 {
		return most
	}
	return min(most, max(one, (bound-serveMemory/2)/6))
}

// limitMemory has the runtime collect more often rather than let the heap grow over a
// number of bytes, unless GOMEMLIMIT sets another limit. The limit is soft: what is needed
// is had. The function that it gives sets the limit back.
func limitMemory(bytes int64) (restore func()) {
	return unlessSet("GOMEMLIMIT", debug.SetMemoryLimit, bytes)
}

// collectLess has the runtime collect once the heap has grown to five times what is live, up to
// the limit of limitMemory, unless GOGC says another share. Little of a server's heap is live
// (some 30 MiB), so at the runtime's own 100 % collections take a seventh of an add.
func collectLess() (restore func()) { return unlessSet("GOGC", debug.SetGCPercent, 400) }

// unlessSet sets something of the runtime unless a variable does. The function that it gives sets it back.
func unlessSet[N any](variable string, set func(N) N, to N) (restore func()) {
	if os.Getenv(variable) != "" {
		return func() {}
	}
	old := set(to)
	return func() { set(old) }
}
