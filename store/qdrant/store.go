package qdrant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	lru "github.com/hashicorp/golang-lru/v2"
	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/experimental"
)

// Store is a store.Store on Qdrant. Any number of stores, in any number of processes, can use the
// same collections.
type Store struct {
	store.Store // the backend behind its drainer, which checks arguments
	internals
}

// internals are what the drainer does not cover.
type internals struct{ *backend }

type backend struct {
	drainer store.Drainer
	cfg     Config
	log     *slog.Logger
	client  *qd.Client
	sleep   func(ctx context.Context, d time.Duration) bool
	grace   time.Duration

	calls, tools, docs string // collections, by alias
	cluster            atomic.Pointer[cluster]

	clock      clock
	clockLease clockLease
	lives      *lru.Cache[string, string]    // of tools, by their ids. It may be wrong: who relies on it reads the tool's point after writing
	trims      *lru.Cache[string, *clearing] // by life
	tallies    *lru.Cache[string, tally]     // by life
	known      *lru.Cache[string, narrow]    // by id
	toolReads  gathering
	pointReads gathering // of narrow points

	deliveries rounds[*request, *findings]
	aloneUntil atomic.Int64 // nanoseconds since 1970; see batcher.go

	refused       atomic.Pointer[refusal] // the newest write that failed; nil: none did since one was done
	copyAwayUntil atomic.Int64            // nanoseconds since 1970; see consistency

	worker *lifecycle.Worker // of clearings, counts and shared requests
}

// errUnfit is wrapped by an error of Open if the server answers but cannot be used: it is too old,
// has another schema, or rejects the credentials. Such errors are Unavailable too, but waiting does
// not help.
var errUnfit = errors.New("change the server or the settings")

// Open connects, checks the server's version, and creates missing collections, aliases and indexes.
// Several processes can do so at once.
func Open(ctx context.Context, cfg Config, apiKey string, log *slog.Logger, opts ...Option) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Errorf(memoryd.Invalid, "store: %s", err)
	}
	o := options{sleep: lifecycle.Sleep, grace: time.Hour}
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
		lives:  newCache[string](100_000), trims: newCache[*clearing](100_000), tallies: newCache[tally](100_000),
		known: newCache[narrow](200_000), // of some 300 bytes
	}
	s.toolReads.do = s.gatherOf(s.tools)
	s.pointReads.do = s.gatherOf(s.calls, narrowFields[:]...)
	s.deliveries.do = s.deliverShared
	s.cluster.Store(&cluster{copies: cfg.ReplicationFactor, written: cfg.WriteConsistencyFactor}) // until it says itself
	if err := s.prepareWhenThere(ctx); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &Store{s.drainer.Guard(s), internals{s}}, nil
}

// newCache makes a cache of the newest n things.
func newCache[V any](n int) *lru.Cache[string, V] {
	c, _ := lru.New[string, V](n) // n is not 0
	return c
}

// prepareWhenThere waits for a server that is not there yet, for as long as a request
// may take with all its tries.
func (s *backend) prepareWhenThere(ctx context.Context) error {
	end := time.Now().Add(s.cfg.Patience)
	for said := false; ; said = true {
		err := s.prepare(ctx)
		if !memoryd.IsKind(err, memoryd.Unavailable) || errors.Is(err, errUnfit) || time.Now().Add(maxWait).After(end) {
			return err
		}
		if !said {
			s.log.WarnContext(ctx, "waiting for qdrant", "host", s.cfg.Host, "for", s.cfg.Patience, "err", err)
		}
		if !s.sleep(ctx, maxWait) {
			return fmt.Errorf("qdrant: %w", context.Cause(ctx))
		}
	}
}

func (s *backend) prepare(ctx context.Context) error {
	if _, err := s.versions(ctx); err != nil {
		return err
	}
	if err := s.ensureSchema(ctx); err != nil {
		return err
	}
	if err := s.survey(ctx); err != nil {
		return err
	}
	return s.acquireLease(ctx)
}

// Ping implements store.Store: it reads from the collection of calls.
func (s *backend) Ping(ctx context.Context) error {
	if r := s.refused.Load(); r != nil && time.Since(r.at) < refusing {
		return r.err
	}
	_, err := s.get(ctx, s.calls, []*qd.PointId{qd.NewIDNum(0)}, qd.NewWithPayload(false))
	return err
}

// refusing is how long Ping fails after a write did, so that it is asked for and seen.
const refusing = 5 * time.Second

// refusal is a write that failed.
type refusal struct {
	at  time.Time
	err error
}

// Close implements store.Store.
func (s *backend) Close() error {
	s.worker.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Timeout)
	defer cancel()
	s.releaseLease(ctx)
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("qdrant: closing: %w", err)
	}
	return nil
}

// Dialer opens connections to the server, for tests.
type Dialer func(ctx context.Context, address string) (net.Conn, error)

// Option changes Open, for tests.
type Option func(*options)

type options struct {
	dial      Dialer
	intercept []grpc.UnaryClientInterceptor
	grace     time.Duration
	sleep     func(ctx context.Context, d time.Duration) bool
}

// dial makes the client. It does not wait for the server. The client's own
// retries stay off: they multiply with the connections and do not honour
// Retry-After.
func dial(cfg Config, apiKey string, o *options) (*qd.Client, error) {
	opts := []grpc.DialOption{
		// Packing and unpacking replies costs an add a tenth of its processor time and saves bytes between neighbours.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReplyBytes), grpc.MaxCallSendMsgSize(maxReplyBytes),
			experimental.AcceptCompressors(noCompression)),
		grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithConnectParams(grpc.ConnectParams{
			// The backoff of gRPC grows to two minutes by default, which is too long after a server
			// is back.
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: maxWait},
			MinConnectTimeout: 5 * time.Second,
		}),
	}
	for _, f := range o.intercept {
		opts = append(opts, grpc.WithChainUnaryInterceptor(f))
	}
	host := cfg.Host
	if o.dial != nil {
		host = "passthrough:///" + host
		opts = append(opts, grpc.WithContextDialer(o.dial))
	}
	trust, err := cfg.trust()
	if err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "store: "+err.Error())
	}
	client, err := qd.NewClient(&qd.Config{
		Host: host, Port: cfg.Port, APIKey: apiKey, UseTLS: cfg.TLS, TLSConfig: trust, GrpcOptions: opts,
		SkipCompatibilityCheck: true, PoolSize: uint(cfg.Connections), KeepAliveTime: 30, KeepAliveTimeout: 10,
	})
	if err != nil {
		return nil, memoryd.Wrap(memoryd.Unavailable, err, "Qdrant cannot be addressed")
	}
	return client, nil
}

// uncompressed is a compressor that does nothing. To accept no other is the one way to have
// replies as they are where a package of the program registers gzip, as that of traces does.
type uncompressed struct{}

var noCompression = func() string {
	encoding.RegisterCompressor(uncompressed{})
	return uncompressed{}.Name()
}()

func (uncompressed) Name() string { return "none" }

func (uncompressed) Compress(w io.Writer) (io.WriteCloser, error) { return unclosed{w}, nil }

func (uncompressed) Decompress(r io.Reader) (io.Reader, error) { return r, nil }

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
