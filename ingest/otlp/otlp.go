// Package otlp decodes and answers OTLP over HTTP, as protobuf and as JSON, and returns the
// tool calls in the spans and log records. Package ingest knows what those look like. This
// package opens no port.
package otlp

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"time"

	"memoryd/ingest"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// Batch is the content of one request.
type Batch struct {
	// Calls are the tool calls as each span or record reports them; two may report the same
	// call.
	Calls []ingest.Call
	// Planned are calls that a model asked for; see ingest.Planned.
	Planned []ingest.Call
	// Skipped counts spans and records without a call, by reason (ingest.NoCall and so on).
	Skipped map[string]int
}

func (b *Batch) add(s *ingest.Span) {
	c, skipped := ingest.SpanCall(s)
	if skipped != "" {
		b.Skipped[skipped]++
		b.Planned = append(b.Planned, ingest.Planned(s)...)
		return
	}
	b.Calls = append(b.Calls, c)
}

// decode reads a body in its encoding.
func decode(body []byte, isJSON bool, r interface {
	UnmarshalJSON(b []byte) error
	UnmarshalProto(b []byte) error
},
) error {
	if isJSON {
		return r.UnmarshalJSON(body)
	}
	return r.UnmarshalProto(body)
}

// Traces decodes an export request of spans.
func Traces(body []byte, isJSON bool) (Batch, error) {
	b, r := Batch{Skipped: map[string]int{}}, ptraceotlp.NewExportRequest()
	if err := decode(body, isJSON, r); err != nil {
		return b, err
	}
	for _, resource := range r.Traces().ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				b.add(spanOf(s))
			}
		}
	}
	return b, nil
}

// spanOf is a span in the words of package ingest.
func spanOf(s ptrace.Span) *ingest.Span {
	trace, id := s.TraceID(), s.SpanID()
	out := &ingest.Span{
		Name: s.Name(), Trace: hex.EncodeToString(trace[:]), ID: hex.EncodeToString(id[:]),
		Parent: hexOf(s.ParentSpanID()),
		Served: s.Kind() == ptrace.SpanKindServer && !s.ParentSpanID().IsEmpty(),
		Begun:  instant(s.StartTimestamp()), Done: instant(s.EndTimestamp()),
		Failed: s.Status().Code() == ptrace.StatusCodeError, Message: s.Status().Message(), Attributes: values(s.Attributes()),
	}
	for _, e := range s.Events().All() {
		if message, ok := e.Attributes().Get("exception.message"); ok && e.Name() == "exception" && out.Message == "" {
			out.Message = message.AsString()
		}
	}
	return out
}

// hexOf is the id of a span, "" where there is none.
func hexOf(id pcommon.SpanID) string {
	if id.IsEmpty() {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// Logs decodes an export request of log records.
func Logs(body []byte, isJSON bool) (Batch, error) {
	b, r := Batch{Skipped: map[string]int{}}, plogotlp.NewExportRequest()
	if err := decode(body, isJSON, r); err != nil {
		return b, err
	}
	for _, resource := range r.Logs().ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, l := range scope.LogRecords().All() {
				b.add(recordOf(l))
			}
		}
	}
	return b, nil
}

// recordOf is a log record in the words of package ingest. Its span is that of the
// agent, not of the call.
func recordOf(l plog.LogRecord) *ingest.Span {
	s := &ingest.Span{Done: instant(cmp.Or(l.Timestamp(), l.ObservedTimestamp())), Attributes: values(l.Attributes())}
	if id := l.TraceID(); !id.IsEmpty() {
		s.Trace = hex.EncodeToString(id[:])
	}
	if name := l.EventName(); name != "" && s.Attributes["event.name"] == nil {
		s.Attributes["event.name"] = value(pcommon.NewValueStr(name))
	}
	return s
}

// values gives attributes as JSON.
func values(of pcommon.Map) map[string]jsontext.Value {
	out := make(map[string]jsontext.Value, of.Len())
	for k, v := range of.All() {
		out[k] = value(v)
	}
	return out
}

func value(v pcommon.Value) jsontext.Value {
	b, err := json.Marshal(v.AsRaw())
	if err != nil { // a number that is none
		return nil
	}
	return b
}

// instant is a time of OTLP; the zero time where there is none.
func instant(t pcommon.Timestamp) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.AsTime()
}

// Answer returns the body of a successful response, in the encoding of the request. rejected
// counts spans or records that were not recorded; why is the reason.
func Answer(isJSON bool, rejected int, why string) []byte {
	r := ptraceotlp.NewExportResponse()
	if rejected > 0 {
		r.PartialSuccess().SetRejectedSpans(int64(rejected))
		r.PartialSuccess().SetErrorMessage(why)
	}
	marshal := r.MarshalProto
	if isJSON {
		marshal = r.MarshalJSON
	}
	b, err := marshal()
	if err != nil { // a number and a text: it cannot fail
		return nil
	}
	return b
}
