package qdrant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// Store is a store.Store on Qdrant. Any number of them, in any number of
// processes, may work on the same collections.
type Store struct {
	store.Store // the backend behind its gate, which checks what comes
	internals
}

// internals are what the gate does not cover.
type internals struct{ *backend }

type backend struct {
	gate   store.Gate
	cfg    Config
	log    *slog.Logger
	client *qd.Client
	sleep  func(ctx context.Context, d time.Duration) error
	grace  time.Duration

	calls, tools, docs string // collections, by alias
	insertMode         bool   // the server knows update_mode
	appendOrder        *qd.WriteOrdering
	compareOrder       *qd.WriteOrdering

	clock   clock
	seating seating
	lives   lifeCache
	trims   trimDue
	sharing sharing
	due     atomic.Int64 // calls accepted since the last sweep
	puts    atomic.Int64 // verdicts cached since the last count

	copyAwayUntil atomic.Int64 // nanoseconds since 1970; see consistency

	worker   *lifecycle.Worker // of sweeps and shared requests
	sweeping atomic.Bool
}

// ErrUnfit is in the chain of an error of Open when a server answers but cannot be
// used as it is: too old, of another schema, or refusing the credentials. Such
// errors are Unavailable too, and waiting alone does not help.
var ErrUnfit = errors.New("somebody has to change the server or the settings")

// Open connects, checks the server's version and makes what is missing of the
// collections, aliases and indexes. Any number of processes may do so at once.
func Open(ctx context.Context, cfg Config, apiKey string, log *slog.Logger, opts ...Option) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Errorf(memoryd.Invalid, "store: %s", err)
	}
	o := options{sleep: sleepFor, grace: time.Hour}
	for _, f := range opts {
		f(&o)
	}
	client, err := dial(cfg, apiKey, &o)
	if err != nil {
		return nil, err
	}
	s := &backend{
		cfg: cfg, log: log, client: client, sleep: o.sleep, grace: o.grace,
		calls: cfg.Prefix + "calls", tools: cfg.Prefix + "tools", docs: cfg.Prefix + "docs",
		worker: lifecycle.NewWorker(log, "qdrant"),
	}
	s.choose()
	if err := s.prepare(ctx); err != nil {
		return nil, closeAfter(client, err)
	}
	return &Store{s.gate.Guard(s), internals{s}}, nil
}

func closeAfter(client *qd.Client, err error) error {
	if cerr := client.Close(); cerr != nil {
		return fmt.Errorf("%w (and closing: %w)", err, cerr)
	}
	return err
}

// choose sets how strictly the replicas of a shard are kept in step. With one
// replica there is nothing to choose.
func (s *backend) choose() {
	if s.cfg.ReplicationFactor == 1 {
		return
	}
	s.appendOrder = &qd.WriteOrdering{Type: qd.WriteOrderingType_Medium}
	s.compareOrder = &qd.WriteOrdering{Type: qd.WriteOrderingType_Strong}
}

func (s *backend) prepare(ctx context.Context) error {
	if err := s.greet(ctx, s.log); err != nil {
		return err
	}
	if err := s.ensureSchema(ctx); err != nil {
		return err
	}
	return s.sit(ctx)
}

// Ping implements store.Store: it reads from the collection of calls.
func (s *backend) Ping(ctx context.Context) error {
	_, err := s.get(ctx, s.calls, []*qd.PointId{qd.NewIDNum(0)}, qd.NewWithPayload(false))
	return err
}

// Close implements store.Store.
func (s *backend) Close() error {
	s.worker.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Timeout)
	defer cancel()
	s.rise(ctx)
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("qdrant: closing: %w", err)
	}
	return nil
}
