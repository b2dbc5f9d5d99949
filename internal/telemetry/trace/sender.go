package trace

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// sender is the exporter with what the server asks of it: it counts, it says
// once that the collector cannot be reached and once that it can again, and it
// can be told to give up.
type sender struct {
	exporter     *otlptrace.Exporter
	transport    *http.Transport
	log          *slog.Logger
	given        context.Context // ends when the sender gives up
	giveUp       context.CancelFunc
	sent, failed atomic.Int64
	failing      atomic.Bool
}

func newSender(cfg Config, log *slog.Logger) (*sender, error) {
	to, err := tracesURL(cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("otlp_endpoint: %w", err)
	}
	s := &sender{log: log.With("collector", to.Redacted()), transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 1,
		IdleConnTimeout:     90 * time.Second,
	}}
	s.given, s.giveUp = context.WithCancel(context.Background())
	s.exporter, err = otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(to.String()),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithTimeout(cfg.Timeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: cfg.Timeout,
		}),
		otlptracehttp.WithHTTPClient(&http.Client{Transport: s.transport, Timeout: cfg.Timeout, CheckRedirect: noRedirect}))
	if err != nil {
		s.giveUp()
		return nil, fmt.Errorf("otlp_endpoint: %w", err)
	}
	return s, nil
}

// noRedirect hands the redirect itself back: following one would carry the
// headers of the environment to an address that nobody configured.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// ExportSpans implements sdk.SpanExporter. It reports no error: there is
// nobody to do anything about it but the log.
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.given, cancel)()
	err := s.given.Err()
	if err == nil {
		err = s.exporter.ExportSpans(ctx, spans)
	}
	if err != nil {
		s.failed.Add(int64(len(spans)))
		if !s.failing.Swap(true) {
			s.log.WarnContext(ctx, "spans cannot be sent", "spans", len(spans), "err", cut(err.Error(), maxErrorText))
		}
		return nil
	}
	s.sent.Add(int64(len(spans)))
	if s.failing.Swap(false) {
		s.log.InfoContext(ctx, "spans are being sent again", "lost", s.failed.Load())
	}
	return nil
}

// maxErrorText bounds, in bytes, what the log shows of an error: it may hold
// the collector's whole answer.
const maxErrorText = 300

// Shutdown implements sdk.SpanExporter.
func (s *sender) Shutdown(ctx context.Context) error { return s.exporter.Shutdown(ctx) }

// close releases what sending held.
func (s *sender) close() {
	s.giveUp()
	s.transport.CloseIdleConnections()
}
