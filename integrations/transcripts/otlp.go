package transcripts

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// otlp reads an export of OpenTelemetry as JSON, as the collector writes them into files.
func (f *file) otlp(_ loosejson.Members, doc []byte) {
	traces, err := tracesBatch(doc, true)
	logs, logsErr := logsBatch(doc, true)
	for _, c := range append(traces.Calls, logs.Calls...) {
		f.add(c)
	}
	if err = cmp.Or(err, logsErr); err != nil {
		f.broken(f.line, err.Error())
	}
}

// batchOf reads a request in its encoding, and the calls of its spans, or log records.
func batchOf(body []byte, isJSON bool, r interface {
	UnmarshalJSON(b []byte) error
	UnmarshalProto(b []byte) error
}, spans func(take func(s *Span)),
) (accounts.Batch, error) {
	b, read := accounts.Batch{Skipped: map[string]int{}}, r.UnmarshalProto
	if isJSON {
		read = r.UnmarshalJSON
	}
	if err := read(body); err != nil {
		return b, err
	}
	spans(func(s *Span) {
		c, skipped := spanCall(s)
		if skipped == "" {
			b.Calls = append(b.Calls, c)
			return
		}
		b.Skipped[skipped]++
		b.Planned = append(b.Planned, planned(s)...)
	})
	return b, nil
}

// Telemetry decodes an export request of spans, or of log records.
func (Readers) Telemetry(body []byte, logs, isJSON bool) (b accounts.Batch, err error) {
	read := tracesBatch
	if logs {
		read = logsBatch
	}
	b, err = read(body, isJSON)
	delete(b.Skipped, noCall)
	return b, err
}

// tracesBatch decodes an export request of spans.
func tracesBatch(body []byte, isJSON bool) (accounts.Batch, error) {
	r := ptraceotlp.NewExportRequest()
	return batchOf(body, isJSON, r, func(take func(s *Span)) {
		for _, resource := range r.Traces().ResourceSpans().All() {
			for _, scope := range resource.ScopeSpans().All() {
				for _, s := range scope.Spans().All() {
					take(spanOf(s))
				}
			}
		}
	})
}

// spanOf is a span in the words of this package.
func spanOf(s ptrace.Span) *Span {
	trace, id := s.TraceID(), s.SpanID()
	out := &Span{
		Name: s.Name(), Trace: hex.EncodeToString(trace[:]), ID: hex.EncodeToString(id[:]),
		Served: s.Kind() == ptrace.SpanKindServer && !s.ParentSpanID().IsEmpty(),
		Begun:  instant(s.StartTimestamp()), Done: instant(s.EndTimestamp()),
		Failed: s.Status().Code() == ptrace.StatusCodeError, Message: s.Status().Message(), Attributes: values(s.Attributes()),
	}
	if parent := s.ParentSpanID(); !parent.IsEmpty() {
		out.Parent = hex.EncodeToString(parent[:])
	}
	for _, e := range s.Events().All() {
		if e.Name() == "exception" && out.Message == "" {
			a := attributes(values(e.Attributes()))
			out.Message = strings.Trim(a.Text("exception.type")+": "+a.Text("exception.message"), ": ")
		}
	}
	return out
}

// logsBatch decodes an export request of log records.
func logsBatch(body []byte, isJSON bool) (accounts.Batch, error) {
	r := plogotlp.NewExportRequest()
	return batchOf(body, isJSON, r, func(take func(s *Span)) {
		for _, resource := range r.Logs().ResourceLogs().All() {
			for _, scope := range resource.ScopeLogs().All() {
				for _, l := range scope.LogRecords().All() {
					take(recordOf(l))
				}
			}
		}
	})
}

// recordOf is a log record in the words of package  Its span is that of the
// agent, not of the call.
func recordOf(l plog.LogRecord) *Span {
	s := &Span{Done: instant(cmp.Or(l.Timestamp(), l.ObservedTimestamp())), Attributes: values(l.Attributes())}
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
	b, _ := json.Marshal(v.AsRaw()) // nil for a number that is none
	return b
}

// instant is a time of OTLP; the zero time where there is none.
func instant(t pcommon.Timestamp) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.AsTime()
}

// Accepted returns the body of a successful response, in the encoding of the request. rejected
// counts spans or records that were not recorded; why is the reason.
func (Readers) Accepted(isJSON bool, rejected int, why string) []byte {
	r := ptraceotlp.NewExportResponse()
	if rejected > 0 {
		r.PartialSuccess().SetRejectedSpans(int64(rejected))
		r.PartialSuccess().SetErrorMessage(why)
	}
	marshal := r.MarshalProto
	if isJSON {
		marshal = r.MarshalJSON
	}
	b, _ := marshal() // a number and a text: it cannot fail
	return b
}
