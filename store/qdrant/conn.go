package qdrant

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Dialer opens connections to the server in a test's own way.
type Dialer func(ctx context.Context, address string) (net.Conn, error)

// Option changes how Open connects, for tests.
type Option func(*options)

type options struct {
	dial      Dialer
	intercept []grpc.UnaryClientInterceptor
	grace     time.Duration
	sleep     func(ctx context.Context, d time.Duration) error
}

// WithDialer connects by d.
func WithDialer(d Dialer) Option { return func(o *options) { o.dial = d } }

// WithInterceptor lets f see each request, below the retries.
func WithInterceptor(f grpc.UnaryClientInterceptor) Option {
	return func(o *options) { o.intercept = append(o.intercept, f) }
}

// WithSleep waits between retries by f instead of a timer.
func WithSleep(f func(ctx context.Context, d time.Duration) error) Option {
	return func(o *options) { o.sleep = f }
}

// WithGrace sets how old what a sweep folds must be, in place of an hour.
func WithGrace(d time.Duration) Option { return func(o *options) { o.grace = d } }

// dial makes the client. It does not wait for the server. The client's own
// retries stay off: they multiply with the connections and do not honour
// Retry-After.
func dial(cfg Config, apiKey string, o *options) (*qd.Client, error) {
	opts := []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(cfg.MaxReplyBytes), grpc.MaxCallSendMsgSize(cfg.MaxReplyBytes)),
		grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithConnectParams(grpc.ConnectParams{
			// grpc's own waits grow to two minutes, for which a server that is back is not used.
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: maxWait}, MinConnectTimeout: 5 * time.Second,
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
	client, err := qd.NewClient(&qd.Config{
		Host: host, Port: cfg.Port, APIKey: apiKey, UseTLS: cfg.TLS, GrpcOptions: opts,
		SkipCompatibilityCheck: true, PoolSize: uint(cfg.Connections), KeepAliveTime: 30, KeepAliveTimeout: 10,
	})
	if err != nil {
		return nil, memoryd.Wrap(memoryd.Unavailable, err, "the vector database cannot be addressed")
	}
	return client, nil
}

// version is a server's version.
type version struct{ major, minor int }

func (v version) atLeast(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

// parseVersion reads "1.16.3" and "1.17.0-dev".
func parseVersion(s string) (version, error) {
	parts := strings.SplitN(s, ".", 3)
	if len(parts) < 2 {
		return version{}, fmt.Errorf("cannot read the server's version %q", s)
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return version{}, fmt.Errorf("cannot read the server's version %q", s)
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return version{}, fmt.Errorf("cannot read the server's version %q", s)
	}
	return version{major, minor}, nil
}

// greet asks the server for its version and refuses one that is too old.
func (s *backend) greet(ctx context.Context, log *slog.Logger) error {
	reply, err := ask(ctx, s, "health check", func(ctx context.Context) (*qd.HealthCheckReply, error) {
		return s.client.GetQdrantClient().HealthCheck(ctx, &qd.HealthCheckRequest{})
	})
	if err != nil {
		return err
	}
	v, err := parseVersion(reply.GetVersion())
	if err != nil {
		return memoryd.Wrap(memoryd.Unavailable, fmt.Errorf("%w: %w", ErrUnfit, err), "the vector database does not say its version")
	}
	if !v.atLeast(1, 16) {
		return memoryd.Wrap(memoryd.Unavailable, ErrUnfit,
			fmt.Sprintf("qdrant %s is too old: conditional updates need 1.16 or newer", reply.GetVersion()))
	}
	s.insertMode = v.atLeast(1, 17)
	log.Info("connected to qdrant", "version", reply.GetVersion(), "insert_only", s.insertMode)
	return nil
}
