package trace

import (
	"context"
	"errors"
	"net/http"

	"memoryd"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	otel "go.opentelemetry.io/otel/trace"
)

// Request begins the span of an HTTP request. Its parent comes from the traceparent header
// (W3C Trace Context). tracestate and baggage are ignored, because they are text from
// outside. route is the matched template, or "". Call end once, with the status of the
// answer.
func (t *Tracer) Request(r *http.Request, route string) (ctx context.Context, end func(status int)) {
	if t == nil {
		return r.Context(), noStatus
	}
	method := methodWord(r.Method)
	name := method
	if route != "" {
		name += " " + route
	}
	ctx = propagation.TraceContext{}.Extract(r.Context(), propagation.MapCarrier{"traceparent": r.Header.Get("Traceparent")})
	ctx, span := t.spans.Start(ctx, name, otel.WithSpanKind(otel.SpanKindServer))
	if !span.IsRecording() {
		return ctx, noStatus
	}
	span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route))
	return ctx, func(status int) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Op begins the span of an op of a pipeline. Call end once, with the op's error; the span records
// only its kind.
func (t *Tracer) Op(ctx context.Context, flow, op string, about memoryd.Subject) (within context.Context, end func(error)) {
	if t == nil {
		return ctx, noError
	}
	ctx, span := t.spans.Start(ctx, op)
	if !span.IsRecording() {
		return ctx, noError
	}
	said := make([]attribute.KeyValue, 0, 6)
	said = t.about(append(said, attribute.String("memoryd.flow", flow)), about.Workspace, about.Tool)
	said = count(count(said, "memoryd.tools", about.Tools), "memoryd.calls", about.Calls)
	span.SetAttributes(said...)
	return ctx, func(err error) {
		if err != nil {
			span.SetAttributes(attribute.String("error.type", errorWord(err)))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Attempt begins the span of a request to a model. Call end once.
func (t *Tracer) Attempt(ctx context.Context, a memoryd.Attempt) (within context.Context, end func(memoryd.Attempt)) {
	if t == nil {
		return ctx, noAttempt
	}
	ctx, span := t.spans.Start(ctx, "chat "+a.Model, otel.WithSpanKind(otel.SpanKindClient))
	if !span.IsRecording() {
		return ctx, noAttempt
	}
	span.SetAttributes(t.about([]attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", a.Model),
		attribute.String("memoryd.op", a.Op), attribute.Float64("memoryd.waited_seconds", a.Waited.Seconds()),
	}, a.Workspace, a.Tool)...)
	return ctx, func(a memoryd.Attempt) {
		said := []attribute.KeyValue{attribute.String("memoryd.outcome", a.Outcome)}
		said = count(count(said, "gen_ai.usage.input_tokens", a.Usage.PromptTokens), "gen_ai.usage.output_tokens", a.Usage.CompletionTokens)
		span.SetAttributes(said...)
		if a.Outcome != "ok" {
			span.SetAttributes(attribute.String("error.type", a.Outcome))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Evaluation is a verdict on a call.
type Evaluation struct {
	Workspace, Tool string
	Call            memoryd.CallKey
	// Score is 0, 0.5 or 1; Label is its meaning, and By is the judge, as fixed words of the
	// program.
	Score     float64
	Label, By string
}

// Evaluated reports a verdict as a span with one event gen_ai.evaluation.result
// (OpenTelemetry's conventions for generative AI).
func (t *Tracer) Evaluated(e Evaluation) {
	if t == nil {
		return
	}
	_, span := t.spans.Start(context.Background(), "evaluate_tool_call")
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(t.about(nil, e.Workspace, e.Tool)...)
	span.AddEvent("gen_ai.evaluation.result", otel.WithAttributes(
		attribute.String("gen_ai.evaluation.name", "memoryd"), attribute.Float64("gen_ai.evaluation.score.value", e.Score),
		attribute.String("gen_ai.evaluation.score.label", e.Label), attribute.String("memoryd.judge", e.By),
		attribute.String("memoryd.call", e.Call.String())))
	span.End()
}

// about adds whom a span concerns.
func (t *Tracer) about(said []attribute.KeyValue, workspace, tool string) []attribute.KeyValue {
	if workspace != "" {
		said = append(said, attribute.String("memoryd.workspace", t.name(workspace)))
	}
	if tool != "" {
		said = append(said, attribute.String("memoryd.tool", t.name(tool)))
	}
	return said
}

func count(said []attribute.KeyValue, key string, n int) []attribute.KeyValue {
	if n > 0 {
		said = append(said, attribute.Int(key, n))
	}
	return said
}

// errorWord is what a span tells of an error: a word from a closed list.
func errorWord(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	kind, _ := memoryd.KindOf(err)
	return string(kind)
}

// What a span that nobody wants ends with.
func noStatus(int)              {}
func noError(error)             {}
func noAttempt(memoryd.Attempt) {}
