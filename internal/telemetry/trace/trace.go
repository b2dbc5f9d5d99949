// Package trace sends what a request went through, as OpenTelemetry spans, to a
// collector (OTLP over HTTP): one span for the HTTP request, one for each op of
// its pipeline and one for each request to a model. It is the only package
// that knows OpenTelemetry.
//
// Spans carry names, counts and outcomes. They never carry what a call, a
// prompt or an answer said, nor an error's text, nor a key; of outside text only
// the names of workspaces and tools, cut or hashed.
//
// A nil *Tracer is tracing turned off: every method works and costs nothing.
package trace

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// Tracer makes spans and sends them. It is safe for concurrent use.
type Tracer struct {
	cfg      Config
	log      *slog.Logger
	sender   *sender
	provider *sdk.TracerProvider
	spans    otel.Tracer
	queue    *queue // of the spans that ended since Start
	start    sync.Once
	stop     sync.Once
}

// Build says which program sends the spans.
type Build struct{ Version string }

// Stats counts spans since New: Ended were to be sent, Sent were taken by the
// collector, Failed could not be sent, Dropped met a full queue. The others wait,
// or ended when it was too late to send them.
type Stats struct{ Ended, Sent, Failed, Dropped int64 }

// New makes a tracer, nil when cfg names no collector. It connects to nothing
// and starts nothing. The resource attributes and the headers of the
// environment (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES,
// OTEL_EXPORTER_OTLP_HEADERS) are honoured.
func New(cfg Config, build Build, log *slog.Logger) (*Tracer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Endpoint == "" {
		return nil, nil //nolint:nilnil // a nil Tracer is tracing turned off
	}
	who, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "memoryd"), attribute.String("service.version", build.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Tracer{cfg: cfg, log: log}
	if t.sender, err = newSender(cfg, log); err != nil {
		return nil, err
	}
	t.queue = &queue{sender: t.sender}
	t.provider = sdk.NewTracerProvider(sdk.WithResource(who), sdk.WithoutPanicRecording(),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(cfg.Sample))))
	t.spans = t.provider.Tracer("memoryd", otel.WithInstrumentationVersion(build.Version))
	return t, nil
}

// Start begins to send. Spans that ended before are lost.
func (t *Tracer) Start() {
	if t == nil {
		return
	}
	t.start.Do(func() {
		t.queue.open(t.cfg)
		t.provider.RegisterSpanProcessor(t.queue)
	})
}

// Stop sends what waits, for as long as the configuration grants, gives up on
// the rest and returns when nothing runs any more. It may be called twice, or
// before Start.
func (t *Tracer) Stop() {
	if t == nil {
		return
	}
	t.start.Do(func() {}) // a Tracer stopped first never starts
	t.stop.Do(func() {
		end := time.AfterFunc(t.cfg.StopTimeout, t.sender.giveUp)
		if err := t.provider.Shutdown(context.Background()); err != nil {
			t.log.Warn("tracing did not stop cleanly", "err", err)
		}
		end.Stop()
		t.sender.close()
		if s := t.Stats(); s.Sent < s.Ended {
			t.log.Warn("spans were lost", "sent", s.Sent, "failed", s.Failed, "dropped", s.Dropped, "too_late", s.Ended-s.Sent-s.Failed-s.Dropped)
		}
	})
}

// Stats gives the counters.
func (t *Tracer) Stats() Stats {
	if t == nil {
		return Stats{}
	}
	return Stats{
		Ended: t.queue.ended.Load(), Sent: t.sender.sent.Load(), Failed: t.sender.failed.Load(), Dropped: t.queue.dropped.Load(),
	}
}
