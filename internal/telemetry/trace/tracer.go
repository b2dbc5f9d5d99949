// Package trace sends OpenTelemetry spans of requests, their ops, requests to models, and
// verdicts, with the SDK's exporter. Spans hold names, counts and outcomes only. That is why
// the ready-made middleware is not used: it adds paths, addresses and user agents of clients.
// Tracing is off unless a collector is configured.
package trace

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// Tracer traces requests, ops and requests to models. A nil Tracer traces nothing. It is safe
// for concurrent use.
type Tracer struct {
	cfg      Config
	log      *slog.Logger
	exporter sdk.SpanExporter
	provider *sdk.TracerProvider
	spans    otel.Tracer
	start    sync.Once
	stop     sync.Once
}

// Build describes the running program.
type Build struct{ Version string }

// New returns a Tracer, or nil without a collector. Besides cfg it uses the SDK's environment
// variables for headers, certificates and resource attributes.
func New(cfg Config, build Build, log *slog.Logger) (*Tracer, error) {
	if cfg.Endpoint == "" {
		return nil, nil //nolint:nilnil // a nil Tracer is tracing turned off
	}
	who, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "memoryd"), attribute.String("service.version", build.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	to, err := tracesURL(cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("otlp_endpoint: %w", err)
	}
	// A collector that redirects would have the headers, and their keys, sent elsewhere.
	client := &http.Client{Timeout: cfg.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(to.String()),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression), otlptracehttp.WithHTTPClient(client))
	if err != nil {
		return nil, fmt.Errorf("otlp_endpoint: %w", err)
	}
	t := &Tracer{cfg: cfg, log: log, exporter: &told{SpanExporter: exporter, log: log.With("collector", to.Redacted())}}
	t.provider = sdk.NewTracerProvider(sdk.WithResource(who), sdk.WithoutPanicRecording(),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(cfg.Sample))))
	t.spans = t.provider.Tracer("memoryd", otel.WithInstrumentationVersion(build.Version))
	return t, nil
}

// Start begins to send spans. Until then they are discarded.
func (t *Tracer) Start() {
	if t == nil {
		return
	}
	t.start.Do(func() {
		t.provider.RegisterSpanProcessor(sdk.NewBatchSpanProcessor(t.exporter, sdk.WithMaxQueueSize(t.cfg.Queue),
			sdk.WithMaxExportBatchSize(min(t.cfg.Queue, sdk.DefaultMaxExportBatchSize)), sdk.WithExportTimeout(t.cfg.Timeout)))
	})
}

// Stop sends the waiting spans, for a short time at most.
func (t *Tracer) Stop() {
	if t == nil {
		return
	}
	t.start.Do(func() {}) // a Tracer stopped first never starts
	t.stop.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), t.cfg.StopTimeout)
		defer cancel()
		// Where the time is over, the exporter still holds a request, which this ends.
		if err := t.provider.Shutdown(ctx); err != nil {
			t.log.Warn("spans were lost at the end", "err", cut(err.Error(), maxErrorText))
			_ = t.exporter.Shutdown(ctx)
		}
	})
}

// told is an exporter whose log says once that the collector takes nothing, and once
// that it takes spans again.
type told struct {
	sdk.SpanExporter
	log     *slog.Logger
	failing atomic.Bool
}

const maxErrorText = 300

// ExportSpans implements sdk.SpanExporter. The SDK would write its error to the program's
// standard log for each batch.
func (e *told) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch failed := err != nil; {
	case failed && !e.failing.Swap(true):
		e.log.WarnContext(ctx, "spans cannot be sent", "spans", len(spans), "err", cut(err.Error(), maxErrorText))
	case !failed && e.failing.Swap(false):
		e.log.InfoContext(ctx, "spans are being sent again")
	}
	return nil
}
